"""Queries as data: from a small JSON object to an estimate. The collector uses this.

The sender of a query is not trusted. Unknown options and values of the wrong type are refused.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from nomadp.answers.areas import LOCATIONS
from nomadp.answers.decoded import LENGTH_COLUMNS, TRAJECTORY_COLUMNS, lengths, trajectories
from nomadp.answers.estimate import Estimate
from nomadp.answers.facts import LEVEL, Terms, too_few_reports
from nomadp.answers.flow import COLUMNS as FLOW_COLUMNS
from nomadp.answers.flow import GRID as FLOW_GRID
from nomadp.answers.flow import flows
from nomadp.answers.place import COLUMNS as PLACE_COLUMNS
from nomadp.answers.place import GRID as PLACE_GRID
from nomadp.answers.place import density, hotspots
from nomadp.answers.synthetic import COLUMNS as SYNTHETIC_COLUMNS
from nomadp.answers.synthetic import MAX_TRAJECTORIES, parse_start_time, synthesize
from nomadp.errors import DomainError, SchemaError
from nomadp.inference.hotspots import point_kind
from nomadp.inference.model import Model, fit
from nomadp.mechanisms import Mechanism
from nomadp.mechanisms.oracles import FrequencyOracle
from nomadp.reports.counts import Counts, counts_of
from nomadp.reports.table import AnyReports
from nomadp.zones import Zones, is_rule

__all__ = ["QUERIES", "check_untrusted_query", "checked_query", "run_query", "shortest_query"]

_TEXT_MAX = 200


class _Query(NamedTuple):
    run: Callable[..., Estimate]
    columns: tuple[str, ...]
    options: Mapping[str, Any]
    """Names and defaults."""


_PLACES = {"areas": LOCATIONS, "at": None, "level": LEVEL}
_SYNTHETIC = {"count": 1000, "seed": 0, "start": None}
_QUERIES = {
    "hotspots": _Query(hotspots, PLACE_COLUMNS, _PLACES),
    "density": _Query(density, PLACE_COLUMNS, {**_PLACES, "areas": PLACE_GRID}),
    "flows": _Query(flows, FLOW_COLUMNS, {"areas": FLOW_GRID, "level": LEVEL}),
    "trajectories": _Query(trajectories, TRAJECTORY_COLUMNS, {"level": LEVEL}),
    "lengths": _Query(lengths, LENGTH_COLUMNS, {"level": LEVEL}),
    "synthesize": _Query(synthesize, SYNTHETIC_COLUMNS, _SYNTHETIC),
}
QUERIES = tuple(_QUERIES)
_KINDS = {"synthesize": "synthetic"}
"""The kind of estimate, where it differs from the kind of query."""
_POINTS = ("visits", "starts", "ends")


def run_query(
    mechanism: Mechanism,
    counts: Counts | AnyReports,
    query: Mapping[str, Any],
    *,
    model: Model | None = None,
    **terms: Any,
) -> Estimate:
    """The estimate for a query such as {"kind": "hotspots", "areas": "grid:16"}.

    ``kind`` is one of `QUERIES`. The other options are optional: ``areas``, ``at`` and
    ``level``, or ``count``, ``seed`` and ``start``. ``model`` is fitted to the counts unless it
    is given. ``terms`` are those of `Terms`: ``min_batch_size``, 1 by default, below which the
    estimate has no rows and says how many reports are missing, and ``task``, the id that the
    estimate carries.
    """
    options = checked_query(query)
    kind = options.pop("kind")
    all_terms, all_counts = Terms(**terms), counts_of(mechanism, counts)
    columns = _QUERIES[kind].columns
    too_few = too_few_reports(_KINDS.get(kind, kind), mechanism, all_counts, all_terms, columns)
    if too_few is not None:
        return too_few
    if model is None:
        model = fit(mechanism, all_counts)
    model.check_of(mechanism, all_counts)
    if kind == "trajectories" and isinstance(counts, AnyReports):
        options["reports"] = counts
    return _QUERIES[kind].run(model, **options, terms=all_terms)


def checked_query(query: Mapping[str, Any]) -> dict[str, Any]:
    """The query without null options, its level as a number; refused if it is invalid."""
    untrusted: Any = query  # of any type
    kind = untrusted.get("kind") if isinstance(untrusted, Mapping) else None
    if not isinstance(kind, str) or kind not in _QUERIES:
        raise SchemaError(
            f"the kind of a query must be one of {', '.join(QUERIES)}", code="unknown_query"
        )
    allowed = _QUERIES[kind].options
    unknown = [name for name in query if name not in ("kind", *allowed)]
    if unknown:
        # Names that no query has are not echoed, because they can be any text.
        known = sorted(_RULES.keys() & set(unknown))
        raise SchemaError(
            f"the options of a {kind} query must be among {', '.join(allowed)}, got "
            f"{', '.join(known) or f'{len(unknown)} others'}; remove them",
            code="unknown_query_options",
            query=kind,
            known=tuple(known),
            unknown=len(unknown),
        )
    options = {name: value for name, value in query.items() if value is not None}
    for name in allowed:
        requirement, is_valid = _RULES[name]
        if name in options and not is_valid(options[name]):
            raise SchemaError(
                f"{name} of a query must be {requirement}",
                code="invalid_query_option",
                option=name,
            )
    if "level" in allowed:
        options["level"] = float(options.get("level", LEVEL))
    return options


def check_untrusted_query(mechanism: Mechanism, query: Mapping[str, Any]) -> None:
    """Refuse a query that is invalid for every task (`SchemaError`), without echoing values."""
    options = checked_query(query)
    if "start" in options:
        try:
            parse_start_time(options["start"])
        except DomainError as refusal:
            raise SchemaError(
                f"in a query, {refusal}", code="invalid_query_option", option="start"
            ) from None
    kind, areas = options["kind"], options.get("areas")
    if areas is None or is_rule(areas) or (areas == LOCATIONS and kind == "hotspots"):
        return
    # A task's own zones may be polygons; their rule contains a hash.
    if isinstance(mechanism, FrequencyOracle) and areas == mechanism.partition.rule:
        return
    rules = _RULES["areas"][0] if kind == "hotspots" else "grid:N or h3:R"
    raise SchemaError(
        f"areas of a {kind} query must be {rules}",
        code="invalid_query_option",
        option="areas",
    )


def shortest_query(mechanism: Mechanism, query: Mapping[str, Any]) -> dict[str, Any]:
    """The same query without options that have their default; an invalid one is unchanged."""
    try:
        options = checked_query(query)
    except SchemaError:
        return dict(query)
    defaults = dict(_QUERIES[options["kind"]].options)
    if "at" in defaults:
        defaults["at"] = point_kind(mechanism, None)
    if "areas" in defaults and isinstance(mechanism, FrequencyOracle):
        defaults["areas"] = mechanism.partition.rule
    return {name: value for name, value in options.items() if value != defaults.get(name)}


def _is_whole(value: Any, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most


def _is_level(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    if isinstance(value, str):
        digits = value.replace(".", "", 1)
        if len(value) > 20 or not (digits.isascii() and digits.isdecimal()):
            return False
        value = float(value)
    return bool(0 < value <= 1)  # not converted: an integer may be too large for a float


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _TEXT_MAX


_RULES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "areas": (
        "locations, grid:N or h3:R",
        lambda value: isinstance(value, Zones) or _is_text(value),
    ),
    "at": ("visits, starts or ends", lambda value: value in _POINTS),
    "level": ('a number above 0 and at most 1, such as "0.9"', _is_level),
    "count": (
        f"a whole number from 1 to {MAX_TRAJECTORIES}",
        lambda value: _is_whole(value, MAX_TRAJECTORIES) and value > 0,
    ),
    "seed": ("a whole number from 0", lambda value: _is_whole(value, 2**63 - 1)),
    "start": ("a time in ISO 8601", _is_text),
}
"""What the value of each option must be, in words and as a check."""
