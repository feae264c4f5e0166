"""One entry for services: a question as data in, a table out.

A question is a small object of JSON. Whoever sends it is untrusted: names it does not have are
refused, and so are values that are not of its kinds.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from nomadp.answers.areas import LOCATIONS
from nomadp.answers.facts import LEVEL, Terms, missing
from nomadp.answers.flow import COLUMNS as FLOW_COLUMNS
from nomadp.answers.flow import GRID as FLOW_GRID
from nomadp.answers.flow import flows
from nomadp.answers.journey import JOURNEYS, LENGTHS, journeys, lengths
from nomadp.answers.place import COLUMNS as PLACE_COLUMNS
from nomadp.answers.place import GRID as PLACE_GRID
from nomadp.answers.place import density, hotspots
from nomadp.answers.synthetic import COLUMNS as SYNTHETIC_COLUMNS
from nomadp.answers.synthetic import MOST, moment, synthesize
from nomadp.answers.table import Table
from nomadp.errors import DomainError, SchemaError
from nomadp.inference.hotspots import asked_of
from nomadp.inference.model import Model, fit
from nomadp.mechanisms import Mechanism
from nomadp.mechanisms.oracles import FrequencyOracle
from nomadp.reports.counts import Counts, counts_of
from nomadp.reports.table import AnyReports
from nomadp.zones import Zones, is_rule

__all__ = ["QUESTIONS", "ask", "check_sent", "checked_question", "shortest_question"]

_TEXT_MAX = 200


class _Question(NamedTuple):
    answer: Callable[..., Table]
    columns: tuple[str, ...]
    takes: Mapping[str, Any]
    """What it may say, and what is meant where it does not."""


_PLACES = {"areas": LOCATIONS, "at": None, "level": LEVEL}
_DRAWN = {"journeys": 1000, "seed": 0, "start": None}
_QUESTIONS = {
    "hotspots": _Question(hotspots, PLACE_COLUMNS, _PLACES),
    "density": _Question(density, PLACE_COLUMNS, {**_PLACES, "areas": PLACE_GRID}),
    "flows": _Question(flows, FLOW_COLUMNS, {"areas": FLOW_GRID, "level": LEVEL}),
    "journeys": _Question(journeys, JOURNEYS, {"level": LEVEL}),
    "lengths": _Question(lengths, LENGTHS, {"level": LEVEL}),
    "synthesize": _Question(synthesize, SYNTHETIC_COLUMNS, _DRAWN),
}
QUESTIONS = tuple(_QUESTIONS)
_KINDS = {"synthesize": "synthetic"}
"""What the answer is called, where that is not what the question is."""
_POINTS = ("visits", "starts", "ends")


def ask(
    mechanism: Mechanism,
    counts: Counts | AnyReports,
    question: Mapping[str, Any],
    *,
    learned: Model | None = None,
    **terms: Any,
) -> Table:
    """The answer to a question such as {"kind": "hotspots", "areas": "grid:16"}.

    ``ask`` is one of `QUESTIONS`; ``areas``, ``at`` and ``level``, or ``journeys``, ``seed``
    and ``start``, may say more. What was ``learned`` of these counts need not be learned again.
    ``terms`` are ``min_batch_size``, 1 by default, below which the answer has no rows and says
    how many reports are missing, and ``task``, the id that the answer carries.
    """
    asked = checked_question(question)
    kind = asked.pop("kind")
    on, found = Terms(**terms), counts_of(mechanism, counts)
    few = missing(_KINDS.get(kind, kind), mechanism, found, on, _QUESTIONS[kind].columns)
    if few is not None:
        return few
    if learned is None:
        learned = fit(mechanism, found)
    learned.check_of(mechanism, found)
    if "journeys" in asked:
        asked["count"] = asked.pop("journeys")
    if kind == "journeys" and isinstance(counts, AnyReports):
        asked["reports"] = counts
    return _QUESTIONS[kind].answer(learned, **asked, terms=on)


def checked_question(question: Mapping[str, Any]) -> dict[str, Any]:
    """A question that has only what it may have, its level as a number."""
    said: Any = question
    kind = said.get("kind") if isinstance(said, Mapping) else None
    if not isinstance(kind, str) or kind not in _QUESTIONS:
        raise SchemaError(
            f"a question must ask for one of {', '.join(QUESTIONS)}", code="unknown_query"
        )
    takes = _QUESTIONS[kind].takes
    strange = [name for name in question if name not in ("kind", *takes)]
    if strange:
        known = sorted(_RULES.keys() & set(strange))
        raise SchemaError(
            f"a question for {kind} may have {', '.join(takes)}, got "
            f"{', '.join(known) or f'{len(strange)} others'}; leave out what it has not",
            code="unknown_query_options",
            query=kind,
            known=tuple(known),
            unknown=len(strange),
        )
    asked = {name: value for name, value in question.items() if value is not None}
    for name in takes:
        what, is_one = _RULES[name]
        if name in asked and not is_one(asked[name]):
            raise SchemaError(
                f"{name} of a question must be {what}, and is not",
                code="invalid_query_option",
                option=name,
            )
    if "level" in takes:
        asked["level"] = float(asked.get("level", LEVEL))
    return asked


def check_sent(mechanism: Mechanism, question: Mapping[str, Any]) -> None:
    """Refuse (`SchemaError`) what is no question to any task, without an echo of what it is."""
    asked = checked_question(question)
    if "start" in asked:
        try:
            moment(asked["start"])
        except DomainError as refusal:
            raise SchemaError(
                f"of a question, {refusal}", code="invalid_query_option", option="start"
            ) from None
    kind, areas = asked["kind"], asked.get("areas")
    if areas is None or is_rule(areas) or (areas == LOCATIONS and kind == "hotspots"):
        return
    # A task's own zones may be polygons, which are named by their hash.
    if isinstance(mechanism, FrequencyOracle) and areas == mechanism.partition.rule:
        return
    rules = _RULES["areas"][0] if kind == "hotspots" else "grid:N or h3:R"
    raise SchemaError(
        f"areas of a question for {kind} must be {rules}, and is not",
        code="invalid_query_option",
        option="areas",
    )


def shortest_question(mechanism: Mechanism, question: Mapping[str, Any]) -> dict[str, Any]:
    """The same question without what goes without saying; what is none stays as it is."""
    try:
        asked = checked_question(question)
    except SchemaError:
        return dict(question)
    unsaid = dict(_QUESTIONS[asked["kind"]].takes)
    if "at" in unsaid:
        unsaid["at"] = asked_of(mechanism, None)
    if "areas" in unsaid and isinstance(mechanism, FrequencyOracle):
        unsaid["areas"] = mechanism.partition.rule
    return {name: value for name, value in asked.items() if value != unsaid.get(name)}


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
    return bool(0 < value <= 1)  # as it is: a whole number may be too large for a float


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _TEXT_MAX


_RULES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "areas": (
        "locations, grid:N or h3:R",
        lambda value: isinstance(value, Zones) or _is_text(value),
    ),
    "at": ("visits, starts or ends", lambda value: value in _POINTS),
    "level": ('a number above 0 and at most 1, such as "0.9"', _is_level),
    "journeys": (
        f"a whole number from 1 to {MOST}",
        lambda value: _is_whole(value, MOST) and value > 0,
    ),
    "seed": ("a whole number from 0", lambda value: _is_whole(value, 2**63 - 1)),
    "start": ("a time in ISO 8601", _is_text),
}
"""What a value must be, in words and as a check."""
