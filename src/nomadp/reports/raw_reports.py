"""Raw reports: the rows of a file or table before they are combined with a header.

Anybody may have sent them. An unreadable report is left out and counted by its reason. It never
stops the others from being read, or one sender could make a whole file useless.
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
    "Domain",
    "RawReports",
    "concatenate",
    "nested_column",
    "domain_of",
    "drop_unreadable",
    "parse_transcript",
    "drop_repeated_ids",
]

VALUES = "values"
"""The column of reported values, for frequency oracles: these do not report locations."""
Domain = LocationSet | int
"""The public output domain: locations, or the whole numbers below this one."""

UNKNOWN_PLACE = "a location or value is not in the set"
NOTHING = "they are empty"
AMBIGUOUS = "a position comes twice"
NO_NUMBER = "their number is missing"
NO_TRANSCRIPT = "their transcript is no list of numbers"
SAME_ID = "their id came before"

TRANSCRIPT_MAX = 1 << 20  # characters
Mask = NDArray[np.bool_]
Transcripts = tuple[tuple[int, ...], ...]


class RawReports(NamedTuple):
    """Readable reports without a header, and the number of unreadable ones by reason."""

    sequences: Sequences
    numbers: Ints | None
    transcripts: Transcripts | None
    refused: Mapping[str, int]


def domain_of(mechanism: Mechanism) -> Domain:
    """The output domain of this mechanism."""
    return mechanism.report_size if mechanism.is_oracle else mechanism.locations


def nested_column(domain: Domain) -> str:
    """The list column that a table with one row per report must have."""
    return VALUES if isinstance(domain, int) else "location_ids"


def drop_unreadable(
    sequences: Sequences,
    numbers: Ints | None,
    transcripts: Sequence[tuple[int, ...] | None] | None,
    unreadable: Mapping[str, Mask],
) -> RawReports:
    """Leave out reports that one of the masks marks, with an entry of -1 or a transcript None.

    A report with several defects is counted once, under the first reason.
    """
    masks = dict(unreadable)
    if len(sequences):
        lowest = np.minimum.reduceat(sequences.locations, sequences.offsets[:-1])
        masks[UNKNOWN_PLACE] = lowest < 0
    if transcripts is not None:
        masks[NO_TRANSCRIPT] = np.array([one is None for one in transcripts], dtype=bool)
    dropped, refused = np.zeros(len(sequences), dtype=bool), dict[str, int]()
    for reason, mask in masks.items():
        if count := int(np.count_nonzero(mask & ~dropped)):
            refused[reason] = count
        dropped |= mask
    rows = np.flatnonzero(~dropped)
    if transcripts is not None:
        transcripts = tuple(transcripts[row] or () for row in rows.tolist())
    if numbers is not None:
        numbers = numbers[rows]
    return RawReports(sequences.select(rows), numbers, transcripts, refused)


def drop_repeated_ids(raw: RawReports) -> RawReports:
    """Keep the first report of each id: the others may be copies of it."""
    seen: set[str] = set()
    repeated = np.zeros(len(raw.sequences), dtype=bool)
    for row, name in enumerate(raw.sequences.names):
        repeated[row] = name in seen
        seen.add(name)
    first = drop_unreadable(raw.sequences, raw.numbers, raw.transcripts, {SAME_ID: repeated})
    return first._replace(refused=dict(Counter(raw.refused) + Counter(first.refused)))


def concatenate(pieces: Sequence[RawReports]) -> RawReports:
    """All pieces in order, with those optional columns that every piece has."""
    parts = [piece.sequences for piece in pieces]
    lengths = np.concatenate([np.zeros(0, dtype=np.int64), *(part.lengths for part in parts)])
    locations = [np.zeros(0, dtype=np.int64), *(part.locations for part in parts)]
    names = tuple(name for part in parts for name in part.names)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    numbers = [piece.numbers for piece in pieces if piece.numbers is not None]
    transcripts = [piece.transcripts for piece in pieces if piece.transcripts is not None]
    return RawReports(
        Sequences(offsets, np.concatenate(locations), names),
        np.concatenate(numbers) if pieces and len(numbers) == len(pieces) else None,
        sum(transcripts, ()) if pieces and len(transcripts) == len(pieces) else None,
        dict(sum((Counter(piece.refused) for piece in pieces), Counter())),
    )


def parse_transcript(text: Any) -> tuple[int, ...] | None:
    """The whole numbers of a JSON list; None for any other text."""
    if not isinstance(text, str) or len(text) > TRANSCRIPT_MAX:
        return None
    try:
        numbers = json.loads(text)
    except (ValueError, RecursionError):
        return None
    # type() and not isinstance(): true and false are instances of int.
    if not isinstance(numbers, list) or not all(type(number) is int for number in numbers):
        return None
    return tuple(numbers)
