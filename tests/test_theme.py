"""One look: it takes colours away where an answer is uncertain, and every page has it."""

import json
import re
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from nomadp.answers.legend import CERTAINTY_LABELS
from nomadp.answers.steps import steps_of
from nomadp.page import page
from nomadp.theme import css_variables, theme

ROOT = Path(__file__).resolve().parent.parent
SOURCES = {".css", ".js", ".ts", ".html"}
COLOUR = re.compile(r"(?<!&)#(?:[0-9a-fA-F]{3,4}){1,2}\b|\b(?:rgb|hsl|oklch)a?\(")


def step(value: float, half: float, *, apart: bool = True, top: float = 0.8) -> str:
    """Of a share beside the greatest one."""
    values = np.array([top, value])
    reach = np.array([0.001, half])
    return steps_of(values, values - reach, values + reach, np.array([True, apart])).names[1]


@pytest.mark.parametrize(
    ("value", "wanted"),
    [(0.05, "certain-1"), (0.15, "certain-2"), (0.3, "certain-3"), (0.5, "certain-4")],
)
def test_certain_shares_have_four_steps_that_double(value: float, wanted: str) -> None:
    assert step(value, 0.001) == wanted


def test_the_wider_the_interval_the_fewer_the_steps() -> None:
    assert [step(0.3, half) for half in (0.05, 0.12, 0.29)] == [
        "certain-3",
        "fair-2",
        "unsure-1",
    ]


def test_only_wide_intervals_that_hold_flat_are_hatched() -> None:
    assert step(0.3, 0.12, apart=False) == "hatched"
    assert step(0.02, 0.01, apart=False) == "certain-1"


def test_where_nothing_is_told_apart_all_is_hatched() -> None:
    value = np.full(5, 0.2)
    found = steps_of(value, value - 0.001, value + 0.001, np.zeros(5, bool))
    assert set(found.names) == {"hatched"}


def bright(colour: str) -> float:
    """Relative luminance, as WCAG has it."""
    parts = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("ground", ["paper", "shade", "map"])
@pytest.mark.parametrize("words", ["ink", "soft", "bad", "good", "accent"])
def test_words_can_be_read_on_every_ground(mode: str, ground: str, words: str) -> None:
    dim, light = sorted(bright(theme()[mode][name]) for name in (ground, words))
    assert (light + 0.05) / (dim + 0.05) >= 4.5


def test_no_shares_and_shares_of_nothing_are_drawn_all_the_same() -> None:
    none = np.array([])
    assert steps_of(none, none, none, none.astype(bool)).names == ()
    zero = np.zeros(2)
    assert len(steps_of(zero, zero, zero, np.ones(2, bool)).names) == 2


def test_both_themes_name_the_same_colours_and_css_has_them_all() -> None:
    assert theme()["light"].keys() == theme()["dark"].keys()
    text = css_variables()
    for name in theme()["light"]:
        assert len(re.findall(rf"--{name}:", text)) == 2


def test_the_look_is_plain_json_for_other_pages() -> None:
    content = files("nomadp").joinpath("theme.json").read_text(encoding="utf-8")
    assert json.loads(content) == theme()


def page_sources() -> list[Path]:
    """All that a page is written in: style sheets, scripts and templates."""
    package = ROOT / "src" / "nomadp"
    folders = [package / name / "page" for name in ("demo", "answers", "paper")]
    found = [package / "page.css", *(ROOT / "web" / "pages").glob("*.html")]
    for folder in (*folders, ROOT / "web" / "pages" / "src"):
        found += [file for file in folder.rglob("*") if file.suffix in SOURCES]
    return found


def test_no_page_has_a_colour_of_its_own() -> None:
    sources = page_sources()
    assert {file.suffix for file in sources} == SOURCES
    for file in sources:
        text = file.read_text(encoding="utf-8")
        assert not COLOUR.findall(text), f"{file} names a colour; name it in theme.json"


def test_no_page_uses_a_colour_that_the_look_lacks() -> None:
    own = re.compile(r"(?:--([\w-]+)\s*:|setProperty\(\s*[\"'`]--([\w-]+))")
    for folder in {file.parent for file in page_sources()}:
        files_here = [file for file in page_sources() if file.parent == folder]
        shared = ROOT / "src" / "nomadp" / "page.css"
        text = "".join(file.read_text(encoding="utf-8") for file in {*files_here, shared})
        known = {*theme()["light"], *(f"{word}-opacity" for word in theme()["certainty"])}
        known |= {name for pair in own.findall(text) for name in pair}
        used = set(re.findall(r"var\(--([\w-]+)[,)]", text))
        assert used <= known, f"{folder}: {sorted(used - known)}"


def test_pages_of_every_kind_bring_the_same_properties(tmp_path: Path) -> None:
    whole = css_variables()
    for package in ("nomadp.demo", "nomadp.answers", "nomadp.paper"):
        template = files(package).joinpath("page/template.html").read_text(encoding="utf-8")
        named = dict.fromkeys(re.findall(r"\$(\w+)", template), "")
        assert whole in page(package, {}, {name: "" for name in named if name != "style"})


def test_legends_say_the_same_on_every_map() -> None:
    source = (ROOT / "web" / "pages" / "src" / "theme.ts").read_text(encoding="utf-8")
    told = re.search(r"WORDS[^{]*{([^}]*)}", source)
    assert told is not None
    assert dict(re.findall(r'(\w+): "([^"]*)"', told[1])) == CERTAINTY_LABELS


def test_dashes_of_flows_are_named_once_for_every_map() -> None:
    for file in page_sources():
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"flow[^{}]*{[^}]*dasharray", text), (
            f"{file}: name it in theme.json"
        )
    layers = (ROOT / "web" / "pages" / "src" / "layers.ts").read_text(encoding="utf-8")
    assert '"curves-less", true, { "line-dasharray": [...FLOW_DASHES]' in layers


def luminance(colour: str) -> float:
    red, green, blue = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (red, green, blue)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_greater_shares_stand_out_more(mode: str) -> None:
    colour = theme()[mode]
    ground = luminance(colour["map"])
    away = [abs(luminance(colour[f"certain-{k}"]) - ground) for k in (1, 2, 3, 4)]
    assert away == sorted(away)
    assert abs(luminance(colour["fair-2"]) - ground) > abs(luminance(colour["fair-1"]) - ground)
