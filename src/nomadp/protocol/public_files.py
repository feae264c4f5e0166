"""The public files of a task as bytes: locations, and a codebook or zones.

The hashes in a task cover the contents of the files, not their bytes. The bytes are fixed as
well, so that files can be compared and cached. A device reads them with the standard library
and numpy alone.
"""

import csv
import io
import re
from typing import Any

import numpy as np

from nomadp.budget import as_epsilon
from nomadp.errors import SchemaError, TaskRefused
from nomadp.locations import LocationSet
from nomadp.mechanisms.atlas.codebook import CodebookTable, PinnedCodebooks
from nomadp.protocol.canonical import canonical_bytes, parse_object
from nomadp.protocol.ceilings import CODEWORDS_MAX, LENGTH_MAX, LOCATIONS_MAX
from nomadp.zones import Zones

__all__ = [
    "ATLAS_FORMAT",
    "FILE_BYTES_MAX",
    "ZONES_FORMAT",
    "atlas_bytes",
    "locations_bytes",
    "parse_atlas",
    "parse_locations",
    "parse_zones",
    "zones_bytes",
]

FILE_BYTES_MAX = 16 * 2**20
ATLAS_FORMAT = "nomadp atlas 2"
ZONES_FORMAT = "nomadp zones 1"
_HEADER = ["location_id", "lat", "lng"]
_DEGREES = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
"""A number as in JSON; Python's ``float`` would read 1_0 as ten."""
_CSV = re.compile(r'(?:(?:"[^"]*+(?:""[^"]*+)*+"|[^",\r\n]*+)(?:,|\r?\n|\Z))*+')
"""Fields of RFC 4180; Python's ``csv`` also accepts a bare CR as the end of a line, and quotes
inside unquoted fields."""
_ATLAS = {"format", "recipe", "epsilon", "locations_sha256", "near_count", "journeys"}
_ZONES = {"format", "rule", "locations_sha256", "names", "of"}


