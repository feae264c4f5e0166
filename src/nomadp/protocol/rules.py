"""What a task says, and every line it must keep to: a device checks it before it takes part."""

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
"""With ATLAS, all that a task may name: their reports are of one size for every journey."""
_HASH = re.compile("[0-9a-f]{64}")
_SALT = re.compile("[A-Za-z0-9_-]{21}[AQgw]")
_OPTIONS = {ATLAS: (), **dict.fromkeys(ORACLES, ("zones", "when"))}
_RULE = re.compile("(grid|h3):(0|[1-9][0-9]{0,3})|polygons:[0-9a-f]{64}")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Parameters:
    """All that fixes a collection; what it may not be is refused by `TaskRefused`."""

    purpose: str
    """A sentence that a contributor reads."""
    mechanism: str
    version: int
    params: Mapping[str, str] = field(default_factory=dict)
    epsilon: Fraction
    """Of one report."""
    length: int | None = None
    """Of every journey reported to ATLAS; a direct question has none."""
    locations_sha256: str
    domain_sha256: str
    """Of the atlas, or of the zones of a direct question."""
    time_precision: int = 86_400
    """Seconds: times are counted in these, since 1970, and never told finer."""
    start: int
    end: int
    """From the first time to before the last."""
    send_within: int = 0
    """Seconds: reports are sent after a random delay of at most so many."""
    reports_per_contributor: int = 1
    min_batch_size: int = 100
    """Fewer reports than that are not analysed."""
    retention: int
    """For how many times a report is kept after its own."""
    delete_counts: bool = False
    """Whether the counts of reports go with them; else they stay to be asked."""
    salt: str
    """22 characters: two tasks that are alike otherwise are two."""

    def __post_init__(self) -> None:
        _check(self)
        object.__setattr__(self, "params", dict(self.params))

    @property
    def is_oracle(self) -> bool:
        """Whether it is a direct question."""
        return self.mechanism != ATLAS

    @property
    def epsilon_in_all(self) -> Fraction:
        """That one person may spend here."""
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
            "delete_counts must be true, or left out, and is not", code="delete_counts_not_true"
        )


def check_text(name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise TaskRefused(f"{name} must be text, and is not", code="field_not_text", field=name)


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
            f"purpose must be a sentence of up to {PURPOSE_MAX} characters that neither begins "
            "nor ends with a blank, without control, format or private-use characters, got "
            f"{len(purpose)} characters",
            code="purpose_malformed",
            limit=PURPOSE_MAX,
            size=len(purpose),
        )
    if not all(map(_HASH.fullmatch, (task.locations_sha256, task.domain_sha256))):
        raise TaskRefused(
            "hashes must have 64 hexadecimal digits, and one has not", code="hash_malformed"
        )
    if not _SALT.fullmatch(task.salt):
        raise TaskRefused(
            "salt must be 22 characters that stand for 16 bytes, and is not",
            code="salt_malformed",
        )


def _check_mechanism(task: Parameters) -> None:
    names = (ATLAS, *ORACLES)
    if task.mechanism not in names:
        raise TaskRefused(
            f"the mechanism of a task must be one of {', '.join(names)}, whose reports are of "
            f"one size, got {str(task.mechanism)[:40]}",
            code="mechanism_not_for_tasks",
        )
    here = kind_of(task.mechanism).version
    if type(task.version) is not int or task.version != here:
        raise TaskRefused(
            f"{task.mechanism} must be of version {here}, the one known here, got "
            f"{str(task.version)[:40]}; update nomadp",
            code="mechanism_version_unknown",
            mechanism=task.mechanism,
            known=here,
        )
    if task.is_oracle != (task.length is None):
        raise TaskRefused(
            "an ATLAS task must have a length, and a direct question none",
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
            f"params of {task.mechanism} must be texts named {' and '.join(known) or 'nothing'}"
            ", and are not",
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
            "zones must be grid:N, h3:R, or polygons: and the hash of the zones, and are not",
            code="zones_rule_malformed",
        )
    if when is not None and when not in WHEN:
        raise TaskRefused(
            f"when must be {' or '.join(WHEN)}, or left out, and is not", code="when_unknown"
        )


def _check_budget(task: Parameters) -> None:
    epsilon: Any = task.epsilon
    if not isinstance(epsilon, Fraction) or not 0 < epsilon <= EPSILON_REPORT_MAX:
        raise TaskRefused(
            f"epsilon of a report must be above 0 and at most {EPSILON_REPORT_MAX}, got "
            f"{str(epsilon)[:40]}",
            code="report_epsilon_out_of_range",
            limit=EPSILON_REPORT_MAX,
        )
    _within("reports_per_contributor", task.reports_per_contributor, 1, REPORTS_MAX)
    if task.epsilon_in_all > EPSILON_LIFETIME_MAX:
        raise TaskRefused(
            f"one person must spend at most {EPSILON_LIFETIME_MAX} in a task, got "
            f"{task.reports_per_contributor} reports of {task.epsilon}",
            code="task_epsilon_too_large",
            limit=EPSILON_LIFETIME_MAX,
        )


def _moment(seconds: int) -> str:
    """Of a time that people know; the largest that a task may name are in no calendar."""
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
    lasts, second = task.end - task.start, task.time_precision
    if lasts < 1 or lasts * second > TASK_MAX_S:
        raise TaskRefused(
            "a task must end after it starts, and within two years, got a start at "
            f"{_moment(task.start * second)} and an end at {_moment(task.end * second)} (UTC)",
            code="task_period_invalid",
            start_s=task.start * second,
            end_s=task.end * second,
        )
    if task.retention * second > RETENTION_MAX_S:
        raise TaskRefused(
            "reports must be kept for at most five years, got a longer retention",
            code="retention_too_long",
            limit_s=RETENTION_MAX_S,
        )
    if lasts > task.retention:
        raise TaskRefused(
            "reports must be kept until the task ends, got a retention of "
            f"{_days(task.retention * second)} and {_days(lasts * second)} from start to end; "
            "lengthen retention or end sooner",
            code="retention_shorter_than_task",
            retention_s=task.retention * second,
            task_s=lasts * second,
        )
    if task.send_within > (task.retention - 1) * second:
        raise TaskRefused(
            "reports must be sent while they are still kept, got send_within of "
            f"{task.send_within} s and a retention of {task.retention} times {second} s; "
            "lengthen retention by one or send sooner",
            code="retention_shorter_than_delay",
            retention_s=task.retention * second,
            send_within=task.send_within,
        )


def _within(name: str, value: Any, low: int, high: int) -> None:
    if type(value) is not int or not low <= value <= high:
        raise TaskRefused(
            f"{name} must be a whole number from {low} to {high}, got {str(value)[:40]}",
            code="task_field_out_of_range",
            field=name,
        )
