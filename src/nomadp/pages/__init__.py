"""What a browser gets: the pages as web/build.py built them, with what may run in them."""

import gzip
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable

__all__ = ["CONTRIBUTE", "INDEX", "NOT_BUILT", "POLICY", "PageFile", "built_pages"]

POLICY = "; ".join(
    [
        "default-src 'none'",
        *(f"{kind}-src 'self'" for kind in ("script", "style", "img", "worker", "connect")),
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
"""Nothing is loaded from elsewhere, and nothing that is written into a page runs."""
NOT_BUILT = (
    "The pages of this collector are not built; in a clone of the repository, build them "
    "with: python3 dev.py web"
)
INDEX, CONTRIBUTE = "index.html", "contribute.html"
"""The dashboard, and the contributor's page."""
ASSETS = "assets"
_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}


@dataclass(frozen=True, eq=False)
class PageFile:
    """One that never changes under its name, but for the pages themselves."""

    name: str
    content: bytes

    @property
    def media_type(self) -> str:
        ending = self.name[self.name.rfind(".") :]
        return _TYPES.get(ending, "application/octet-stream")

    @cached_property
    def zipped(self) -> bytes:
        return gzip.compress(self.content, mtime=0)


def built_pages(folder: Traversable | None = None) -> dict[str, PageFile]:
    """The pages and their assets by name; nothing if they were not built."""
    found = folder or files("nomadp.pages").joinpath("static")
    if not found.joinpath(INDEX).is_file():
        return {}
    pages = [PageFile(name, found.joinpath(name).read_bytes()) for name in (INDEX, CONTRIBUTE)]
    assets = [
        PageFile(each.name, each.read_bytes())
        for each in found.joinpath(ASSETS).iterdir()
        if each.is_file()
    ]
    return {each.name: each for each in [*pages, *assets]}
