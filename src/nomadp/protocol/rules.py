"""The parameters of a task and the rules for them; a device checks all of them."""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from nomadp.characters import has_blanks, has_forbidden
from nomadp.errors import TaskRefused
from nomadp.mechanisms import kind_of
from nomadp.mechanisms.oracles.base import WHEN
from nomadp.protocol.canonical import INTEGER_MAX
from nomadp.protocol.ceilings import (
    BATCH_MAX,
    EPSILON_LIFETIME_MAX,
    EPSILON_REPORT_MAX,
    LENGTH_MAX,
    PRECISION_RANGE_S,
    PURPOSE_MAX,
    REPORTS_MAX,
    RETENTION_MAX_S,
    SEND_WITHIN_MAX_S,
    TASK_MAX_S,
)

__all__ = ["ATLAS", "ORACLES", "Parameters", "check_text"]

ATLAS = "atlas"
ORACLES = ("trips", "starts", "ends", "visits")
"""Mechanisms of tasks besides ATLAS; their reports have one size for every trajectory."""
_HASH = re.compile("[0-9a-f]{64}")
# 16 bytes are 21 characters and two bits of the last one, hence only A, Q, g or w.
_SALT = re.compile("[A-Za-z0-9_-]{21}[AQgw]")
_OPTIONS = {ATLAS: (), **dict.fromkeys(ORACLES, ("zones", "when"))}
_RULE = re.compile("(grid|h3):(0|[1-9][0-9]{0,3})|polygons:[0-9a-f]{64}")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Parameters:
    """All public parameters of a collection; `TaskRefused` if one violates the rules."""

    purpose: str
    """The purpose in a sentence, for contributors."""
    mechanism: str
    """The name of the mechanism."""
    version: int
    """The version of the mechanism."""
    params: Mapping[str, str] = field(default_factory=dict)
    """The options of a frequency oracle: ``zones`` and ``when``."""
    epsilon: Fraction
    """The epsilon of each report."""
    length: int | None = None
    """Length of every trajectory reported to ATLAS; None for frequency oracles."""
    locations_sha256: str
    """Hash of the location set."""
    domain_sha256: str
    """Hash of the codebook, or of the zones of a frequency oracle."""
    time_precision: int = 86_400
    """Unit of all times, in seconds. Times are counted since 1970 and never more precise."""
    start: int
    """The first time at which reports are accepted."""
    end: int
    """The first time at which reports are no longer accepted."""
    send_within: int = 0
    """Largest random delay of a report, in seconds."""
    reports_per_contributor: int = 1
    """The largest number of reports of one person."""
    min_batch_size: int = 100
    """The smallest number of reports that are analysed together."""
    retention: int
    """How long a report is kept, in units of ``time_precision``."""
    delete_counts: bool = False
    """Whether counts of reports are deleted with the reports; otherwise they can still be
    queried."""
    salt: str
    """22 characters that distinguish tasks whose other parameters are equal."""

    def __post_init__(self) -> None:
        _check(self)
        object.__setattr__(self, "params", dict(self.params))

    @property
    def is_oracle(self) -> bool:
        """Whether the mechanism is a frequency oracle."""
        return self.mechanism != ATLAS

    @property
    def epsilon_in_all(self) -> Fraction:
        """Largest epsilon that one person may use in this task."""
        return self.epsilon * self.reports_per_contributor


def _check(task: Parameters) -> None:
    _check_texts(task)
    _check_mechanism(task)
    _check_params(task)
    _check_budget(task)
    _check_times(task)
    _within("min_batch_size", task.min_batch_size, 1, BATCH_MAX)
    if type(task.delete_counts) is not bool:
        raise TaskRefused(
            "delete_counts must be true or absent, but is not", code="delete_counts_not_true"
        )


