"""matplotlib's drawings as SVG that a page under a strict content policy may show inline.

Inline styles become presentation attributes, which no policy forbids and a page's own style
may override; names get a prefix, so that several drawings share one page; nothing that says
when or by what program it was drawn is left.
"""

import re
import xml.etree.ElementTree as ElementTree

__all__ = ["cleaned", "embedded"]

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
ENLARGED = 1.2
"""On a page, beside text of its size."""
COORDINATES = {"d", "x", "y", "width", "height", "transform", "points"}
LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")
"""A hundredth of a point is enough for any screen."""
REFERENCE = re.compile(r"url\(#([^)]+)\)")


def cleaned(source: str, prefix: str) -> str:
    """A drawing to be kept as a file of its own."""
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    root = ElementTree.fromstring(source)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style"):
                parent.remove(child)
    for element in root.iter():
        _spell_out_style(element)
        _rename(element, prefix)
        for name in COORDINATES & element.attrib.keys():
            element.set(name, LONG_NUMBER.sub(_shortened, element.attrib[name]))
    # What matplotlib says once in a style sheet.
    root.set("stroke-linejoin", "round")
    root.set("stroke-linecap", "butt")
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def embedded(source: str, description: str) -> str:
    """The same inside a page, described to those who cannot see it."""
    root = ElementTree.fromstring(source)
    del root.attrib["height"]  # follows from the width, which the page may narrow
    root.set("width", f"{ENLARGED * float(root.attrib['width'].removesuffix('pt')):g}pt")
    root.set("role", "img")
    root.set("aria-label", description)
    return ElementTree.tostring(root, encoding="unicode")


def _shortened(found: re.Match[str]) -> str:
    return f"{float(found[0]):.2f}".rstrip("0").rstrip(".")


def _spell_out_style(element: ElementTree.Element) -> None:
    for declaration in element.attrib.pop("style", "").split(";"):
        name, colon, value = declaration.partition(":")
        if colon:
            element.attrib |= _attributes(name.strip(), value.strip())


def _attributes(name: str, value: str) -> dict[str, str]:
    """`font` is the one shorthand matplotlib writes, and shorthands are no attributes."""
    if name != "font":
        return {name: value}
    attributes = {"font-family": "'DejaVu Sans', Verdana, sans-serif"}
    for word in value.split():
        if word.endswith("px"):
            return attributes | {"font-size": word}
        attributes["font-style" if word == "italic" else "font-weight"] = word
    return attributes


def _rename(element: ElementTree.Element, prefix: str) -> None:
    for name, value in element.attrib.items():
        if name == "id":
            element.set(name, f"{prefix}-{value}")
        elif name == f"{{{XLINK}}}href" and value.startswith("#"):
            element.set(name, f"#{prefix}-{value[1:]}")
        else:
            element.set(name, REFERENCE.sub(rf"url(#{prefix}-\1)", value))
