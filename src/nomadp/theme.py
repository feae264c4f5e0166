"""How every page and map looks, in one place: colours of both themes, widths, certainty.

`theme.json` holds it. Pages that are made here take it as properties of CSS, figures as
numbers, and those that a collector serves when they are built.
"""

import json
from functools import lru_cache
from importlib.resources import files
from typing import Any

__all__ = ["css_properties", "css_variables", "theme"]

THEMES = ("light", "dark")


@lru_cache(maxsize=1)
def theme() -> dict[str, Any]:
    """The look as it stands in the file."""
    text = files("nomadp").joinpath("theme.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def css_properties(mode: str) -> str:
    """The colours of a theme, as custom properties."""
    return "".join(f"--{name}:{value};" for name, value in theme()[mode].items())


def css_variables(selector: str = ":root") -> str:
    """Both themes, and how faint the uncertain is."""
    light, dark = map(css_properties, THEMES)
    faint = "".join(
        f"--{word}-opacity:{rule['opacity']};" for word, rule in theme()["certainty"].items()
    )
    return (
        f"{selector}{{{light}{faint}}}\n"
        f"@media (prefers-color-scheme:dark){{{selector}{{{dark}}}}}\n"
    )