def check_text(name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise TaskRefused(
            f"{name} must be a string, but is not", code="field_not_text", field=name
        )


def _check_texts(task: Parameters) -> None:
    for name in ("purpose", "locations_sha256", "domain_sha256", "salt"):
        check_text(name, getattr(task, name))
    purpose = task.purpose
    if (
        not 1 <= len(purpose) <= PURPOSE_MAX
        or has_forbidden(purpose)
        or has_blanks(purpose)
        or purpose != purpose.strip(" ")
    ):
        raise TaskRefused(
            f"purpose must be a sentence of 1 to {PURPOSE_MAX} characters, without spaces at "
            "either end and without control, format or private-use characters, got "
            f"{len(purpose)} characters",
            code="purpose_malformed",
            limit=PURPOSE_MAX,
            size=len(purpose),
        )
    if not all(map(_HASH.fullmatch, (task.locations_sha256, task.domain_sha256))):
        raise TaskRefused(
            "hashes must have 64 hexadecimal digits, but one does not", code="hash_malformed"
        )
    if not _SALT.fullmatch(task.salt):
        raise TaskRefused(
            "salt must be 22 characters (16 bytes in base64url), but is not",
            code="salt_malformed",
        )


def _check_mechanism(task: Parameters) -> None:
    names = (ATLAS, *ORACLES)
    if task.mechanism not in names:
        raise TaskRefused(
            f"the mechanism of a task must be one of {', '.join(names)}, got "
            f"{str(task.mechanism)[:40]}",
            code="mechanism_not_for_tasks",
        )
    known = kind_of(task.mechanism).version
    if type(task.version) is not int or task.version != known:
        raise TaskRefused(
            f"{task.mechanism} must have version {known}, the only one supported here, got "
            f"{str(task.version)[:40]}; update nomadp",
            code="mechanism_version_unknown",
            mechanism=task.mechanism,
            known=known,
        )
    if task.is_oracle != (task.length is None):
        raise TaskRefused(
            "an ATLAS task must have a length, and a frequency oracle none",
            code="options_of_another_mechanism",
            mechanism=task.mechanism,
        )
    if task.length is not None:
        _within("length", task.length, 1, LENGTH_MAX)


def _check_params(task: Parameters) -> None:
    params: Any = task.params
    known = _OPTIONS[task.mechanism]
    if (
        not isinstance(params, Mapping)
        or set(params) - {*known}
        or ("zones" in known and "zones" not in params)
        or not all(isinstance(value, str) for value in params.values())
    ):
        raise TaskRefused(
            "params must be empty for atlas, and have the string zones and optionally the "
            f"string when for a frequency oracle, but those of {task.mechanism} do not",
            code="params_malformed",
            mechanism=task.mechanism,
        )
    if not task.is_oracle:
        return
    rule, when = params["zones"], params.get("when")
    if not _RULE.fullmatch(rule) or rule.partition("polygons:")[2] not in (
        "",
        task.domain_sha256,
    ):
        raise TaskRefused(
            "zones must be grid:N, h3:R, or polygons: and the hash of the zones, but are not",
            code="zones_rule_malformed",
        )
    if when is not None and when not in WHEN:
        raise TaskRefused(
            f"when must be {' or '.join(WHEN)}, or absent, but is not", code="when_unknown"
        )


def _check_budget(task: Parameters) -> None:
    epsilon: Any = task.epsilon
    if not isinstance(epsilon, Fraction) or not 0 < epsilon <= EPSILON_REPORT_MAX:
        raise TaskRefused(
            f"the epsilon of a report must be above 0 and at most {EPSILON_REPORT_MAX}, got "
            f"{str(epsilon)[:40]}",
            code="report_epsilon_out_of_range",
            limit=EPSILON_REPORT_MAX,
        )
    _within("reports_per_contributor", task.reports_per_contributor, 1, REPORTS_MAX)
    if task.epsilon_in_all > EPSILON_LIFETIME_MAX:
        raise TaskRefused(
            f"one person must use at most epsilon {EPSILON_LIFETIME_MAX} in a task, got "
            f"{task.reports_per_contributor} reports of {task.epsilon}",
            code="task_epsilon_too_large",
            limit=EPSILON_LIFETIME_MAX,
        )


def _moment(seconds: int) -> str:
    """A time in UTC; in seconds if it is beyond the calendar."""
    if seconds >= 2**37:
        return f"{seconds} s"
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(seconds))


def _days(seconds: int) -> str:
    return f"{seconds / 86_400:g} days"


def _check_times(task: Parameters) -> None:
    low, high = PRECISION_RANGE_S
    _within("time_precision", task.time_precision, low, high)
    for name in ("start", "end", "retention"):
        _within(name, getattr(task, name), 0, INTEGER_MAX // high)
    _within("send_within", task.send_within, 0, SEND_WITHIN_MAX_S)
    duration, unit_s = task.end - task.start, task.time_precision
    if duration < 1 or duration * unit_s > TASK_MAX_S:
        raise TaskRefused(
            "a task must end after it starts and last at most two years, got "
            f"{_moment(task.start * unit_s)} to {_moment(task.end * unit_s)} (UTC)",
            code="task_period_invalid",
            start_s=task.start * unit_s,
            end_s=task.end * unit_s,
        )
    if task.retention * unit_s > RETENTION_MAX_S:
        raise TaskRefused(
            "retention must be at most five years, but is longer",
            code="retention_too_long",
            limit_s=RETENTION_MAX_S,
        )
    if duration > task.retention:
        raise TaskRefused(
            "retention must be at least as long as the task, got "
            f"{_days(task.retention * unit_s)} for a task of {_days(duration * unit_s)}; "
            "lengthen retention or end sooner",
            code="retention_shorter_than_task",
            retention_s=task.retention * unit_s,
            task_s=duration * unit_s,
        )
    if task.send_within > (task.retention - 1) * unit_s:
        raise TaskRefused(
            "send_within must be at least one unit of time shorter than retention, got "
            f"{task.send_within} s and {task.retention} units of {unit_s} s; lengthen "
            "retention by one or send sooner",
            code="retention_shorter_than_delay",
            retention_s=task.retention * unit_s,
            send_within=task.send_within,
        )


def _within(name: str, value: Any, low: int, high: int) -> None:
    if type(value) is not int or not low <= value <= high:
        raise TaskRefused(
            f"{name} must be an integer from {low} to {high}, got {str(value)[:40]}",
            code="task_field_out_of_range",
            field=name,
        )
