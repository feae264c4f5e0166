"""All that a device needs to take part: a task, and the public files that its hashes name."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from nomadp.errors import NomadpError, TaskRefused
from nomadp.locations import LocationSet
from nomadp.mechanisms import Mechanism, make_mechanism
from nomadp.mechanisms.atlas import PinnedCodebooks
from nomadp.mechanisms.oracles import FrequencyOracle
from nomadp.protocol.ceilings import LABELS_MAX, LOCATIONS_MAX
from nomadp.protocol.files import (
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
    """A task, its locations, and its book: the atlas, or the zones of a direct question.

    Refused (`TaskRefused`) unless they are what the task's hashes name and make its mechanism.
    """

    task: Task
    locations: LocationSet
    domain: PinnedCodebooks | Zones

    def __post_init__(self) -> None:
        if len(self.locations) > LOCATIONS_MAX:
            raise TaskRefused(
                f"a task must have at most {LOCATIONS_MAX} locations, got "
                f"{len(self.locations)}",
                code="too_many_locations",
                limit=LOCATIONS_MAX,
                locations=len(self.locations),
            )
        found = (self.locations.sha256, self.domain.sha256)
        if found != (self.task.locations_sha256, self.task.domain_sha256):
            raise TaskRefused(
                "locations and atlas or zones must have the hashes that the task names, and "
                "have others; fetch them again, and take part in nothing if it stays so",
                code="task_file_hash_mismatch",
            )
        self.mechanism  # noqa: B018 - refused now if it cannot be made

    @cached_property
    def mechanism(self) -> Mechanism:
        """What perturbs: fixed by the task and these files, and by nothing else."""
        task, options = self.task, dict[str, Any](self.task.params)
        if task.is_oracle != isinstance(self.domain, Zones):
            raise TaskRefused(
                "an ATLAS task must have an atlas, a direct question zones",
                code="codebook_of_another_mechanism",
                mechanism=task.mechanism,
            )
        if isinstance(self.domain, Zones):
            if options["zones"] != self.domain.rule:
                raise TaskRefused(
                    "zones must be made by the rule that the task names",
                    code="zones_rule_mismatch",
                )
            options["zones"] = self.domain
        else:
            if self.domain.lengths != (task.length,):
                raise TaskRefused(
                    f"the atlas must be of length {task.length} alone",
                    code="codebook_length_mismatch",
                    length=task.length,
                )
            options["pinned"] = self.domain
        try:
            made = make_mechanism(task.mechanism, self.locations, task.epsilon, **options)
            self._check_law(made)
        except TaskRefused:
            raise
        except NomadpError as refusal:
            raise TaskRefused(str(refusal), **vars(refusal)) from refusal
        except ValueError as refusal:
            raise TaskRefused(str(refusal), code="mechanism_impossible") from refusal
        return made

    def _check_law(self, made: Mechanism) -> None:
        if isinstance(made, FrequencyOracle) and made.label_count > LABELS_MAX:
            raise TaskRefused(
                f"a question must have at most {LABELS_MAX} labels, got {made.label_count}; "
                "take larger zones",
                code="too_many_labels",
                limit=LABELS_MAX,
                labels=made.label_count,
            )
        law = made.report_law(self.report_length)
        # Refused now if a journey leaves the set, or if words cannot keep its share.
        if law is None or not len(law.channel.outputs if law.whole else [law.channel]):
            raise TaskRefused(
                "reports of a task must tell what was released, and do not",
                code="report_law_unknown",
            )

    @property
    def report_length(self) -> int:
        """Of the journeys that are reported; 1 for a direct question, which tells of none."""
        return self.task.length or 1

    @cached_property
    def code(self) -> ValueCode:
        """How a report is written, in as many bytes for every journey."""
        return ValueCode.of(self.mechanism, self.report_length)

    @cached_property
    def files(self) -> dict[str, bytes]:
        """The public files by the name they have in a folder and behind the task's address."""
        if isinstance(self.domain, Zones):
            return {
                "locations": locations_bytes(self.locations),
                "zones": zones_bytes(self.domain),
            }
        return {"locations": locations_bytes(self.locations), "atlas": atlas_bytes(self.domain)}

    @classmethod
    def from_files(cls, task: Task, files: dict[str, bytes]) -> "TaskBundle":
        """From bytes that somebody sent, who is not trusted."""
        book = "zones" if task.is_oracle else "atlas"
        if missing := {"locations", book} - set(files):
            raise TaskRefused(
                f"a task must come with {' and '.join(sorted(missing))}",
                code="task_file_missing",
                files=sorted(missing),
            )
        try:
            locations = parse_locations(files["locations"])
            made: PinnedCodebooks | Zones
            made = (
                parse_zones(files[book], locations)
                if task.is_oracle
                else parse_atlas(files[book])
            )
            return cls(task, locations, made)
        except TaskRefused:
            raise
        except NomadpError as refusal:
            raise TaskRefused(str(refusal), **vars(refusal)) from refusal
