"""Checks, summary and warnings of ``nomadp perturb``, for every engine."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nomadp.cli.output import say
from nomadp.cli.thinning import thinning_of

if TYPE_CHECKING:
    from nomadp.formats.point_files import SnapSummary
    from nomadp.formats.points import People
    from nomadp.mechanisms import Mechanism
    from nomadp.reports.header import Header

__all__ = ["check_lengths", "check_private", "direct_source", "people_sentence", "summary_of"]


def direct_source(options: dict[str, Any]) -> Path | None:
    """The single input file, if its trajectories are perturbed unchanged."""
    selected = any(options[name] for name in ("length", "columns", "split_hours"))
    changed = selected or bool(thinning_of(options))
    sources: tuple[Path, ...] = options["trajectories"]
    return None if changed or len(sources) > 1 else sources[0]


def check_private(mechanism: "Mechanism", *, accepted: bool) -> None:
    from nomadp.errors import NotPrivateError

    if not mechanism.private and not accepted:
        raise NotPrivateError(
            f"{mechanism.name} is for experiments only; {mechanism.warning}; to use it on data "
            "that needs no protection, add --accept-not-private",
            code="mechanism_not_private",
            mechanism=mechanism.name,
        )


def check_lengths(
    mechanism: "Mechanism", single: int, count: int, options: dict[str, Any]
) -> None:
    """Refuse trajectories of one location (``single`` of ``count``) if directions are drawn.

    Also suggests numba, if there are enough trajectories for it to matter.
    """
    from nomadp.errors import DomainError
    from nomadp.mechanisms.dispatch import needs_numba

    needs_direction = any(step.name == "direction" for step in mechanism.split(2).steps)
    if single and needs_direction and not options["single_points"]:
        raise DomainError(
            "a trajectory must have at least 2 locations to have a direction, got "
            f"{single} of {count} with only 1; remove them, use exp, or add --single-points to "
            "perturb them without directions",
            code="single_points",
            single=single,
            count=count,
        )
    if needs_numba(mechanism, count):
        say(
            "nomadp: numba is not installed, so the much slower reference program runs; for "
            'compiled loops: pip install "nomadp[fast]"',
            err=True,
        )


def summary_of(
    options: dict[str, Any],
    mechanism: "Mechanism",
    header: "Header",
    people: "People | None",
    snapped: "SnapSummary | None" = None,
) -> dict[str, Any]:
    """Facts about the run for the owner of the files, with nothing about people but counts."""
    return {
        **header.as_dict(),
        "people": people and people.count,
        "most_per_person": people and people.most,
        "epsilon_per_person_max": people and people.most * mechanism.epsilon,
        "snapped": None if snapped is None else asdict(snapped),
        "warnings": _warnings(options, mechanism, snapped),
    }


def people_sentence(summary: dict[str, Any]) -> str:
    if summary["people"] is None:
        return (
            "there is no uid column, so the budget is per trajectory: a person with K "
            "trajectories uses K x epsilon"
        )
    return (
        f"{summary['people']} people; each uses up to {summary['most_per_person']} x epsilon "
        f"= {summary['epsilon_per_person_max']}"
    )


def _warnings(
    options: dict[str, Any], mechanism: "Mechanism", snapped: "SnapSummary | None"
) -> list[str]:
    """Facts that readers of the reports must know."""
    warnings = []
    if snapped is not None:
        warnings.append(
            f"{snapped.points} points were moved to their nearest locations: median "
            f"{snapped.median_km:.3f} km, 95th percentile {snapped.p95_km:.3f} km; "
            f"{100 * snapped.moved_over_1km_share:.1f} % moved more than 1 km"
        )
    if options["seed"] is not None:
        warnings.append(
            "the output is simulated: it is not private from anyone who knows the seed"
        )
    if not mechanism.private:
        warnings.append(f"the output is not private: {mechanism.warning}")
    if options["keep_tids"]:
        warnings.append(
            "the reports keep the tids and the order of their trajectories: anyone who can "
            "link a tid to a person can link the report; do not use --keep-tids for real people"
        )
    return warnings
