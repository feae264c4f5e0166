"""TP and ATP as numbers for the kernels."""

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from nomadp.laws import Ints, RandomizedResponse, SquareWave, heaviest
from nomadp.laws.channel import UNIT
from nomadp.mechanisms.bulk import (
    ceiling,
    draw_rows,
    has_tables,
    mean_locations,
    tables_of,
)
from nomadp.mechanisms.calibration import ALL_UP_TO
from nomadp.mechanisms.kernels.compiling import is_compiled
from nomadp.mechanisms.kernels.values import Batch, Drawn, Plan
from nomadp.mechanisms.nested import sorted_places
from nomadp.randomness import Words
from nomadp.trajectory import TrajectorySet

if TYPE_CHECKING:
    from nomadp.mechanisms.pivot import PivotSampling

__all__ = ["pivot_plan", "sample_copies"]


def sample_copies(
    mechanism: "PivotSampling", trajectories: TrajectorySet, words: Words, first: int
) -> tuple[Ints, Ints]:
    """Both perturbed copies, (2, points), and the coins of the merge."""
    means = mean_locations(mechanism.locations, trajectories)
    plan = pivot_plan(mechanism, trajectories.lengths)
    # The tables' kernel calibrates a radius over all locations, which the law does up to here.
    if has_tables(mechanism.locations) and len(mechanism.locations) <= ALL_UP_TO:
        if is_compiled():
            from nomadp.mechanisms.kernels.pivot import pivot_sampling
        else:
            from nomadp.mechanisms.plain.pivot import pivot_sampling

        tables = tables_of(mechanism.locations, mechanism.sectors)
        run = partial(_run, pivot_sampling, tables, plan)
        drawn = draw_rows(run, trajectories, words, first, means)
        return drawn.copies, drawn.coins
    if is_compiled():
        from nomadp.mechanisms.kernels.large import pivot_sampling
    else:
        from nomadp.mechanisms.plain.large import pivot_sampling

    place = sorted_places(mechanism.locations)
    run = partial(_run, pivot_sampling, place.balls(mechanism.sectors), plan)
    drawn = draw_rows(run, place.ranked(trajectories), words, first, place.rank[means])
    return place.order[drawn.copies], drawn.coins


def _run(kernel: Any, public: Any, plan: Plan, batch: Batch, out: Drawn) -> None:
    kernel(batch, public, plan, out)


def pivot_plan(mechanism: "PivotSampling", lengths: Ints) -> Plan:
    """Shares and ceilings for every length that occurs, and the options."""
    longest = int(lengths.max())
    pivot, point = np.zeros((2, longest + 1, 2)), np.zeros((2, longest + 1, 2))
    heavy = np.zeros((2, longest + 1), dtype=np.int64)
    for length in np.unique(lengths).tolist():
        for row, copy in enumerate(mechanism.copies(length)):
            shares = mechanism.split(length).shares(copy)
            for name, table in (("pivot", pivot), ("point", point)):
                if name in shares:
                    table[row, length] = float(shares[name]), ceiling(shares[name])
            if "direction" in shares:
                response = RandomizedResponse(mechanism.sectors, shares["direction"])
                heavy[row, length] = response.weights(0)[0]
    anchor, wave, calibration = _region_plan(mechanism)
    return Plan(
        diameter_km=mechanism.locations.diameter_km,
        pivot=pivot,
        point=point,
        heavy=heavy,
        anchor=anchor,
        wave=wave,
        calibration=calibration,
        sectors=mechanism.sectors,
        both=mechanism.directions == "both",
        coin=mechanism.merge == "coin",
        alone=len(mechanism.copies(1)) == 1,
        union=mechanism.adds_the_truth,
    )


Region = tuple[tuple[float, float], tuple[int, int, int], tuple[float, float, float]]


def _region_plan(mechanism: "PivotSampling") -> Region:
    # Anchor and radius have the same shares at every length.
    shares = mechanism.split(2).shares(1)
    if "anchor" not in shares:
        return (0.0, 0.0), (1, 0, UNIT), (0.0, 0.0, -1.0)
    anchor = float(shares["anchor"]), float(ceiling(shares["anchor"]))
    fixed_km = getattr(mechanism, "radius_km", None)
    if fixed_km is not None:
        return anchor, (1, 0, UNIT), (0.0, 0.0, float(fixed_km))
    channel = SquareWave(getattr(mechanism, "resolution", 1), shares["radius"])
    odds, width = math.exp(float(channel.share)), channel.reach / channel.resolution
    density = min(1.0, odds / (2 * width * odds + 1))
    wave = channel.resolution, channel.reach, heaviest(UNIT, channel.share)
    return anchor, wave, (float(channel.share), density, -1.0)
