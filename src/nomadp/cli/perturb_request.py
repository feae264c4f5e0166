"""What ``nomadp perturb`` was asked for, what it refuses, and what it says."""

from dataclasses import dataclass
from errno import ENOENT
from os import strerror
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from nomadp.formats.tables import SnapSummary
    from nomadp.mechanisms import Mechanism

__all__ = [
    "Request",
    "check_lengths",
    "check_out",
    "check_private",
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
    keep_tids: bool
    transcript: bool
    single_points: bool
    accept_not_private: bool


def check_out(request: Request) -> None:
    from nomadp.formats.files import file_path

    out = file_path(request.out).resolve()
    if not out.parent.is_dir():
        raise FileNotFoundError(ENOENT, strerror(ENOENT), str(request.out.parent))
    if out in (request.trajectories.resolve(), request.locations.resolve()):
        raise click.UsageError("--out must name a new file, got one of the inputs")


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
