"""An offline basemap for the dashboard: one PMTiles file that browsers fetch in parts.

The file is public, and anybody may fetch it. Only the analyst's list of tasks has its address:
the contributor's page never fetches tiles, which would reveal where somebody zooms.
"""

import asyncio
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from nomadp.collector.device_routes import FOREVER
from nomadp.collector.problems import Problem
from nomadp.errors import SchemaError

if TYPE_CHECKING:
    from nomadp.collector.service import Service

__all__ = ["Basemap", "basemap_routes", "load_basemap"]

ADDRESS = "/basemap.pmtiles"
PART_BYTES = 16 * 2**20
"""Tiles and directories are far smaller. The limit keeps clients from requesting gigabytes."""
HEADER_BYTES = 127
_COMPRESSIONS = (1, 2)  # none and gzip, which the page can decompress
_TILES = (1, 2, 3, 4, 5)  # vector tiles, PNG, JPEG, WebP, AVIF
_RANGE = re.compile(r"bytes=([0-9]{1,15})-([0-9]{1,15})")


class Basemap(NamedTuple):
    path: Path
    tag: str
    """Identifies the content of the file when the collector started."""

    @property
    def address(self) -> str:
        """Differs for every version of the file, because browsers cache parts forever."""
        return f"{ADDRESS}?of={self.tag}"


class Part(NamedTuple):
    content: bytes
    size: int
    """The size of the whole file in bytes."""
    tag: str


def load_basemap(path: Path) -> Basemap:
    """Check that the dashboard can draw the file."""
    with path.open("rb") as file:
        header = file.read(HEADER_BYTES)
        tag = _tag(os.fstat(file.fileno()))
    if len(header) < HEADER_BYTES or header[:7] != b"PMTiles" or header[7] != 3:
        raise SchemaError(
            f"{path}: a basemap must be a PMTiles file of version 3, but this file is not",
            code="basemap_not_pmtiles",
        )
    if header[97] not in _COMPRESSIONS or header[98] not in (0, *_COMPRESSIONS):
        raise SchemaError(
            f"{path}: a basemap must be compressed with gzip or not at all",
            code="basemap_compression_unsupported",
        )
    if header[99] not in _TILES:
        raise SchemaError(
            f"{path}: a basemap must contain vector tiles (MVT) or image tiles",
            code="basemap_tiles_unsupported",
        )
    return Basemap(path, tag)


def basemap_routes(service: "Service") -> list[Route]:
    async def part(request: Request) -> Response:
        if service.basemap is None:
            raise Problem("not_found")
        byte_range = _RANGE.fullmatch(request.headers.get("range", ""))
        first, last = map(int, byte_range.groups()) if byte_range else (0, -1)
        if not 0 <= last - first < PART_BYTES:
            raise Problem("part_needed")
        piece = await asyncio.to_thread(_read, service.basemap.path, first, last)
        if not piece.content:
            raise Problem("part_needed")
        is_named = request.query_params.get("of") == piece.tag
        headers = {
            "content-range": f"bytes {first}-{first + len(piece.content) - 1}/{piece.size}",
            "accept-ranges": "bytes",
            "etag": f'"{piece.tag}"',
            "cache-control": FOREVER if is_named else "no-cache",
        }
        return Response(piece.content, 206, headers, "application/vnd.pmtiles")

    return [Route(ADDRESS, part, methods=["GET"])]


def _read(path: Path, first: int, last: int) -> Part:
    with path.open("rb") as file:
        state = os.fstat(file.fileno())
        file.seek(first)
        return Part(file.read(last - first + 1), state.st_size, _tag(state))


def _tag(state: os.stat_result) -> str:
    return f"{state.st_size:x}-{state.st_mtime_ns:x}"
