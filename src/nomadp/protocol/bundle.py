"""A task bundle: a task and the public files that its hashes refer to."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from nomadp.errors import NomadpError, TaskRefused
from nomadp.locations import LocationSet
from nomadp.mechanisms import Mechanism, make_mechanism
from nomadp.mechanisms.atlas import PinnedCodebooks
from nomadp.mechanisms.oracles import FrequencyOracle
from nomadp.protocol.ceilings import LABELS_MAX, LOCATIONS_MAX
from nomadp.protocol.public_files import (
    atlas_bytes,
    locations_bytes,
    parse_atlas,
    parse_locations,
    parse_zones,
    zones_bytes,
)
from nomadp.protocol.task import Task
from nomadp.protocol.values import ValueCode
from nomadp.zones import Zones

__all__ = ["TaskBundle"]


@dataclass(frozen=True, eq=False)
class TaskBundle:
    """A task, its locations, and its domain: a codebook, or the zones of a frequency oracle.

    Raises `TaskRefused` unless the files match the task's hashes and define its mechanism.
    """

    task: Task
    """The parameters of the collection."""
    locations: LocationSet
    """The public location set."""
    domain: PinnedCodebooks | Zones
    """The codebook of an ATLAS task, or the zones of a frequency oracle."""

    def __post_init__(self) -> None:
        if len(self.locations) > LOCATIONS_MAX:
            raise TaskRefused(
                f"a task must have at most {LOCATIONS_MAX} locations, got "
                f"{len(self.locations)}",
                code="too_many_locations",
                limit=LOCATIONS_MAX,
                locations=len(self.locations),
            )
        hashes = (self.locations.sha256, self.domain.sha256)
        if hashes != (self.task.locations_sha256, self.task.domain_sha256):
            raise TaskRefused(
                "the files of a task must have the hashes in the task, but have others; fetch "
                "them again, and do not take part if they still differ",
                code="task_file_hash_mismatch",
            )
        self.mechanism  # noqa: B018 - refused now if it cannot be constructed

    @cached_property
    def mechanism(self) -> Mechanism:
        """The mechanism, determined by the task and these files alone."""
        task, options = self.task, dict[str, Any](self.task.params)
        if task.is_oracle != isinstance(self.domain, Zones):
            raise TaskRefused(
                "an ATLAS task must have a codebook, and a frequency-oracle task zones",
                code="codebook_of_another_mechanism",
                mechanism=task.mechanism,
            )
        if isinstance(self.domain, Zones):
            if options["zones"] != self.domain.rule:
                raise TaskRefused(
                    "zones must follow the rule in the task, but follow another",
                    code="zones_rule_mismatch",
                )
            options["zones"] = self.domain
        else:
            if self.domain.lengths != (task.length,):
                raise TaskRefused(
                    f"the codebook must have the length {task.length}, and no other",
                    code="codebook_length_mismatch",
                    length=task.length,
                )
            options["pinned"] = self.domain
        try:
            mechanism = make_mechanism(task.mechanism, self.locations, task.epsilon, **options)
            self._check_law(mechanism)
        except TaskRefused:
            raise
        except NomadpError as refusal:
            raise TaskRefused(str(refusal), **vars(refusal)) from refusal
        except ValueError as refusal:
            raise TaskRefused(str(refusal), code="mechanism_impossible") from refusal
        return mechanism

    def _check_law(self, mechanism: Mechanism) -> None:
        if isinstance(mechanism, FrequencyOracle) and mechanism.label_count > LABELS_MAX:
            raise TaskRefused(
                f"a frequency oracle must have at most {LABELS_MAX} labels, got "
                f"{mechanism.label_count}; choose larger zones",
                code="too_many_labels",
                limit=LABELS_MAX,
                labels=mechanism.label_count,
            )
        law = mechanism.report_law(self.report_length)
        # Fails now if a codeword is outside the set, or 64-bit words cannot keep its share.
        if law is None or not len(law.channel.outputs if law.whole else [law.channel]):
            raise TaskRefused(
                "reports of a task must contain everything that was released, but do not",
                code="report_law_unknown",
            )

    @property
    def report_length(self) -> int:
        """Length of reported trajectories; 1 for a frequency oracle, which hides the length."""
        return self.task.length or 1

    @cached_property
    def code(self) -> ValueCode:
        """The encoding of a report; its size is the same for every trajectory."""
        return ValueCode.of(self.mechanism, self.report_length)

    @cached_property
    def files(self) -> dict[str, bytes]:
        """The public files by name, as in a folder and below the task's URL."""
        if isinstance(self.domain, Zones):
            return {
                "locations": locations_bytes(self.locations),
                "zones": zones_bytes(self.domain),
            }
        return {"locations": locations_bytes(self.locations), "atlas": atlas_bytes(self.domain)}

    @classmethod
    def from_files(cls, task: Task, files: dict[str, bytes]) -> "TaskBundle":
        """Parse and check files from an untrusted source."""
        name = "zones" if task.is_oracle else "atlas"
        if missing := {"locations", name} - set(files):
            raise TaskRefused(
                f"a task must have the files {' and '.join(sorted(missing))}, but does not",
                code="task_file_missing",
                files=sorted(missing),
            )
        try:
            locations = parse_locations(files["locations"])
            domain: PinnedCodebooks | Zones
            domain = (
                parse_zones(files[name], locations)
                if task.is_oracle
                else parse_atlas(files[name])
            )
            return cls(task, locations, domain)
        except TaskRefused:
            raise
        except NomadpError as refusal:
            raise TaskRefused(str(refusal), **vars(refusal)) from refusal
