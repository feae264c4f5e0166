"""Files of reports: what was released, and how it was made. Public.

The metadata travels inside a Parquet file, and beside a CSV file as `FILE.meta.json`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from nomadp.errors import DomainError, SchemaError
from nomadp.formats.atomic import Write, written_whole
from nomadp.formats.files import (
    columns_or_refusal,
    file_path,
    is_parquet,
    read_table,
    write_table,
)
from nomadp.formats.parquet_files import read_metadata
from nomadp.formats.point_files import nested_points
from nomadp.formats.presets import BY_ID
from nomadp.formats.table_points import points_of
from nomadp.formats.trajectory_files import placed
from nomadp.locations import LocationSet
from nomadp.trajectory import TrajectorySet

__all__ = [
    "METADATA",
    "ReportTable",
    "metadata_bytes",
    "read_reports",
    "write_described",
    "write_reports",
]

METADATA = (
    "mechanism",
    "mechanism_version",
    "epsilon",
    "location_set_sha256",
    "rng",
    "private",
    "nomadp_version",
)
"""What a file of reports must say about itself."""


@dataclass(frozen=True)
class ReportTable:
    """Reported trajectories over public locations, and how they were made."""

    reports: TrajectorySet
    locations: LocationSet
    metadata: Mapping[str, Any]

    def __post_init__(self) -> None:
        metadata_bytes(self.metadata)
        self.reports.check_size(len(self.locations))
        _check_hash(self.metadata, self.locations)


def write_reports(path: str | PathLike[str], table: ReportTable) -> None:
    """CSV or Parquet with the columns `tid,seq,location_id`; whole or not at all."""
    found, reports = file_path(path), table.reports
    column = {
        "tid": [reports.tids[k] for k in reports.owner],
        "seq": reports.seq,
        "location_id": [table.locations.ids[k] for k in reports.locations],
    }
    write_described(found, column, metadata_bytes(table.metadata))


def write_described(path: Path, column: Mapping[str, Any], metadata: bytes) -> None:
    """A table that says how it was made: inside Parquet, beside CSV."""
    writes: dict[Path, Write] = {}
    if not is_parquet(path):
        # First: reports never stand without saying how they were made.
        writes[_beside(path)] = lambda part: _create(part, metadata + b"\n")
    writes[path] = lambda part: write_table(part, column, metadata)
    written_whole(writes)


def read_reports(
    path: str | PathLike[str], locations: LocationSet
) -> tuple[TrajectorySet, dict[str, Any]]:
    """Reports and their metadata (empty if the file says nothing about itself)."""
    found = file_path(path)
    points = nested_points(found, locations)
    if points is not None:
        return placed(points, locations)[0], _checked(_metadata(found), locations)
    table = read_table(found, lambda header: columns_or_refusal(found, header, BY_ID))
    metadata = _checked(_metadata(found), locations)
    return placed(points_of(table, locations), locations)[0], metadata


def metadata_bytes(metadata: Mapping[str, Any]) -> bytes:
    """How reports were made, as it stands in a file; refused if it leaves something out."""
    missing = [key for key in METADATA if key not in metadata]
    if missing:
        raise SchemaError(f"reports must say how they were made; missing: {', '.join(missing)}")
    return json.dumps(dict(metadata), indent=2, sort_keys=True).encode()


def _checked(metadata: dict[str, Any], locations: LocationSet) -> dict[str, Any]:
    if metadata:
        _check_hash(metadata, locations)
    return metadata


def _metadata(path: Path) -> dict[str, Any]:
    beside = _beside(path)
    try:
        if is_parquet(path):
            content = read_metadata(path)
        else:
            content = beside.read_bytes() if beside.exists() else None
        metadata = json.loads(content) if content is not None else {}
    except (OSError, ValueError) as error:
        raise SchemaError(
            f"the metadata of {path} must be readable JSON, and is not"
        ) from error
    if not isinstance(metadata, dict):
        raise SchemaError(f"the metadata of {path} must be a JSON object, and is not")
    return metadata


def _check_hash(metadata: Mapping[str, Any], locations: LocationSet) -> None:
    claimed = metadata.get("location_set_sha256")
    if claimed != locations.sha256:
        raise DomainError(
            f"reports must be read with the locations they were made with, sha256={claimed}, "
            f"got {locations.sha256}"
        )


def _beside(path: Path) -> Path:
    return path.with_name(path.name + ".meta.json")


def _create(path: Path, content: bytes) -> None:
    with path.open("xb") as file:
        file.write(content)
