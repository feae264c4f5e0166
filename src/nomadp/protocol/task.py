"""A task: one collection with fixed public parameters, whose id is the hash of all of them.

Reports are sent to that id. A collector that wanted to identify people by giving each a
different location set would need a different id for each, which people can compare. A device
checks all parameters before it takes part.
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
# Hashed before the content, so that no other SHA-256 of ours can equal a task id.
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
    """Whether ``text`` has the form of a task id: 43 characters that encode 32 bytes."""
    return _ID.fullmatch(text) is not None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Task(Parameters):
    """The parameters of a collection, with their canonical bytes and their hash as id."""

    def as_dict(self) -> dict[str, Any]:
        domain = "zones_sha256" if self.is_oracle else "atlas_sha256"
        members = {name: getattr(self, name) for name in (*_TEXTS, *_NUMBERS)}
        members |= {"wire_version": WIRE_VERSION, "epsilon": str(self.epsilon)}
        members |= {domain: self.domain_sha256} | (
            {} if self.is_oracle else {"length": self.length}
        )
        if self.delete_counts:
            members["delete_counts"] = True
        law = {"name": self.mechanism, "version": self.version, "params": dict(self.params)}
        return members | {"mechanism": law}

    @cached_property
    def content(self) -> bytes:
        """The canonical bytes, as published."""
        return canonical_bytes(self.as_dict())

    @cached_property
    def id(self) -> str:
        """base64url(SHA-256(SHA-256("nomadp task v1") || canonical bytes))."""
        return base64url(hashlib.sha256(_TAG + self.content).digest())

    @classmethod
    def from_bytes(cls, content: bytes, expected_id: str | None = None) -> "Task":
        """Parse and check a task from an untrusted source.

        Args:
            content: The canonical bytes of the task.
            expected_id: The id that the task must have; by default any.

        Returns:
            The task.

        Raises:
            TaskRefused: The task violates the rules, or has another id.
        """
        try:
            members = parse_canonical(content, "a task", TASK_BYTES_MAX)
            task = cls(**_fields(members))
        except TaskRefused:
            raise
        except NomadpError as refusal:
            raise TaskRefused(str(refusal), **vars(refusal)) from refusal
        if task.content != content:
            raise TaskRefused(
                "a task must be written in its canonical form, but is not",
                code="task_not_canonical",
            )
        if expected_id is not None and task.id != expected_id:
            raise TaskRefused(
                f"the task must be the expected one, {expected_id[:64]}, got {task.id}; do not "
                "take part in a task that differs from the one that others were given",
                code="task_id_mismatch",
                expected=expected_id[:64],
                task_id=task.id,
            )
        return task

    def epoch(self, unix_s: float) -> int:
        """The Unix time ``unix_s``, in units of the task's precision, rounded down."""
        return int(unix_s // self.time_precision)

    def __eq__(self, other: object) -> bool:
        return self.content == other.content if isinstance(other, Task) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.content)

    def __repr__(self) -> str:
        return f"Task({self.id}, {self.mechanism} at epsilon {self.epsilon})"


def _fields(members: dict[str, Any]) -> dict[str, Any]:
    law = members.get("mechanism")
    if not isinstance(law, dict) or set(law) != {"name", "version", "params"}:
        raise TaskRefused(
            "mechanism must have the members name, version and params, and no others",
            code="mechanism_malformed",
        )
    is_oracle = law["name"] in ORACLES
    domain = "zones_sha256" if is_oracle else "atlas_sha256"
    _check_names(members, {domain} if is_oracle else {domain, "length"})
    version = members["wire_version"]
    if type(version) is not int or version != WIRE_VERSION:
        raise TaskRefused(
            f"wire_version must be {WIRE_VERSION}, got another; update nomadp",
            code="wire_version_unknown",
            known=WIRE_VERSION,
        )
    fields = {name: members[name] for name in (*_TEXTS, *_NUMBERS)}
    if members.get("delete_counts", True) is not True:
        raise TaskRefused(
            "delete_counts must be true or absent, but is not", code="delete_counts_not_true"
        )
    fields["delete_counts"] = "delete_counts" in members
    for name in _TEXTS:
        check_text(name, members[name])
    fields |= {"domain_sha256": members[domain], "length": members.get("length")}
    fields |= {"mechanism": law["name"], "version": law["version"], "params": law["params"]}
    epsilon = as_epsilon(members["epsilon"])
    if str(epsilon) != members["epsilon"]:
        raise TaskRefused(
            f"epsilon must be written as {epsilon}, got {members['epsilon'][:40]}",
            code="epsilon_not_canonical",
        )
    return fields | {"epsilon": epsilon}


def _check_names(members: dict[str, Any], of_its_kind: set[str]) -> None:
    known = {*_TEXTS, *_NUMBERS, "wire_version", "mechanism", *of_its_kind}
    names = set(members) - {"delete_counts"}
    if names != known:
        missing, unknown = sorted(known - names), len(names - known)
        raise TaskRefused(
            "a task must have the fields of its mechanism and no others, got "
            f"{unknown} unknown, and {', '.join(missing) or 'none'} missing",
            code="fields_mismatch",
            file="task",
            unknown=unknown,
            missing=missing,
        )
