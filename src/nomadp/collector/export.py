"""Export all reports of a task as Parquet with one row per report, like ``nomadp perturb``.

The rows are sorted by the reports' random ids and have a column with the epoch. Reports are
read in pieces, so memory does not grow with their number.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from nomadp.collector.loaded_task import LoadedTask, read_task
from nomadp.collector.messages import report_id_text
from nomadp.collector.store import Connection, Store
from nomadp.errors import TaskRefused
from nomadp.formats.atomic import write_atomically
from nomadp.reports.header import Header
from nomadp.sequences import Sequences

__all__ = ["export_reports"]

AT_ONCE = 100_000


def export_reports(store: Store, task_id: str, out: Path) -> int:
    """Write the reports whose values are not deleted; returns their number."""
    connection = store.connect()
    try:
        loaded = read_task(connection, task_id)
        if loaded is None:
            raise TaskRefused(
                "a task must be in the store to be exported, but this one is not",
                code="task_not_in_store",
            )
        counts: list[int] = []
        write_atomically(
            {out: lambda part: counts.append(_write(connection, loaded, part))}, private=[out]
        )
        return counts[0]
    finally:
        connection.close()


def _write(connection: Connection, loaded: LoadedTask, part: Path) -> int:
    import pyarrow.parquet as pq  # slow to import

    about = {b"nomadp": Header.of(loaded.bundle.mechanism, None).to_json()}
    about[b"nomadp_task"] = loaded.id.encode()
    count, writer = 0, None
    for rows in _pieces(connection, loaded.number):
        batch = _batch(loaded, rows)
        if writer is None:
            schema = batch.schema.with_metadata(about)
            writer = pq.ParquetWriter(part, schema)
        writer.write_batch(batch.replace_schema_metadata(about))
        count += batch.num_rows
    if writer is None:
        raise TaskRefused(
            "a task must have reports to be exported, but this one has none",
            code="task_without_reports",
        )
    writer.close()
    return count


def _pieces(connection: Connection, task: int) -> Iterator[list[tuple[Any, ...]]]:
    last = b""
    while True:
        rows = connection.rows(
            "SELECT id, epoch, value FROM report WHERE task = ? AND id > ? ORDER BY id LIMIT ?",
            task,
            last,
            AT_ONCE,
        )
        if not rows:
            return
        last = bytes(rows[-1][0])
        if complete := [row for row in rows if row[2] is not None]:
            yield complete


def _batch(loaded: LoadedTask, rows: list[tuple[Any, ...]]) -> Any:
    import pyarrow as pa

    from nomadp.reports.batches import batch_of

    bundle = loaded.bundle
    names = tuple(report_id_text(bytes(name)) for name, _, _ in rows)
    numbers, _ = loaded.code.numbers([bytes(value) for _, _, value in rows])
    if bundle.task.is_oracle:
        entries = numbers
    else:
        law: Any = bundle.mechanism.report_law(bundle.report_length)
        entries = law.channel.atlas.codewords[numbers[:, 0]]
    offsets = np.arange(len(rows) + 1) * entries.shape[1]
    sequences = Sequences(offsets, entries.reshape(-1).astype(np.int64), names)
    if bundle.task.is_oracle:
        batch = batch_of(sequences, None)
    else:
        batch = batch_of(sequences, bundle.locations, numbers[:, 0])
    return batch.append_column("time", pa.array([row[1] for row in rows], pa.int64()))
