"""Reports in a table with one row per point, or per value of a frequency oracle."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nomadp.formats.arrow_objects import Frame
from nomadp.formats.columns import Kind, Table, Text
from nomadp.formats.files import read_table, require_columns
from nomadp.reports.raw_reports import (
    AMBIGUOUS,
    NO_NUMBER,
    Domain,
    RawReports,
    drop_unreadable,
    parse_transcript,
)
from nomadp.sequences import Sequences

__all__ = ["OPTIONAL", "VALUE", "reports_by_point"]

LOCATIONS_BY_ROW = {"tid": Kind.TEXT, "seq": Kind.WHOLE, "location_id": Kind.TEXT}
VALUE = "value"
VALUES_BY_ROW = {"tid": Kind.TEXT, "seq": Kind.WHOLE, VALUE: Kind.WHOLE}
OPTIONAL = {"number": Kind.WHOLE, "transcript": Kind.TEXT}


def reports_by_point(path: Path | Frame, domain: Domain) -> RawReports:
    """Read reports whose points are rows of a table, in any order."""
    needed = VALUES_BY_ROW if isinstance(domain, int) else LOCATIONS_BY_ROW
    table = read_table(path, lambda header: _columns(path, header, needed))
    tid: Text = table.column["tid"]
    seq = table.column["seq"]
    order = np.lexsort((seq, tid.codes))
    offsets = np.concatenate([[0], np.cumsum(np.bincount(tid.codes))])
    index = _entries(table, domain)
    sequences = Sequences(offsets, index[order], tid.values)
    first = offsets[:-1]  # the first row of each report
    repeated = np.diff(seq[order], prepend=-1) == 0
    repeated[first] = False
    unreadable = {AMBIGUOUS: np.add.reduceat(repeated, first) > 0}
    numbers = transcripts = None
    if "number" in table.column:
        # A report's number stands in each of its rows, and must be the same in all of them.
        number = table.column["number"][order]
        numbers = number[first]
        differs = number != np.repeat(numbers, sequences.lengths)
        unreadable[NO_NUMBER] = np.add.reduceat(differs, first) > 0
    if "transcript" in table.column:
        text: Text = table.column["transcript"]
        distinct = [parse_transcript(value) for value in text.values]
        transcripts = [distinct[code] for code in text.codes[order][first]]
    return drop_unreadable(sequences, numbers, transcripts, unreadable)


def _entries(table: Table, domain: Domain) -> Any:
    """The location index or value of each row; -1 if it is outside the domain."""
    if isinstance(domain, int):
        value = table.column[VALUE]
        return np.where((value >= 0) & (value < domain), value, -1)
    place: Text = table.column["location_id"]
    index, known = domain.find_known(place.values)
    return np.where(known, index, -1)[place.codes]


def _columns(
    path: Path | Frame, header: Sequence[str], needed: Mapping[str, Kind]
) -> Mapping[str, Kind]:
    optional = {name: kind for name, kind in OPTIONAL.items() if name in header}
    return require_columns(path, header, {**needed, **optional})
