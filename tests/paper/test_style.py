import re
from importlib.resources import files
from itertools import combinations

from nomadp.paper.lines import AS_PUBLISHED, COMPARED
from nomadp.paper.style import (
    INK,
    LOOKS,
    PAPER,
    RAMP,
    RULE,
    SHADE,
    SOFT,
    label_of,
    look_of,
    rc_params,
)


def variables(package: str, name: str) -> dict[str, str]:
    """What the first block of a style sheet, the light one, defines."""
    source = files(package).joinpath(name).read_text(encoding="utf-8")
    return dict(re.findall(r"--([\w-]+): (#\w+);", source.split("@media")[0]))


def test_mechanisms_look_as_in_the_demonstration() -> None:
    colours = variables("nomadp.demo", "page/style.css")
    for name in ("exp", "tp", "atp", "atlas"):
        assert LOOKS[name].colour == colours[name]


def test_figures_have_the_paper_and_ink_of_every_page() -> None:
    shared, own = variables("nomadp", "page.css"), variables("nomadp.paper", "page/style.css")
    assert [shared[name] for name in ("paper", "ink", "soft", "rule")] == [
        PAPER,
        INK,
        SOFT,
        RULE,
    ]
    assert own == {"shade": SHADE}


def test_every_mechanism_compared_has_a_look() -> None:
    assert set(COMPARED) == LOOKS.keys()


def test_no_two_mechanisms_share_a_colour_or_a_marker() -> None:
    for first, second in combinations(LOOKS.values(), 2):
        assert first.colour != second.colour
        assert first.marker != second.marker


def test_the_published_form_is_dashed_and_says_what_it_is() -> None:
    for name in AS_PUBLISHED:
        assert look_of(name).dashed
        assert "not private" in label_of(name)


def test_a_mechanism_without_a_look_can_still_be_drawn() -> None:
    assert label_of("tomorrow") == "TOMORROW"


def test_steps_of_a_parameter_get_darker() -> None:
    brightness = [sum(int(colour[k : k + 2], 16) for k in (1, 3, 5)) for colour in RAMP]
    assert brightness == sorted(brightness, reverse=True)


def test_names_of_sets_are_never_read_as_mathematics() -> None:
    assert rc_params()["text.parse_math"] is False
