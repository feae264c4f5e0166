"""From one row per point to one row per trajectory, in Parquet and in bounded memory.

The rows of a trajectory must follow each other, by seq: sorting is for a database or a table
library. A tid that comes back later is refused; to know, 8 bytes are kept of each. A uid is
kept beside its trajectory, so that whoever perturbs can say what each person spends.
"""

from collections.abc import Iterator
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from nomadp.errors import SchemaError
from nomadp.formats.atomic import written_whole
from nomadp.formats.files import columns_or_refusal, file_path, is_parquet
from nomadp.formats.nested_files import NestedFile, opened, repeated_tids
from nomadp.formats.presets import BY_ID

__all__ = ["nest_file"]

POINTS_AT_A_TIME = 1_000_000


def nest_file(source: str | PathLike[str], target: str | PathLike[str]) -> int:
    """Write `tid,location_ids` from `tid,seq,location_id`; how many trajectories there were."""
    found, made = file_path(source), file_path(target)
    if not (is_parquet(found) and is_parquet(made)):
        raise SchemaError(f"{found} and {made} must both be Parquet files")

    def write(part: Path) -> None:
        nested = _nested(found)
        first = next(nested)
        with pq.ParquetWriter(part, first.schema) as writer:
            for batch in chain([first], nested):
                writer.write_batch(batch)
        again = repeated_tids(NestedFile(part))
        if again:
            raise SchemaError(
                f"{found}: the rows of a tid must follow each other and be of one uid, got "
                f"{again} tids that come back later; sort the file by tid and seq"
            )

    written_whole({made: write}, private=[made])
    return NestedFile(made).rows


def _nested(path: Path) -> Iterator[pa.RecordBatch]:
    """Whole trajectories; the one that a piece breaks off waits for the next piece."""
    row, waiting = 0, None
    for piece in _pieces(path):
        points = piece if waiting is None else pa.concat_tables([waiting, piece])
        points = points.combine_chunks()
        starts = _starts(path, points, row)
        if len(starts) > 1:
            yield _lists(points, starts)
        waiting = points.slice(starts[-1])
        row += int(starts[-1])
    if waiting is None:
        raise SchemaError(f"{path} must have at least one row, and only names its columns")
    yield _lists(waiting, np.array([0, waiting.num_rows]))


def _pieces(path: Path) -> Iterator[Any]:
    file = opened(path)
    names = file.schema_arrow.names
    columns = list(columns_or_refusal(path, names, BY_ID))
    columns += ["uid"] if "uid" in names else []
    for batch in file.iter_batches(POINTS_AT_A_TIME, columns=columns):
        table = pa.Table.from_batches([batch])
        missing = sum(column.null_count for column in table.columns)
        if missing:
            raise SchemaError(f"{path}: no value may be missing, and {missing} are")
        if not pa.types.is_integer(table["seq"].type):
            raise SchemaError(f"{path}: seq must be whole numbers, got {table['seq'].type}")
        yield table


def _starts(path: Path, points: Any, first: int) -> Any:
    """Where each trajectory begins; refused if its points are not in their order."""
    changes = np.zeros(max(points.num_rows - 1, 0), dtype=bool)
    for name in {"tid", "uid"} & set(points.column_names):
        changes |= pc.not_equal(points[name][1:], points[name][:-1]).to_numpy()
    backwards = np.flatnonzero((np.diff(points["seq"].to_numpy()) <= 0) & ~changes)
    if len(backwards):
        raise SchemaError(
            f"{path}: row {first + int(backwards[0]) + 2} must have a larger seq than the row "
            "before, which is of the same trajectory; sort the file by tid and seq"
        )
    return np.concatenate([[0], np.flatnonzero(changes) + 1])


def _lists(points: Any, starts: Any) -> pa.RecordBatch:
    """A list from each start to the next; what follows the last start is left out."""
    owner = [name for name in ("tid", "uid") if name in points.column_names]
    texts = [
        points[name].take(pa.array(starts[:-1])).combine_chunks().cast(pa.string())
        for name in owner
    ]
    whole = points["location_id"].slice(0, int(starts[-1])).combine_chunks()
    lists = pa.ListArray.from_arrays(pa.array(starts, pa.int32()), whole.cast(pa.string()))
    return pa.RecordBatch.from_arrays([*texts, lists], [*owner, "location_ids"])
