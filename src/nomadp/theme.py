"""The theme of every page and map: colours, widths, and how certainty is shown.

`theme.json` contains it. Generated pages use it as CSS properties and figures as numbers. The
pages of a collector read it when they are built.
"""

import json
from functools import lru_cache
from importlib.resources import files
from typing import Any

__all__ = ["css_properties", "css_variables", "theme"]

THEMES = ("light", "dark")


@lru_cache(maxsize=1)
def theme() -> dict[str, Any]:
    """The content of `theme.json`."""
    text = files("nomadp").joinpath("theme.json").read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def css_properties(mode: str) -> str:
    """The colours of light or dark ``mode``, as CSS custom properties."""
    return "".join(f"--{name}:{value};" for name, value in theme()[mode].items())


def css_variables(selector: str = ":root") -> str:
    """The colours of both modes, and the opacity of each certainty."""
    light, dark = map(css_properties, THEMES)
    opacities = "".join(
        f"--{name}-opacity:{rule['opacity']};" for name, rule in theme()["certainty"].items()
    )
    return (
        f"{selector}{{{light}{opacities}}}\n"
        f"@media (prefers-color-scheme:dark){{{selector}{{{dark}}}}}\n"
    )
