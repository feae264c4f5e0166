"""A task: one collection with fixed public parameters, named by the hash of all of them.

The id IS the hash, and every report goes to it: a collector that wanted to tell people apart by
giving each another location set would need another id for each, which they can compare. A
device checks every line here before it takes part.
"""

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from nomadp.budget import as_epsilon
from nomadp.errors import NomadpError, TaskRefused
from nomadp.protocol.canonical import base64url, canonical_bytes, parse_canonical
from nomadp.protocol.ceilings import TASK_BYTES_MAX
from nomadp.protocol.rules import ATLAS, ORACLES, Parameters, check_text

__all__ = ["ATLAS", "ORACLES", "WIRE_VERSION", "Task", "is_task_id"]

WIRE_VERSION = 1
_TAG = hashlib.sha256(b"nomadp task v1").digest()
_ID = re.compile("[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]")
_TEXTS = ("purpose", "epsilon", "locations_sha256", "salt")
_NUMBERS = (
    "time_precision",
    "start",
    "end",
    "send_within",
    "reports_per_contributor",
    "min_batch_size",
    "retention",
)


def is_task_id(text: str) -> bool:
    """Whether it could be one: 43 characters that stand for 32 bytes."""
    return _ID.fullmatch(text) is not None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Task(Parameters):
    """The parameters of a collection as they travel, under the id that is their hash."""

    def as_dict(self) -> dict[str, Any]:
        book = "zones_sha256" if self.is_oracle else "atlas_sha256"
        said = {name: getattr(self, name) for name in (*_TEXTS, *_NUMBERS)}
        said |= {"wire_version": WIRE_VERSION, "epsilon": str(self.epsilon)}
        said |= {book: self.domain_sha256} | ({} if self.is_oracle else {"length": self.length})
        if self.delete_counts:
            said["delete_counts"] = True
        law = {"name": self.mechanism, "version": self.version, "params": dict(self.params)}
        return said | {"mechanism": law}

    @cached_property
    def content(self) -> bytes:
        """The canonical bytes that travel."""
        return canonical_bytes(self.as_dict())

    @cached_property
    def id(self) -> str:
        """base64url(SHA-256(SHA-256("nomadp task v1") || canonical bytes))."""
        return base64url(hashlib.sha256(_TAG + self.content).digest())

    @classmethod
    def from_bytes(cls, content: bytes, expected_id: str | None = None) -> "Task":
        """A task that somebody wrote, who is not trusted; of this id if one is expected."""
        try:
            said = parse_canonical(content, "a task", TASK_BYTES_MAX)
            task = cls(**_fields(said))
        except TaskRefused:
            raise
        except NomadpError as refusal:
            raise TaskRefused(str(refusal), **vars(refusal)) from refusal
        if task.content != content:
            raise TaskRefused(
                "a task must be written as its own fields are, and is not",
                code="task_not_canonical",
            )
        if expected_id is not None and task.id != expected_id:
            raise TaskRefused(
                f"the task must be the one that was expected, {expected_id[:64]}, got "
                f"{task.id}; take part in none that differs from what others were given",
                code="task_id_mismatch",
                expected=expected_id[:64],
                task_id=task.id,
            )
        return task

    def epoch(self, unix_s: float) -> int:
        """The time of a moment, in units of the task's precision."""
        return int(unix_s // self.time_precision)

    def __eq__(self, other: object) -> bool:
        return self.content == other.content if isinstance(other, Task) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.content)

    def __repr__(self) -> str:
        return f"Task({self.id}, {self.mechanism} at epsilon {self.epsilon})"


def _fields(said: dict[str, Any]) -> dict[str, Any]:
    law = said.get("mechanism")
    if not isinstance(law, dict) or set(law) != {"name", "version", "params"}:
        raise TaskRefused(
            "mechanism must have a name, a version and params, and nothing else",
            code="mechanism_malformed",
        )
    asks = law["name"] in ORACLES
    book = "zones_sha256" if asks else "atlas_sha256"
    _check_names(said, {book} if asks else {book, "length"})
    if type(said["wire_version"]) is not int or said["wire_version"] != WIRE_VERSION:
        raise TaskRefused(
            f"wire_version must be {WIRE_VERSION}, got another; update nomadp",
            code="wire_version_unknown",
            known=WIRE_VERSION,
        )
    given = {name: said[name] for name in (*_TEXTS, *_NUMBERS)}
    if said.get("delete_counts", True) is not True:
        raise TaskRefused(
            "delete_counts must be true, or left out, and is not", code="delete_counts_not_true"
        )
    given["delete_counts"] = "delete_counts" in said
    for name in _TEXTS:
        check_text(name, said[name])
    given |= {"domain_sha256": said[book], "length": said.get("length")}
    given |= {"mechanism": law["name"], "version": law["version"], "params": law["params"]}
    epsilon = as_epsilon(said["epsilon"])
    if str(epsilon) != said["epsilon"]:
        raise TaskRefused(
            f"epsilon must be written as {epsilon}, got {said['epsilon'][:40]}",
            code="epsilon_not_canonical",
        )
    return given | {"epsilon": epsilon}


def _check_names(said: dict[str, Any], of_its_kind: set[str]) -> None:
    known = {*_TEXTS, *_NUMBERS, "wire_version", "mechanism", *of_its_kind}
    given_names = set(said) - {"delete_counts"}
    if given_names != known:
        missing, strange = sorted(known - given_names), len(given_names - known)
        raise TaskRefused(
            "a task must have the fields of its kind and no others, got "
            f"{strange} unknown and without {', '.join(missing) or 'none'}",
            code="fields_mismatch",
            file="task",
            unknown=strange,
            missing=missing,
        )
