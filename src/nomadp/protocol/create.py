"""Making a task: the few things an operator says, and defaults for the rest."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, timedelta
from typing import Any

from nomadp.budget import as_epsilon
from nomadp.errors import DomainError, TaskRefused
from nomadp.locations import LocationSet
from nomadp.mechanisms import kind_of
from nomadp.mechanisms.atlas import build_pinned
from nomadp.protocol.bundle import TaskBundle
from nomadp.protocol.ceilings import RETENTION_MAX_S
from nomadp.protocol.rules import ATLAS, ORACLES
from nomadp.protocol.task import Task
from nomadp.protocol.upload import ID_BYTES, report_id
from nomadp.randomness import new_key
from nomadp.zones import Zones, zones_of

__all__ = ["TaskOptions", "create_task"]

_DAY_S = 86_400
KEPT_LONGER_DAYS = 30
"""By default, reports are kept so long after the task has ended."""


@dataclass(frozen=True, kw_only=True)
class TaskOptions:
    """What `create_task` need not be told."""

    length: int | None = None
    """Of ATLAS, which needs it; a direct question has none."""
    size: int | None = None
    """Journeys in the atlas; by default as many as its recipe finds good enough."""
    zones: str | Zones | None = None
    """Of a direct question; by default those of its mechanism."""
    when: str | None = None
    start: date | int | None = None
    """The first day (UTC), or its number in units of the precision; today by default."""
    time_precision: int = _DAY_S
    send_within: int = 3600
    reports_per_contributor: int = 1
    min_batch_size: int = 100
    retention_days: int | None = None
    """By default until 30 days after the end."""
    delete_counts: bool = False
    """Whether the counts of reports are deleted with them."""
    salt: bytes | None = None
    """16 bytes; by default fresh ones of the system."""


def create_task(
    locations: LocationSet,
    mechanism: str = ATLAS,
    *,
    epsilon: Any,
    purpose: str,
    end: date | int,
    **more: Any,
) -> TaskBundle:
    """A task and its files, of the options that `TaskOptions` lists.

    ``end`` is the last day (UTC) that belongs to the task, or the number after the last in
    units of its precision. Raises `TaskRefused` for what no device would take part in.
    """
    _check_given(mechanism, more)
    options, budget = TaskOptions(**more), as_epsilon(epsilon)
    facts: dict[str, Any] = {
        "purpose": purpose,
        "mechanism": mechanism,
        "version": kind_of(mechanism).version,
        "epsilon": budget,
        "length": options.length,
        "locations_sha256": locations.sha256,
        "send_within": options.send_within,
        "reports_per_contributor": options.reports_per_contributor,
        "min_batch_size": options.min_batch_size,
        "delete_counts": options.delete_counts,
        "salt": report_id(options.salt or new_key()[:ID_BYTES]),
        **_times(options, end),
    }
    if mechanism == ATLAS:
        return _with_atlas(locations, facts, options)
    zones, params = _zones(locations, options, mechanism)
    return TaskBundle(
        Task(**facts, domain_sha256=zones.sha256, params=params), locations, zones
    )


def _check_given(mechanism: str, more: dict[str, Any]) -> None:
    if unknown := set(more) - {field.name for field in fields(TaskOptions)}:
        raise DomainError(
            f"a task has no option {', '.join(sorted(unknown))}; see TaskOptions",
            code="unknown_options",
            options=sorted(unknown),
        )
    if mechanism not in (ATLAS, *ORACLES):
        raise TaskRefused(
            f"the mechanism of a task must be one of {', '.join((ATLAS, *ORACLES))}, whose "
            f"reports are of one size, got {mechanism[:40]}",
            code="mechanism_not_for_tasks",
        )


def _with_atlas(
    locations: LocationSet, facts: dict[str, Any], options: TaskOptions
) -> TaskBundle:
    if options.length is None or options.zones is not None or options.when is not None:
        raise TaskRefused(
            "an ATLAS task must have a length, and neither zones nor when; ask trips, starts, "
            "ends or visits for those",
            code="options_of_another_mechanism",
            mechanism=ATLAS,
        )
    Task(**facts, domain_sha256=locations.sha256)  # refused now: an atlas may take minutes
    pinned = build_pinned(locations, [options.length], facts["epsilon"], options.size)
    return TaskBundle(Task(**facts, domain_sha256=pinned.sha256), locations, pinned)


def _zones(
    locations: LocationSet, options: TaskOptions, mechanism: str
) -> tuple[Zones, dict[str, str]]:
    if options.length is not None or options.size is not None:
        raise TaskRefused(
            f"a direct question ({mechanism}) must have no length and no size",
            code="options_of_another_mechanism",
            mechanism=mechanism,
        )
    asked: Any = options.zones
    if asked is None:
        kind: Any = kind_of(mechanism)
        asked = next(each.default for each in fields(kind) if each.name == "zones")
    zones = zones_of(locations, asked) if isinstance(asked, str) else asked
    params = {"zones": zones.rule} | ({} if options.when is None else {"when": options.when})
    return zones, params


def _times(options: TaskOptions, end: date | int) -> dict[str, int]:
    unit = options.time_precision
    if type(unit) is not int or unit < 1:
        raise TaskRefused(
            f"time_precision must be a whole number of seconds, got {unit}",
            code="task_field_out_of_range",
            field="time_precision",
        )
    begins: Any = time.time() // unit if options.start is None else options.start
    first = _number(begins, unit, math.floor, timedelta(0))
    after = _number(end, unit, math.ceil, timedelta(days=1))
    longest = RETENTION_MAX_S // unit
    if options.retention_days is None:
        kept = min(after - first + math.ceil(KEPT_LONGER_DAYS * _DAY_S / unit), longest)
    else:
        kept = math.ceil(options.retention_days * _DAY_S / unit)
    return {"time_precision": unit, "start": first, "end": after, "retention": kept}


def _number(
    day: date | int, unit: int, rounded: Callable[[float], int], later: timedelta
) -> int:
    if not isinstance(day, date):
        return int(day)
    midnight = datetime(day.year, day.month, day.day, tzinfo=UTC) + later
    return rounded(int(midnight.timestamp()) / unit)
