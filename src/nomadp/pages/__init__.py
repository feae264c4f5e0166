"""The pages that web/build.py built for browsers, and their Content-Security-Policy."""

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
"""Pages load nothing from other hosts and run no inline scripts."""
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
    """A file that browsers get. Assets never change under the same name; pages may."""

    name: str
    content: bytes

    @property
    def media_type(self) -> str:
        ending = self.name[self.name.rfind(".") :]
        return _TYPES.get(ending, "application/octet-stream")

    @cached_property
    def gzipped(self) -> bytes:
        return gzip.compress(self.content, mtime=0)


def built_pages(folder: Traversable | None = None) -> dict[str, PageFile]:
    """The pages and their assets by name; empty if they were not built."""
    static = folder or files("nomadp.pages").joinpath("static")
    if not static.joinpath(INDEX).is_file():
        return {}
    pages = [PageFile(name, static.joinpath(name).read_bytes()) for name in (INDEX, CONTRIBUTE)]
    assets = [
        PageFile(file.name, file.read_bytes())
        for file in static.joinpath(ASSETS).iterdir()
        if file.is_file()
    ]
    return {file.name: file for file in [*pages, *assets]}
