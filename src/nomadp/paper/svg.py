"""Convert matplotlib's SVG for inline use in a page with a strict content security policy.

Inline styles become presentation attributes, which no policy forbids and which the page's style
sheet can override. Ids get a prefix, so that one page can contain several drawings. Metadata
such as the time and the program is removed.
"""

import re
import xml.etree.ElementTree as ElementTree

__all__ = ["cleaned", "embedded"]

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
ENLARGED = 1.2
"""Scale of a drawing on a page, where its text then has the size of the page's text."""
COORDINATES = {"d", "x", "y", "width", "height", "transform", "points"}
LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")
"""A hundredth of a point is enough for any screen."""
REFERENCE = re.compile(r"url\(#([^)]+)\)")


def cleaned(source: str, prefix: str) -> str:
    """The drawing as a separate file."""
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
    # matplotlib sets these in the style sheet that was removed above.
    root.set("stroke-linejoin", "round")
    root.set("stroke-linecap", "butt")
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def embedded(source: str, description: str) -> str:
    """The drawing as an element of a page, with a description for screen readers."""
    root = ElementTree.fromstring(source)
    del root.attrib["height"]  # follows from the width, which the page may narrow
    root.set("width", f"{ENLARGED * float(root.attrib['width'].removesuffix('pt')):g}pt")
    root.set("role", "img")
    root.set("aria-label", description)
    return ElementTree.tostring(root, encoding="unicode")


def _shortened(match: re.Match[str]) -> str:
    return f"{float(match[0]):.2f}".rstrip("0").rstrip(".")


def _spell_out_style(element: ElementTree.Element) -> None:
    for declaration in element.attrib.pop("style", "").split(";"):
        name, colon, value = declaration.partition(":")
        if colon:
            element.attrib |= _attributes(name.strip(), value.strip())


def _attributes(name: str, value: str) -> dict[str, str]:
    """Presentation attributes for a style declaration.

    There are none for shorthands, of which matplotlib writes only `font`: split it.
    """
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
