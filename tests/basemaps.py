"""Generate small PMTiles files: tiles of one colour, of water, or with a city's streets."""

import gzip
import json
import struct
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tiling import Tile, clipped_line, clipped_ring, tiles_around

from nomadp.datasets.city_ground import city_ground

__all__ = ["CREDIT", "Box", "write_basemap", "write_city_basemap"]

CREDIT = "Drawn for a test"
MVT, PNG = 1, 2
NONE, GZIP = 1, 2
HEADER_BYTES = 127
EXTENT = 4096
"""Of a vector tile, to either side."""


class Box(NamedTuple):
    west: float
    south: float
    east: float
    north: float


WORLD = Box(-180, -85, 180, 85)


class Tiles(NamedTuple):
    """The tiles of a file and their format, as numbers of the PMTiles specification."""

    kind: int
    packing: int
    zooms: tuple[int, int]
    content: dict[int, bytes]


def write_basemap(path: Path, colour: str | None = None, *, box: Box = WORLD) -> Path:
    """Write one tile for the whole world: a PNG of this colour, or a vector tile of water."""
    if colour is None:
        return _write(path, Tiles(MVT, GZIP, (0, 0), {0: gzip.compress(_water())}), box)
    return _write(path, Tiles(PNG, NONE, (0, 0), {0: _png(colour)}), box)


def write_city_basemap(path: Path, seed: int = 1, zooms: tuple[int, int] = (7, 13)) -> Path:
    """Write streets, avenues and the river of `synthetic_city`, with the names of Protomaps."""
    ground = city_ground(seed)
    every = np.concatenate([*ground.streets, *ground.avenues, ground.river])
    box = Box(*every.min(axis=0), *every.max(axis=0))
    content = {}
    for zoom in range(zooms[0], zooms[1] + 1):
        for tile in tiles_around(*box, zoom=zoom):
            layers = _city_layers(ground, tile)
            if layers:
                content[tile.number] = gzip.compress(layers)
    return _write(path, Tiles(MVT, GZIP, zooms, content), box)


def _write(path: Path, tiles: Tiles, box: Box) -> Path:
    numbers = sorted(tiles.content)
    sizes = [len(tiles.content[number]) for number in numbers]
    steps = np.diff([0, *numbers]).tolist()
    # Columns: differences of numbers, run lengths, sizes; 0: directly after the previous one.
    entries = [len(numbers), *steps, *[1] * len(numbers), *sizes]
    entries += [1, *[0] * (len(numbers) - 1)]
    root = gzip.compress(b"".join(map(_varint, entries)))
    said = {"attribution": f'<a href="https://tiles.example">{CREDIT}</a>'}
    metadata = gzip.compress(json.dumps(said).encode())
    inside = b"".join(tiles.content[number] for number in numbers)
    where, pieces = HEADER_BYTES, []
    for piece in (root, metadata, b"", inside):
        pieces += [where, len(piece)]
        where += len(piece)
    header = b"PMTiles\x03" + struct.pack("<8Q3Q", *pieces, *[len(numbers)] * 3)
    header += bytes([1, GZIP, tiles.packing, tiles.kind, *tiles.zooms])
    header += struct.pack("<4i", *(round(degree * 10**7) for degree in box))
    header += bytes([0]) + struct.pack("<2i", 0, 0)
    assert len(header) == HEADER_BYTES
    path.write_bytes(header + root + metadata + inside)
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


def _field(number: int, content: bytes | int) -> bytes:
    if isinstance(content, int):
        return _varint(number << 3) + _varint(content)
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _layer(name: str, features: list[bytes], kinds: tuple[str, ...] = ()) -> bytes:
    """A layer with one attribute, kind; features refer to its values by index."""
    inside = b"".join(_field(2, each) for each in features)
    named = _field(3, b"kind") if kinds else b""
    named += b"".join(_field(4, _field(1, kind.encode())) for kind in kinds)
    return _field(
        3, _field(15, 2) + _field(1, name.encode()) + inside + named + _field(5, EXTENT)
    )


def _feature(points: Any, *, is_area: bool, kind: int | None = None) -> bytes:
    """A line or the border of an area; MVT stores each point relative to the previous one."""
    steps = np.diff(np.vstack([[[0, 0]], np.rint(points).astype(int)]), axis=0)
    zigzag = ((steps << 1) ^ (steps >> 31)).ravel().tolist()
    commands = [1 << 3 | 1, *zigzag[:2], (len(points) - 1) << 3 | 2, *zigzag[2:]]
    commands += [1 << 3 | 7] if is_area else []
    tags = b"" if kind is None else _field(2, _varint(0) + _varint(kind))
    geometry = b"".join(map(_varint, commands))
    return tags + _field(3, 3 if is_area else 2) + _field(4, geometry)


def _water() -> bytes:
    """A vector tile with one layer, water, and one polygon that covers the tile."""
    all_of_it = np.array([[0, 0], [EXTENT, 0], [EXTENT, EXTENT], [0, EXTENT]])
    return _layer("water", [_feature(all_of_it, is_area=True)])


def _city_layers(ground: Any, tile: Tile) -> bytes:
    river = clipped_ring(tile.at(ground.river, EXTENT), EXTENT)
    lines = [(line, 0) for line in ground.streets] + [(line, 1) for line in ground.avenues]
    roads = [
        _feature(points, is_area=False, kind=kind)
        for line, kind in lines
        if (points := clipped_line(tile.at(line, EXTENT), EXTENT)) is not None
    ]
    found = b""
    if len(river) > 2:
        found += _layer("water", [_feature(river, is_area=True)])
    if roads:
        found += _layer("roads", roads, ("minor_road", "major_road"))
    return found
