"""Reports as they were found somewhere, before anybody says how they were made.

They came from anybody. One that cannot be read is counted and left out, and is no veto for the
others.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nomadp.laws import Ints
from nomadp.locations import LocationSet
from nomadp.mechanisms import Mechanism
from nomadp.sequences import Sequences

__all__ = [
    "VALUES",
    "Public",
    "Rows",
    "concatenated",
    "nested_column",
    "public_of",
    "readable",
    "transcript_of",
    "unique",
]

VALUES = "values"
"""The column of what is reported, where that is no locations."""
Public = LocationSet | int
"""What is reported of: locations, or whole numbers below a public one."""

UNKNOWN_PLACE = "a location or value is not in the set"
NOTHING = "they are empty"
AMBIGUOUS = "a position comes twice"
NO_NUMBER = "their number is missing"
NO_TRANSCRIPT = "their transcript is no list of numbers"
SAME_ID = "their id came before"

TRANSCRIPT_MAX = 1 << 20  # characters
Mask = NDArray[np.bool_]
Transcripts = tuple[tuple[int, ...], ...]


class Rows(NamedTuple):
    """Readable reports, and how many were not, by reason."""

    rows: Sequences
    numbers: Ints | None
    transcripts: Transcripts | None
    refused: Mapping[str, int]


def public_of(mechanism: Mechanism) -> Public:
    """What this mechanism's reports are made of."""
    return mechanism.report_size if mechanism.is_oracle else mechanism.locations


def nested_column(public: Public) -> str:
    """Where a table of one row to a report has what it reports, as lists."""
    return VALUES if isinstance(public, int) else "location_ids"


def readable(
    rows: Sequences,
    numbers: Ints | None,
    transcripts: Sequence[tuple[int, ...] | None] | None,
    bad: Mapping[str, Mask],
) -> Rows:
    """Those that nothing is wrong with; a location of -1 is unknown, a transcript None, too."""
    wrong = dict(bad)
    if len(rows):
        wrong[UNKNOWN_PLACE] = np.minimum.reduceat(rows.locations, rows.offsets[:-1]) < 0
    if transcripts is not None:
        wrong[NO_TRANSCRIPT] = np.array([each is None for each in transcripts], dtype=bool)
    out, refused = np.zeros(len(rows), dtype=bool), Counter[str]()
    for reason, mask in wrong.items():
        refused[reason] = int(np.count_nonzero(mask & ~out))
        out |= mask
    kept = np.flatnonzero(~out)
    said = None if transcripts is None else tuple(transcripts[k] or () for k in kept.tolist())
    counted = {reason: count for reason, count in refused.items() if count}
    return Rows(rows.select(kept), None if numbers is None else numbers[kept], said, counted)


def unique(found: Rows) -> Rows:
    """Of several reports under one id the first: the others may be copies of it."""
    seen: set[str] = set()
    again = np.zeros(len(found.rows), dtype=bool)
    for k, name in enumerate(found.rows.names):
        again[k] = name in seen
        seen.add(name)
    left = readable(found.rows, found.numbers, found.transcripts, {SAME_ID: again})
    return left._replace(refused=dict(Counter(found.refused) + Counter(left.refused)))


def concatenated(pieces: Sequence[Rows]) -> Rows:
    """One after the other, with the columns that all of them have."""
    rows = [each.rows for each in pieces]
    lengths = np.concatenate([np.zeros(0, dtype=np.int64), *(each.lengths for each in rows)])
    locations = [np.zeros(0, dtype=np.int64), *(each.locations for each in rows)]
    names = tuple(name for each in rows for name in each.names)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    numbers = [each.numbers for each in pieces if each.numbers is not None]
    said = [each.transcripts for each in pieces if each.transcripts is not None]
    return Rows(
        Sequences(offsets, np.concatenate(locations), names),
        np.concatenate(numbers) if pieces and len(numbers) == len(pieces) else None,
        sum(said, ()) if pieces and len(said) == len(pieces) else None,
        dict(sum((Counter(each.refused) for each in pieces), Counter())),
    )


def transcript_of(text: Any) -> tuple[int, ...] | None:
    """The numbers in a text, None if there is anything else in it."""
    if not isinstance(text, str) or len(text) > TRANSCRIPT_MAX:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, list) or not all(type(each) is int for each in found):
        return None
    return tuple(found)
