"""TP and ATP, many trajectories at once: as numbers for the compiled loops."""

import math
from functools import partial
from typing import Any

import numpy as np

from nomadp.geometry import mean_lat_lng
from nomadp.laws import Ints, RandomizedResponse, SquareWave, heaviest
from nomadp.laws.channel import UNIT
from nomadp.locations import LocationSet
from nomadp.mechanisms.base import Reported
from nomadp.mechanisms.fast.limits import has_tables
from nomadp.mechanisms.fast.rows import ceiling, draw_rows
from nomadp.mechanisms.fast.tables import tables_of
from nomadp.mechanisms.fast.values import Balls, Batch, Drawn, Plan
from nomadp.mechanisms.large.ball_tree import sorted_places
from nomadp.mechanisms.pivot.calibration import ALL_UP_TO, calibration_sample
from nomadp.mechanisms.pivot.merge import merge_many
from nomadp.mechanisms.pivot.tp import PivotSampling
from nomadp.randomness import Words
from nomadp.trajectory import TrajectorySet

__all__ = ["draw_many", "pivot_balls", "pivot_plan", "sample_copies"]


def draw_many(mechanism: PivotSampling, trajectories: TrajectorySet, words: Words) -> Reported:
    copies, coins = sample_copies(mechanism, trajectories, words)
    start = np.repeat(trajectories.offsets[:-1], trajectories.lengths)
    positions = np.arange(len(coins)) - start
    merged = merge_many(mechanism.merge, mechanism.locations, copies, coins, positions)
    return Reported(merged, None)


def sample_copies(
    mechanism: PivotSampling, trajectories: TrajectorySet, words: Words
) -> tuple[Ints, Ints]:
    """Both perturbed copies, (2, points), and the coins of the merge."""
    means = _mean_locations(mechanism.locations, trajectories)
    plan = pivot_plan(mechanism, trajectories.lengths)
    # The tables' kernel calibrates a radius over all locations, which the law does up to here.
    if has_tables(mechanism.locations) and len(mechanism.locations) <= ALL_UP_TO:
        from nomadp.mechanisms.pivot.kernel import pivot_sampling

        tables = tables_of(mechanism.locations, mechanism.sectors)
        run = partial(_run, pivot_sampling, tables, plan)
        drawn = draw_rows(run, trajectories, words, means)
        return drawn.copies, drawn.coins
    from nomadp.mechanisms.pivot.kernel_large import pivot_sampling

    place = sorted_places(mechanism.locations)
    run = partial(_run, pivot_sampling, pivot_balls(mechanism), plan)
    drawn = draw_rows(run, place.ranked(trajectories), words, place.rank[means])
    return place.order[drawn.copies], drawn.coins


def _mean_locations(locations: LocationSet, trajectories: TrajectorySet) -> Ints:
    """The location nearest to each trajectory's mean, from which ATP draws its anchors."""
    means = np.empty(len(trajectories), dtype=np.int64)
    lengths = trajectories.lengths
    for length in np.unique(lengths):
        these = np.flatnonzero(lengths == length)
        points = trajectories.locations[
            trajectories.offsets[these] + np.arange(length)[:, None]
        ]
        lat, lng = mean_lat_lng(locations.lat[points], locations.lng[points])
        means[these] = locations.nearest(lat, lng)
    return means


def pivot_balls(mechanism: PivotSampling) -> Balls:
    """What is public about a large set: its tree, and the calibration's sample."""
    place = sorted_places(mechanism.locations)
    sample = place.columns(calibration_sample(len(mechanism.locations)))
    return place.balls(mechanism.sectors)._replace(sample=sample)


def _run(kernel: Any, public: Any, plan: Plan, batch: Batch, out: Drawn) -> None:
    kernel(batch, public, plan, out)


def pivot_plan(mechanism: PivotSampling, lengths: Ints) -> Plan:
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
    )


Region = tuple[tuple[float, float], tuple[int, int, int], tuple[float, float, float]]


def _region_plan(mechanism: PivotSampling) -> Region:
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