def locations_bytes(locations: LocationSet) -> bytes:
    """CSV in the order of the set; each coordinate in the shortest decimal that is exact."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_HEADER)
    rows = zip(locations.ids, locations.lat.tolist(), locations.lng.tolist(), strict=True)
    writer.writerows([name, repr(lat), repr(lng)] for name, lat, lng in rows)
    return text.getvalue().encode()


def parse_locations(content: bytes) -> LocationSet:
    if len(content) > FILE_BYTES_MAX:
        raise TaskRefused(
            f"locations must have at most {FILE_BYTES_MAX} bytes",
            code="task_file_too_large",
            file="locations",
            limit=FILE_BYTES_MAX,
        )
    try:
        text = content.decode()
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
        if not _CSV.fullmatch(text):
            raise csv.Error("fields must follow RFC 4180")
        ids, lat, lng = zip(*rows[1:], strict=True)
        degrees = [[_degrees(text) for text in column] for column in (lat, lng)]
    except (ValueError, csv.Error):
        rows = []
    if not rows or rows[0] != _HEADER:
        raise TaskRefused(
            f"locations must be CSV with the columns {','.join(_HEADER)}",
            code="locations_malformed",
            columns=_HEADER,
        )
    if len(ids) > LOCATIONS_MAX:
        raise TaskRefused(
            f"a task must have at most {LOCATIONS_MAX} locations, got {len(ids)}",
            code="too_many_locations",
            limit=LOCATIONS_MAX,
            locations=len(ids),
        )
    return LocationSet.from_columns(ids, *degrees)


def _degrees(text: str) -> float:
    if not _DEGREES.fullmatch(text):
        raise SchemaError("degrees must be decimal numbers", code="degrees_malformed")
    return float(text)


def atlas_bytes(pinned: PinnedCodebooks) -> bytes:
    """The codebook of a task, which has one length."""
    (table,) = pinned.tables
    members: dict[str, Any] = {
        "format": ATLAS_FORMAT,
        "recipe": pinned.recipe,
        "epsilon": str(pinned.epsilon),
        "locations_sha256": pinned.location_set_sha256,
        "near_count": table.near_count,
        "journeys": table.codewords.tolist(),
    }
    return canonical_bytes(members | ({} if pinned.size is None else {"size": pinned.size}))


def parse_atlas(content: bytes) -> PinnedCodebooks:
    members = _object(content, "atlas", _ATLAS, {"size"})
    codewords, near = members["journeys"], members["near_count"]
    rows = codewords if isinstance(codewords, list) else []
    lengths = {len(row) if isinstance(row, list) else 0 for row in rows}
    if not 1 <= len(rows) <= CODEWORDS_MAX or len(lengths) != 1 or 0 in lengths:
        raise TaskRefused(
            f"a codebook must have 1 to {CODEWORDS_MAX} codewords of one length",
            code="codebook_malformed",
            limit=CODEWORDS_MAX,
        )
    if max(lengths) > LENGTH_MAX or not all(_index(entry) for row in rows for entry in row):
        raise TaskRefused(
            f"codewords must be lists of 1 to {LENGTH_MAX} indices of locations, but some are "
            "not",
            code="codebook_malformed",
            limit=LENGTH_MAX,
        )
    table = np.array(rows, dtype=np.int32)
    texts = [members[name] for name in ("format", "recipe", "epsilon", "locations_sha256")]
    if not all(isinstance(text, str) for text in texts) or not _index(near):
        raise TaskRefused(
            "the members of a codebook must be strings and integers, but one is not",
            code="codebook_malformed",
        )
    size = members.get("size")
    if members["format"] != ATLAS_FORMAT or not (size is None or _index(size)):
        raise TaskRefused(
            f"a codebook must have the format {ATLAS_FORMAT!r}; update nomadp",
            code="codebook_format_unknown",
            format=ATLAS_FORMAT,
        )
    epsilon = as_epsilon(members["epsilon"])
    if str(epsilon) != members["epsilon"]:
        raise TaskRefused(
            f"the epsilon of a codebook must be written as {epsilon}, but is not",
            code="codebook_epsilon_not_canonical",
            epsilon=str(epsilon),
        )
    codebook = CodebookTable(table, near, float("nan"))
    return PinnedCodebooks(
        members["locations_sha256"], members["recipe"], epsilon, size, (codebook,)
    )


def zones_bytes(zones: Zones) -> bytes:
    """The zone of each location, so that devices need not apply the rule."""
    members = {"format": ZONES_FORMAT, "rule": zones.rule, "of": zones.of.tolist()}
    members |= {"locations_sha256": zones.locations.sha256, "names": list(zones.names)}
    return canonical_bytes(members)


def parse_zones(content: bytes, locations: LocationSet) -> Zones:
    members = _object(content, "zones", _ZONES)
    names, of, rule = members["names"], members["of"], members["rule"]
    if members["format"] != ZONES_FORMAT or members["locations_sha256"] != locations.sha256:
        raise TaskRefused(
            f"zones must have the format {ZONES_FORMAT!r} and be for the locations of their "
            "task",
            code="zones_mismatch",
            format=ZONES_FORMAT,
        )
    if (
        not isinstance(rule, str)
        or not (isinstance(names, list) and all(isinstance(name, str) for name in names))
        or not (isinstance(of, list) and all(map(_index, of)))
    ):
        raise TaskRefused(
            "zones must have names, and an index for each location", code="zones_malformed"
        )
    return Zones(locations, np.array(of, dtype=np.int64), tuple(names), rule)


def _object(
    content: bytes,
    what: str,
    fields: set[str],
    optional: frozenset[str] | set[str] = frozenset(),
) -> dict[str, Any]:
    try:
        members = parse_object(content, what, FILE_BYTES_MAX)
    except SchemaError as refusal:
        raise TaskRefused(str(refusal), **vars(refusal)) from refusal
    if not fields <= set(members) <= fields | optional:
        raise TaskRefused(
            f"{what} must have the members {', '.join(sorted(fields))} and no others",
            code="fields_mismatch",
            file=what,
        )
    return members


def _index(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**31
