"""Reports in a table with one row per point, or per value of a frequency oracle."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nomadp.formats.arrow_objects import Frame
from nomadp.formats.columns import Kind, Table, Text
from nomadp.formats.files import read_table, require_columns
from nomadp.reports.rows import AMBIGUOUS, NO_NUMBER, Public, Rows, readable, transcript_of
from nomadp.sequences import Sequences

__all__ = ["MORE", "VALUE", "rows_by_point"]

POINTS = {"tid": Kind.TEXT, "seq": Kind.WHOLE, "location_id": Kind.TEXT}
VALUE = "value"
ENTRIES = {"tid": Kind.TEXT, "seq": Kind.WHOLE, VALUE: Kind.WHOLE}
MORE = {"number": Kind.WHOLE, "transcript": Kind.TEXT}


def rows_by_point(path: Path | Frame, public: Public) -> Rows:
    """From one row to a point, in any order."""
    needed = ENTRIES if isinstance(public, int) else POINTS
    table = read_table(path, lambda header: _columns(path, header, needed))
    tid: Text = table.column["tid"]
    seq = table.column["seq"]
    order = np.lexsort((seq, tid.codes))
    offsets = np.concatenate([[0], np.cumsum(np.bincount(tid.codes))])
    index = _entries(table, public)
    rows = Sequences(offsets, index[order], tid.values)
    again = np.diff(seq[order], prepend=-1) == 0
    again[offsets[:-1]] = False
    bad = {AMBIGUOUS: np.add.reduceat(again, offsets[:-1]) > 0}
    numbers = said = None
    if "number" in table.column:
        each = table.column["number"][order]
        numbers = each[offsets[:-1]]
        bad[NO_NUMBER] = (
            np.add.reduceat(each != np.repeat(numbers, rows.lengths), offsets[:-1]) > 0
        )
    if "transcript" in table.column:
        text: Text = table.column["transcript"]
        read = [transcript_of(value) for value in text.values]
        said = [read[code] for code in text.codes[order][offsets[:-1]]]
    return readable(rows, numbers, said, bad)


def _entries(table: Table, public: Public) -> Any:
    """What each row reports, as an index or a value; -1 where it is none."""
    if isinstance(public, int):
        value = table.column[VALUE]
        return np.where((value >= 0) & (value < public), value, -1)
    place: Text = table.column["location_id"]
    index, known = public.find_known(place.values)
    return np.where(known, index, -1)[place.codes]


def _columns(
    path: Path | Frame, header: Sequence[str], needed: Mapping[str, Kind]
) -> Mapping[str, Kind]:
    more = {name: kind for name, kind in MORE.items() if name in header}
    return require_columns(path, header, {**needed, **more})
