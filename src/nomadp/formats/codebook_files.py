"""Codebook files: the public codewords of ATLAS, and the hashes that pin them.

A codebook file is a Parquet file, so that clients in any language can read it. It has one row
per codeword, with its length and its locations as indices into the location set. Nothing in it
is private.
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from nomadp.budget import as_epsilon
from nomadp.errors import DomainError, SchemaError
from nomadp.formats.atomic import write_atomically
from nomadp.formats.files import check_readable, file_path
from nomadp.formats.measured_file import AnyPath
from nomadp.formats.unreadable import Unreadable
from nomadp.locations import LocationSet
from nomadp.mechanisms.atlas.codebook import CodebookTable, PinnedCodebooks
from nomadp.walks import TrajectoryTable

__all__ = ["FORMAT", "codebook_description", "read_codebooks", "write_codebooks"]

FORMAT = "nomadp atlas 2"
OLD_FORMAT = "nomadp codebook 1"
SUFFIXES = (".parquet",)


def write_codebooks(path: AnyPath, pinned: PinnedCodebooks) -> None:
    """Write codebooks completely or not at all. Equal codebooks give equal bytes."""
    file = file_path(path, SUFFIXES)
    write_atomically({file: lambda part: _write(part, pinned)})


def read_codebooks(path: AnyPath, locations: LocationSet | None = None) -> PinnedCodebooks:
    """Read the codebooks of a file and check their hashes.

    Whether they belong to a location set is checked if ``locations`` is given, and otherwise
    when a mechanism uses them.
    """
    file = file_path(path, SUFFIXES)
    description, length, codeword = _read(file)
    tables = _tables(file, length, codeword)
    try:
        codebook_tables = [
            CodebookTable(table, int(row["near_count"]), float(row["error_km"] or "nan"))
            for table, row in zip(tables, description["atlases"], strict=True)
        ]
        pinned = PinnedCodebooks(
            str(description["location_set_sha256"]),
            str(description["recipe"]),
            as_epsilon(description["epsilon"]),
            None if description["size"] is None else int(description["size"]),
            tuple(codebook_tables),
        )
    except (KeyError, TypeError, ValueError) as error:
        reason = str(error) if isinstance(error, DomainError) else "its description is damaged"
        raise SchemaError(
            f"{file} must be a codebook that nomadp wrote, but {reason}",
            code="codebook_damaged",
        ) from error
    if pinned.sha256 != description.get("sha256"):
        raise SchemaError(
            f"{file} must contain the codewords of sha256={description.get('sha256')}, "
            f"got {pinned.sha256}; the file was modified or damaged, so get it again",
            code="codebook_changed",
        )
    if locations is not None:
        pinned.check_locations(locations)
    return pinned


def codebook_description(pinned: PinnedCodebooks) -> dict[str, Any]:
    """The description of codebooks: everything except the codewords."""
    return {
        "recipe": pinned.recipe,
        "epsilon": str(pinned.epsilon),
        "size": pinned.size,
        "location_set_sha256": pinned.location_set_sha256,
        "sha256": pinned.sha256,
        "atlases": [
            {
                "length": int(table.codewords.shape[1]),
                "journeys": len(table.codewords),
                "near_count": table.near_count,
                "error_km": table.error_km if math.isfinite(table.error_km) else None,
            }
            for table in pinned.tables
        ],
    }


def _write(part: Path, pinned: PinnedCodebooks) -> None:
    import pyarrow as pa  # slow to import

    from nomadp.formats.parquet_files import write_parquet

    shapes = [table.codewords.shape for table in pinned.tables]
    length = np.concatenate([np.full(count, n, dtype=np.int32) for count, n in shapes])
    offsets = np.concatenate([[0], np.cumsum(length, dtype=np.int64)]).astype(np.int32)
    indices = np.concatenate([table.codewords.reshape(-1) for table in pinned.tables]).astype(
        np.int32
    )
    codeword = pa.ListArray.from_arrays(pa.array(offsets), pa.array(indices))
    description = {"format": FORMAT, **codebook_description(pinned)}
    metadata = json.dumps(description, indent=2, sort_keys=True).encode()
    write_parquet(part, {"length": pa.array(length), "journey": codeword}, metadata)


def _read(path: Path) -> tuple[Mapping[str, Any], Any, Any]:
    """The description in the file, and its two columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from nomadp.formats.parquet_files import METADATA_KEY, damaged, whole_table

    check_readable(path)
    try:
        with pq.ParquetFile(path) as file:
            table = whole_table(path, file, file.schema_arrow.names)
        description = json.loads((table.schema.metadata or {}).get(METADATA_KEY, b"{}"))
    except Unreadable:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise damaged(path) from error
    if isinstance(description, dict) and description.get("format") == OLD_FORMAT:
        raise SchemaError(
            f"{path} must be a codebook for one epsilon ({FORMAT}), but it has version 1, "
            'which is no longer supported; write it again with "nomadp codebook build"',
            code="old_codebook_version",
        )
    expected_schema = pa.schema([("length", pa.int32()), ("journey", pa.list_(pa.int32()))])
    if (
        not isinstance(description, dict)
        or description.get("format") != FORMAT
        or not table.schema.remove_metadata().equals(expected_schema)
    ):
        raise SchemaError(
            f"{path} must be a codebook file ({FORMAT}), but it is another file; write one "
            'with "nomadp codebook build"',
            code="not_a_codebook",
        )
    return description, table["length"], table["journey"]


def _tables(path: Path, length: Any, codeword: Any) -> tuple[TrajectoryTable, ...]:
    """One table of codewords per length, in the order of the file.

    A damaged file may pass Arrow's checks, so its shape and indices are checked here.
    """
    lengths, rows = length.to_numpy(), codeword.combine_chunks()
    counts = np.diff(rows.offsets.to_numpy())
    indices = rows.flatten().to_numpy(zero_copy_only=False)
    if indices.dtype.kind != "i" or not np.array_equal(counts, lengths) or not len(lengths):
        raise SchemaError(
            f"{path} must have codewords with as many locations as their length, but one has "
            "another number; get the file again",
            code="codebook_damaged",
        )
    if not (np.diff(lengths) >= 0).all() or lengths[0] < 1 or indices.min() < 0:
        raise SchemaError(
            f"{path} must have codewords in order of length, as indices from 0, but it does "
            "not; get the file again",
            code="codebook_damaged",
        )
    tables, start = [], 0
    for size, count in zip(*np.unique(lengths, return_counts=True), strict=True):
        end = start + int(size) * int(count)
        tables.append(
            np.array(indices[start:end], dtype=np.int32).reshape(int(count), int(size))
        )
        start = end
    return tuple(tables)
