"""What ``nomadp perturb`` was asked for, what it refuses, and what it says."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nomadp.formats.points import People
    from nomadp.formats.presets import Reading
    from nomadp.formats.tables import SnapSummary
    from nomadp.mechanisms import Mechanism

__all__ = [
    "Request",
    "check_lengths",
    "check_private",
    "people_facts",
    "said_of_people",
    "warnings_of",
]


@dataclass(frozen=True)
class Request:
    """What was asked for on the command line, apart from the mechanism's own options."""

    trajectories: tuple[Path, ...]
    locations: Path
    mechanism: str
    epsilon: str
    out: Path
    seed: int | None
    key_file: Path | None
    jobs: int | None
    keep_tids: bool
    transcript: bool
    single_points: bool
    accept_not_private: bool
    length: int | None
    max_snap_km: float | None
    reading: "Reading"

    @property
    def as_stored(self) -> Path | None:
        """The only file, if its trajectories are perturbed just as they stand in it."""
        changed = self.length or self.reading.columns or self.reading.split_hours
        return None if changed or len(self.trajectories) > 1 else self.trajectories[0]


def check_private(mechanism: "Mechanism", *, accepted: bool) -> None:
    from nomadp.errors import NotPrivateError

    if not mechanism.private and not accepted:
        raise NotPrivateError(
            f"{mechanism.name} is for experiments only; {mechanism.warning}; to use it on data "
            "that nobody needs protected, add --accept-not-private"
        )


def check_lengths(mechanism: "Mechanism", single: int, count: int, *, accepted: bool) -> None:
    """Refuse trajectories of one location, ``single`` of ``count``, if directions are drawn."""
    from nomadp.errors import DomainError

    directed = any(step.name == "direction" for step in mechanism.split(2).steps)
    if single and directed and not accepted:
        raise DomainError(
            "a trajectory must have at least 2 locations to have a direction, got "
            f"{single} of {count} with only 1; leave them out, use exp, or add "
            "--single-points to perturb them without directions"
        )


def people_facts(people: "People | None", mechanism: "Mechanism") -> dict[str, Any]:
    """What each person spends at most; only counts, and only for whoever holds the files."""
    return {
        "people": people and people.count,
        "most_per_person": people and people.most,
        "epsilon_per_person_max": people and people.most * mechanism.epsilon,
    }


def said_of_people(summary: dict[str, Any]) -> str:
    if summary["people"] is None:
        return (
            "no uid says whose they are, so each trajectory counts for itself: a person with "
            "K of them spends K x epsilon"
        )
    return (
        f"{summary['people']} people; each spends up to {summary['most_per_person']} x epsilon "
        f"= {summary['epsilon_per_person_max']}"
    )


def warnings_of(
    request: Request, mechanism: "Mechanism", snapped: "SnapSummary | None" = None
) -> list[str]:
    """What whoever reads the reports must know."""
    warnings = []
    if snapped is not None:
        warnings.append(
            f"{snapped.points} points moved to their nearest locations: half of them at most "
            f"{snapped.median_km:.3f} km, 95 % at most {snapped.p95_km:.3f} km; "
            f"{snapped.moved_over_1km_share:.1%} moved over 1 km"
        )
    if request.seed is not None:
        warnings.append(
            "the output is simulated: it is not private against somebody who knows the seed"
        )
    if not mechanism.private:
        warnings.append(f"the output is not private: {mechanism.warning}")
    if request.keep_tids:
        warnings.append(
            "the reports bear the tids of their trajectories, in the same order: whoever knows "
            "whose a tid is knows whose the report is; leave out --keep-tids for people"
        )
    return warnings
