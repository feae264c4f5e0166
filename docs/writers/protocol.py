"""Parts of docs/protocol.md that come from the code: versions, problems, queries."""

from collections.abc import Callable
from typing import Any

from nomadp.answers import query
from nomadp.answers.synthetic import MAX_TRAJECTORIES
from nomadp.characters import FORBIDDEN
from nomadp.collector.problems import PROBLEMS, RETRY_AFTER_S
from nomadp.mechanisms import kind_of
from nomadp.protocol.rules import ATLAS, ORACLES
from nomadp.protocol.task import WIRE_VERSION
from nomadp.protocol.upload import UPLOAD_TYPE
from nomadp.zones import GRID_MAX, H3_MAX
from writers.http import table

TAG = "nomadp task v1"
PLANES = range(0x1FFFE, 0xE0000, 0x10000)
"""First noncharacters at the ends of planes 1 to 13, which share one line."""
MEMBERS = {
    "areas": f"a string: `grid:N` with N from 1 to {GRID_MAX}, `h3:R` with R from 0 to "
    f"{H3_MAX}, or, for `hotspots`, `locations`",
    "at": "`visits`, `starts` or `ends`",
    "level": "above 0 and at most 1: a number, or a string of at most 20 characters with its "
    "decimal notation (ASCII digits, no exponent)",
    "count": f"an integer from 1 to {MAX_TRAJECTORIES:,}",
    "seed": "an integer from 0 to 2^63 - 1",
    "start": "a time in ISO 8601 of the years 1970 to 2199, as a string of 1 to 200 characters",
}
ABSENT = {"at": "visits"}
"""Defaults that depend on the task, in words."""


def versions() -> str:
    laws = ", ".join(f"`{name}` {kind_of(name).version}" for name in (ATLAS, *ORACLES))
    head = ["wire version", "media type of an upload", "tag of a task's id", "mechanisms"]
    return block(table(head, [[str(WIRE_VERSION), f"`{UPLOAD_TYPE}`", f"`{TAG}`", laws]]))


def forbidden() -> str:
    ranges = [(low, high) for low, high in FORBIDDEN if low not in PLANES]
    listed = ", ".join(
        f"U+{low:04X}" + (f"-U+{high:04X}" if high > low else "") for low, high in ranges
    )
    ends = "U+nFFFE and U+nFFFF for n from 1 to D (hexadecimal)"
    return f"\n\n{listed}; and {ends}.\n\n"


def problems() -> str:
    rows = [
        [
            f"`{name}`",
            str(kind.status),
            kind.title + (" With `Retry-After`." if name in RETRY_AFTER_S else ""),
        ]
        for name, kind in sorted(PROBLEMS.items(), key=lambda each: each[1].status)
    ]
    return block(table(["type", "status", "meaning"], rows))


def query_members() -> str:
    kinds = [
        [
            f"`{kind}`",
            ", ".join(f"`{name}`{default(name, value)}" for name, value in rule.items()),
        ]
        for kind, rule in ((kind, each.options) for kind, each in query._QUERIES.items())
    ]
    used = {name for each in query._QUERIES.values() for name in each.options}
    if used != MEMBERS.keys():
        raise SystemExit(
            f"docs/writers/protocol.py must explain {sorted(used ^ MEMBERS.keys())}"
        )
    members = [[f"`{name}`", what] for name, what in MEMBERS.items()]
    return block(
        table(["`kind`", "other members (default)"], kinds)
        + "\n"
        + table(["member", "value"], members)
    )


def default(name: str, value: Any) -> str:
    stated = ABSENT.get(name) if value is None else value
    return "" if stated is None else f" ({stated})"


def block(text: str) -> str:
    return f"\n\n{text}\n"


STATED: dict[str, Callable[[], str]] = {
    "versions": versions,
    "forbidden": forbidden,
    "problems": problems,
    "query": query_members,
}
"""Tables by their name in the page: <!-- stated: NAME -->...<!-- end -->."""
