"""What ``nomadp perturb`` was asked for, what it refuses, and what it says."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nomadp

if TYPE_CHECKING:
    from nomadp.formats.tables import SnapSummary
    from nomadp.mechanisms import Mechanism

__all__ = [
    "Request",
    "check_lengths",
    "check_private",
    "metadata_of",
    "warnings_of",
]


@dataclass(frozen=True)
class Request:
    """What was asked for on the command line, apart from the mechanism's own options."""

    trajectories: Path
    locations: Path
    mechanism: str
    epsilon: str
    out: Path
    seed: int | None
    key_file: Path | None
    jobs: int | None
    unlink: bool
    single_points: bool
    accept_not_private: bool


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


def metadata_of(request: Request, mechanism: "Mechanism") -> dict[str, Any]:
    """What reports say about themselves."""
    simulated = request.seed is not None
    rng = "seeded" if simulated else "system" if request.key_file is None else "keyed"
    return {
        "mechanism": mechanism.name,
        "mechanism_version": mechanism.version,
        "epsilon": str(mechanism.epsilon),
        "params": mechanism.get_params(),
        "location_set_sha256": mechanism.locations.sha256,
        "rng": rng,
        "private": mechanism.private and not simulated,
        "linked": not request.unlink,
        "nomadp_version": nomadp.__version__,
    }


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
    return warnings
