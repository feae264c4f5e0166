"""Create a task: a few required options, and defaults for the rest."""

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
RETENTION_DAYS_AFTER_END = 30
"""How long reports are kept after the end of the task, by default."""


@dataclass(frozen=True, kw_only=True)
class TaskOptions:
    """The optional arguments of `create_task`."""

    length: int | None = None
    """The public length; required for ATLAS, not allowed for frequency oracles."""
    size: int | None = None
    """Number of codewords; chosen by the recipe by default."""
    zones: str | Zones | None = None
    """The zones of a frequency oracle; by default those of its mechanism."""
    when: str | None = None
    start: date | int | None = None
    """The first day (UTC), or its number in units of ``time_precision``; today by default."""
    time_precision: int = _DAY_S
    send_within: int = 3600
    reports_per_contributor: int = 1
    min_batch_size: int = 100
    retention_days: int | None = None
    """How long each report is kept; by default the length of the task plus 30 days."""
    delete_counts: bool = False
    """Whether counts of reports are deleted together with the reports."""
    salt: bytes | None = None
    """16 bytes; by default random bytes of the operating system."""


def create_task(
    locations: LocationSet,
    mechanism: str = ATLAS,
    *,
    epsilon: Any,
    purpose: str,
    end: date | int,
    **optional: Any,
) -> TaskBundle:
    """A task and its files; `TaskOptions` lists the other options.

    ``end`` is the last day (UTC) of the task, or, as a number in units of its time precision,
    the first time after it. Raises `TaskRefused` for a task that devices would refuse.
    """
    _check_options(mechanism, optional)
    options, epsilon_report = TaskOptions(**optional), as_epsilon(epsilon)
    facts: dict[str, Any] = {
        "purpose": purpose,
        "mechanism": mechanism,
        "version": kind_of(mechanism).version,
        "epsilon": epsilon_report,
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


def _check_options(mechanism: str, optional: dict[str, Any]) -> None:
    if unknown := set(optional) - {field.name for field in fields(TaskOptions)}:
        raise DomainError(
            f"options of a task must be those of TaskOptions, got {', '.join(sorted(unknown))}",
            code="unknown_options",
            options=sorted(unknown),
        )
    if mechanism not in (ATLAS, *ORACLES):
        raise TaskRefused(
            f"the mechanism of a task must be one of {', '.join((ATLAS, *ORACLES))}, got "
            f"{mechanism[:40]}",
            code="mechanism_not_for_tasks",
        )


def _with_atlas(
    locations: LocationSet, facts: dict[str, Any], options: TaskOptions
) -> TaskBundle:
    if options.length is None or options.zones is not None or options.when is not None:
        raise TaskRefused(
            "an ATLAS task must have a length, and neither zones nor when; use the mechanism "
            "trips, starts, ends or visits for those",
            code="options_of_another_mechanism",
            mechanism=ATLAS,
        )
    Task(
        **facts, domain_sha256=locations.sha256
    )  # checked first: building a codebook may take minutes
    pinned = build_pinned(locations, [options.length], facts["epsilon"], options.size)
    return TaskBundle(Task(**facts, domain_sha256=pinned.sha256), locations, pinned)


def _zones(
    locations: LocationSet, options: TaskOptions, mechanism: str
) -> tuple[Zones, dict[str, str]]:
    if options.length is not None or options.size is not None:
        raise TaskRefused(
            f"a task of the frequency oracle {mechanism} must have neither length nor size",
            code="options_of_another_mechanism",
            mechanism=mechanism,
        )
    rule: Any = options.zones
    if rule is None:
        kind: Any = kind_of(mechanism)
        rule = next(field.default for field in fields(kind) if field.name == "zones")
    zones = zones_of(locations, rule) if isinstance(rule, str) else rule
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
    start: Any = time.time() // unit if options.start is None else options.start
    first = _number(start, unit, math.floor, timedelta(0))
    after = _number(end, unit, math.ceil, timedelta(days=1))
    longest = RETENTION_MAX_S // unit
    if options.retention_days is None:
        retention = min(
            after - first + math.ceil(RETENTION_DAYS_AFTER_END * _DAY_S / unit), longest
        )
    else:
        retention = math.ceil(options.retention_days * _DAY_S / unit)
    return {"time_precision": unit, "start": first, "end": after, "retention": retention}


def _number(
    day: date | int, unit: int, rounded: Callable[[float], int], later: timedelta
) -> int:
    if not isinstance(day, date):
        return int(day)
    midnight = datetime(day.year, day.month, day.day, tzinfo=UTC) + later
    return rounded(int(midnight.timestamp()) / unit)
