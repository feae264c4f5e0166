import re
from itertools import combinations

from nomadp.paper.lines import AS_PUBLISHED, COMPARED
from nomadp.paper.style import (
    INK,
    PAPER,
    PLOT_STYLES,
    RAMP,
    RULE,
    SHADE,
    SOFT,
    label_of,
    plot_style_of,
    rc_params,
    theme_css,
)
from nomadp.theme import theme


def test_figures_are_drawn_in_the_light_colours_of_every_page() -> None:
    light = theme()["light"]
    assert (light["paper"], light["ink"], light["soft"]) == (PAPER, INK, SOFT)
    assert (light["rule"], light["shade"]) == (RULE, SHADE)
    assert {name: each.colour for name, each in PLOT_STYLES.items()} == {
        name: light[name] for name in PLOT_STYLES
    }


def test_in_the_dark_every_colour_of_a_figure_is_exchanged() -> None:
    rules = theme_css()
    used = [
        PAPER,
        INK,
        SOFT,
        RULE,
        SHADE,
        *RAMP,
        *(each.colour for each in PLOT_STYLES.values()),
    ]
    for colour in used:
        (name,) = re.findall(rf'\[fill="{colour}"\]{{fill:var\(--([\w-]+)\)}}', rules)
        assert theme()["light"][name] == colour
        assert f'[stroke="{colour}"]{{stroke:var(--{name})}}' in rules


def test_every_mechanism_compared_has_a_look() -> None:
    assert set(COMPARED) == PLOT_STYLES.keys()


def test_no_two_mechanisms_share_a_colour_or_a_marker() -> None:
    for first, second in combinations(PLOT_STYLES.values(), 2):
        assert first.colour != second.colour
        assert first.marker != second.marker


def test_the_published_form_is_dashed_and_says_what_it_is() -> None:
    for name in AS_PUBLISHED:
        assert plot_style_of(name).dashed
        assert "not private" in label_of(name)


def test_a_mechanism_without_a_look_can_still_be_drawn() -> None:
    assert label_of("tomorrow") == "TOMORROW"


def test_steps_of_a_parameter_get_darker() -> None:
    brightness = [sum(int(colour[k : k + 2], 16) for k in (1, 3, 5)) for colour in RAMP]
    assert brightness == sorted(brightness, reverse=True)


def test_names_of_sets_are_never_read_as_mathematics() -> None:
    assert rc_params()["text.parse_math"] is False
