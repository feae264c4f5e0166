import xml.etree.ElementTree as ElementTree

from nomadp.paper.svg import cleaned, embedded

DRAWN = """<?xml version="1.0" encoding="utf-8" standalone="no"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"
  width="648pt" height="200pt" viewBox="0 0 648 200" version="1.1">
 <metadata>drawn by a program</metadata>
 <defs><style type="text/css">*{stroke-linejoin: round}</style></defs>
 <g id="axes_1" clip-path="url(#p1)">
  <path id="m1" d="M 0 0" style="fill: #faf8f3; stroke: #1c2127; stroke-width: 0.7"/>
  <use xlink:href="#m1" x="1" y="2" style="fill: none"/>
  <text style="font: italic bold 9px 'DejaVu Sans'; text-anchor: middle">a &lt; b</text>
 </g>
 <clipPath id="p1"/>
</svg>"""


def test_styles_become_attributes() -> None:
    found = cleaned(DRAWN, "ne")
    assert " style=" not in found
    assert "<style" not in found
    assert 'fill="#faf8f3" stroke="#1c2127" stroke-width="0.7"' in found


def test_a_font_is_spelled_out() -> None:
    text = ElementTree.fromstring(cleaned(DRAWN, "ne")).find(".//{*}text")
    assert text is not None
    assert text.get("font-size") == "9px"
    assert text.get("font-style") == "italic"
    assert text.get("font-weight") == "bold"
    assert text.get("text-anchor") == "middle"
    assert text.text == "a < b"


def test_names_and_what_refers_to_them_get_a_prefix() -> None:
    found = cleaned(DRAWN, "ne")
    assert 'id="ne-axes_1" clip-path="url(#ne-p1)"' in found
    assert 'xlink:href="#ne-m1"' in found
    assert 'id="ne-p1"' in found


def test_nothing_says_when_or_by_what_it_was_drawn() -> None:
    found = cleaned(DRAWN, "ne")
    assert "metadata" not in found
    assert "DOCTYPE" not in found


def test_coordinates_are_no_longer_than_can_be_seen() -> None:
    long = DRAWN.replace('d="M 0 0"', 'd="M 1.23456 -0.001234 L 2.5 300.000"')
    assert 'd="M 1.23 -0 L 2.5 300"' in cleaned(long, "ne")


def test_a_page_gets_a_described_drawing_that_may_shrink() -> None:
    found = ElementTree.fromstring(embedded(cleaned(DRAWN, "ne"), 'NE < "all"'))
    assert found.get("aria-label") == 'NE < "all"'
    assert found.get("role") == "img"
    assert found.get("height") is None
    assert found.get("viewBox") == "0 0 648 200"
