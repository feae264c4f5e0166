"""Files of public atlases: the journeys themselves, and the hashes that pin them.

One Parquet file, so that a client in any language can read it: a row for each journey, with its
length and its locations as indices into the location set. Nothing in it is private.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from nomadp.errors import DomainError, SchemaError
from nomadp.formats.atomic import written_whole
from nomadp.formats.files import check_readable, file_path
from nomadp.formats.measured_file import AnyPath
from nomadp.locations import LocationSet
from nomadp.mechanisms.atlas.book import Journeys
from nomadp.mechanisms.atlas.pinned import PinnedAtlases

__all__ = ["FORMAT", "read_atlas", "write_atlas"]

FORMAT = "nomadp atlas 1"
SUFFIXES = (".parquet",)


def write_atlas(path: AnyPath, pinned: PinnedAtlases) -> None:
    """Whole or not at all; the same atlases make the same bytes."""
    found = file_path(path, SUFFIXES)
    written_whole({found: lambda part: _write(part, pinned)})


def read_atlas(path: AnyPath, locations: LocationSet | None = None) -> PinnedAtlases:
    """The atlases of a file whose content has the hashes it claims.

    Whether they belong to a location set is checked when it is given, or when a mechanism
    takes them.
    """
    found = file_path(path, SUFFIXES)
    said, length, journey = _read(found)
    pages = _pages(found, length, journey)
    try:
        pinned = PinnedAtlases(
            str(said["location_set_sha256"]), str(said["recipe"]), int(said["size"]), pages
        )
    except (KeyError, TypeError, ValueError) as error:
        reason = str(error) if isinstance(error, DomainError) else "its description is damaged"
        raise SchemaError(f"{found} must be an atlas that nomadp wrote: {reason}") from error
    if pinned.sha256 != said.get("sha256"):
        raise SchemaError(
            f"{found} must hold the journeys it was pinned with, sha256={said.get('sha256')}, "
            f"got {pinned.sha256}; it was changed or damaged"
        )
    if locations is not None:
        pinned.check_locations(locations)
    return pinned


def _write(part: Path, pinned: PinnedAtlases) -> None:
    import pyarrow as pa  # slow to import

    from nomadp.formats.parquet_files import write_parquet

    sizes = [page.shape for page in pinned.pages]
    length = np.concatenate([np.full(count, n, dtype=np.int32) for count, n in sizes])
    offsets = np.concatenate([[0], np.cumsum(length, dtype=np.int64)]).astype(np.int32)
    flat = np.concatenate([page.reshape(-1) for page in pinned.pages]).astype(np.int32)
    journey = pa.ListArray.from_arrays(pa.array(offsets), pa.array(flat))
    said = {
        "format": FORMAT,
        "recipe": pinned.recipe,
        "size": pinned.size,
        "location_set_sha256": pinned.location_set_sha256,
        "atlas_sha256": {str(n): sha256 for n, sha256 in pinned.page_sha256.items()},
        "sha256": pinned.sha256,
    }
    metadata = json.dumps(said, indent=2, sort_keys=True).encode()
    write_parquet(part, {"length": pa.array(length), "journey": journey}, metadata)


def _read(path: Path) -> tuple[Mapping[str, Any], Any, Any]:
    """What the file says about itself, and its two columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from nomadp.formats.parquet_files import METADATA_KEY, damaged

    check_readable(path)
    try:
        table = pq.read_table(path)
        said = json.loads((table.schema.metadata or {}).get(METADATA_KEY, b"{}"))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise damaged(path) from error
    wanted = pa.schema([("length", pa.int32()), ("journey", pa.list_(pa.int32()))])
    if (
        not isinstance(said, dict)
        or said.get("format") != FORMAT
        or not table.schema.remove_metadata().equals(wanted)
    ):
        raise SchemaError(
            f"{path} must be an atlas ({FORMAT}), and is something else; write one with "
            '"nomadp atlas build"'
        )
    return said, table["length"], table["journey"]


def _pages(path: Path, length: Any, journey: Any) -> tuple[Journeys, ...]:
    """One table for each length, in the order of the file."""
    lengths, rows = length.to_numpy(), journey.combine_chunks()
    counts = np.diff(rows.offsets.to_numpy())
    flat = rows.flatten().to_numpy(zero_copy_only=False)
    if flat.dtype.kind != "i" or not np.array_equal(counts, lengths) or not len(lengths):
        raise SchemaError(f"{path} must give every journey as many locations as its length")
    if not (np.diff(lengths) >= 0).all() or lengths[0] < 1 or flat.min() < 0:
        raise SchemaError(f"{path} must list journeys by length, as locations counted from 0")
    pages, start = [], 0
    for size, count in zip(*np.unique(lengths, return_counts=True), strict=True):
        end = start + int(size) * int(count)
        pages.append(np.array(flat[start:end], dtype=np.int32).reshape(int(count), int(size)))
        start = end
    return tuple(pages)
