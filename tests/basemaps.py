"""Small PMTiles files, made here: tiles of one colour, or all water."""

import gzip
import json
import struct
import zlib
from pathlib import Path
from typing import NamedTuple

__all__ = ["CREDIT", "Box", "write_basemap"]

CREDIT = "Drawn for a test"
MVT, PNG = 1, 2
NONE, GZIP = 1, 2
HEADER_BYTES = 127


class Box(NamedTuple):
    west: float
    south: float
    east: float
    north: float


WORLD = Box(-180, -85, 180, 85)


def write_basemap(path: Path, colour: str | None = None, *, box: Box = WORLD) -> Path:
    """One tile for the whole world, PNG of this colour; without a colour, vector tiles."""
    tile = gzip.compress(_water()) if colour is None else _png(colour)
    kind, packed = (MVT, GZIP) if colour is None else (PNG, NONE)
    # One entry: tile 0, run length 1, its length, and its offset plus one.
    entry = (1, 0, 1, len(tile), 1)
    root = gzip.compress(b"".join(map(_varint, entry)))
    said = {"attribution": f'<a href="https://tiles.example">{CREDIT}</a>'}
    metadata = gzip.compress(json.dumps(said).encode())
    where, pieces = HEADER_BYTES, []
    for piece in (root, metadata, b"", tile):
        pieces += [where, len(piece)]
        where += len(piece)
    header = b"PMTiles\x03" + struct.pack("<8Q3Q", *pieces, 1, 1, 1)
    header += bytes([1, GZIP, packed, kind, 0, 0])
    header += struct.pack("<4i", *(round(degree * 10**7) for degree in box))
    header += bytes([0]) + struct.pack("<2i", 0, 0)
    assert len(header) == HEADER_BYTES
    path.write_bytes(header + root + metadata + tile)
    return path


def _png(colour: str, side: int = 256) -> bytes:
    row = b"\0" + bytes.fromhex(colour.removeprefix("#")) * side

    def chunk(kind: bytes, content: bytes) -> bytes:
        check = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)

    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    pixels = zlib.compress(row * side)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", pixels)
        + chunk(b"IEND", b"")
    )


def _varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def _water(extent: int = 4096) -> bytes:
    """A vector tile with one layer, water, and one polygon that is all of it."""

    def field(number: int, content: bytes | int) -> bytes:
        if isinstance(content, int):
            return _varint(number << 3) + _varint(content)
        return _varint(number << 3 | 2) + _varint(len(content)) + content

    steps = [(0, 0), (extent, 0), (0, extent), (-extent, 0)]
    zigzag = [n << 1 if n >= 0 else (-n << 1) - 1 for step in steps for n in step]
    commands = [9, *zigzag[:2], 26, *zigzag[2:], 15]  # move once, three lines, close
    geometry = b"".join(map(_varint, commands))
    feature = field(3, 3) + field(4, geometry)
    layer = field(15, 2) + field(1, b"water") + field(2, feature) + field(5, extent)
    return field(3, layer)
