"""The fast path of TP and ATP: the mechanism as numbers, for the compiled loops."""

from functools import partial
from typing import Any

import numpy as np

from nomadp.geometry import Floats, mean_lat_lng
from nomadp.laws import Ints, RandomizedResponse, SquareWave
from nomadp.locations import LocationSet
from nomadp.mechanisms.base import Reported
from nomadp.mechanisms.fast.limits import has_tables
from nomadp.mechanisms.fast.tables import tables_of
from nomadp.mechanisms.fast.values import Batch, Drawn, Plan
from nomadp.mechanisms.fast.word_rows import ceiling, draw_rows
from nomadp.mechanisms.large.ball_tree import sorted_places
from nomadp.mechanisms.pivot.merge import merge_many
from nomadp.mechanisms.pivot.radii import radii_km
from nomadp.mechanisms.pivot.tp import PivotSampling
from nomadp.randomness import RandomSource
from nomadp.sequences import by_length
from nomadp.trajectory import TrajectorySet

__all__ = ["draw_many", "pivot_plan", "sample_copies"]


def draw_many(
    mechanism: PivotSampling, trajectories: TrajectorySet, randomness: RandomSource
) -> Reported:
    copies, coins = sample_copies(mechanism, trajectories, randomness)
    start = np.repeat(trajectories.offsets[:-1], trajectories.lengths)
    positions = np.arange(len(coins)) - start
    merged = merge_many(mechanism.merge, mechanism.locations, copies, coins, positions)
    return Reported(merged, None)


def sample_copies(
    mechanism: PivotSampling, trajectories: TrajectorySet, randomness: RandomSource
) -> tuple[Ints, Ints]:
    """Both perturbed copies, (2, points), and the coins of the merge."""
    locations, plan = mechanism.locations, pivot_plan(mechanism, trajectories.lengths)
    means = np.zeros(len(trajectories), dtype=np.int64)
    if plan.anchor[1] > 0:
        means = _mean_locations(locations, trajectories)
    if has_tables(locations):
        from nomadp.mechanisms.pivot import kernel

        tables = tables_of(locations, mechanism.sectors)
        run = partial(_run, mechanism, plan, (kernel, tables, np.arange(len(locations))))
        drawn = draw_rows(run, trajectories, randomness, means)
        return drawn.copies, drawn.coins
    from nomadp.mechanisms.pivot import kernel_large

    place = sorted_places(locations)
    run = partial(
        _run, mechanism, plan, (kernel_large, place.balls(mechanism.sectors), place.order)
    )
    drawn = draw_rows(run, place.ranked(trajectories), randomness, place.rank[means])
    return place.order[drawn.copies], drawn.coins


def _run(
    mechanism: PivotSampling, plan: Plan, loops: tuple[Any, Any, Ints], batch: Batch, out: Drawn
) -> None:
    """Draw copy by copy, first the discs, then the points.

    ``loops`` are a module of kernels, its public tables, and the location of each index.
    """
    from nomadp.mechanisms.fast.draws import toss_coins

    kernel, public, order = loops
    for copy in range(2):
        anchors = np.full(len(out.used), -1)
        radius_km = np.zeros(len(anchors))
        if plan.anchor[1] > 0:
            kernel.draw_anchors(batch, public, plan, out, anchors)
            unsorted = batch._replace(locations=order[batch.locations])
            radius_km = _radii_km(mechanism, unsorted, order[anchors], out.used)
        kernel.draw_copies(batch, public, plan, out, copy, anchors, radius_km)
    toss_coins(batch, plan, out)


def _radii_km(mechanism: PivotSampling, batch: Batch, anchors: Ints, used: Ints) -> Floats:
    """The radius of each row: the fixed one, or drawn with the row's next word."""
    fixed_km = getattr(mechanism, "radius_km", None)
    if fixed_km is not None:
        return np.full(len(anchors), float(fixed_km))
    share = mechanism.split(2).shares(1)["radius"]  # the same at every length
    channel = SquareWave(getattr(mechanism, "resolution", 1), share)
    # A row that has run out of words is drawn again, so any word will do for it here.
    column = np.minimum(used, batch.words.shape[1] - 1)
    words = batch.words[np.arange(len(column)), column]
    used += 1
    return radii_km(mechanism.locations, channel, anchors, batch, words)


def _mean_locations(locations: LocationSet, trajectories: TrajectorySet) -> Ints:
    """The location nearest to each trajectory's mean: the secret of ATP's anchor."""
    means = np.empty(len(trajectories), dtype=np.int64)
    for length, rows in by_length(trajectories):
        points = trajectories.locations[trajectories.offsets[rows] + np.arange(length)[:, None]]
        lat, lng = mean_lat_lng(locations.lat[points], locations.lng[points])
        means[rows] = locations.nearest(lat, lng)
    return means


def pivot_plan(mechanism: PivotSampling, lengths: Ints) -> Plan:
    """Shares and ceilings by copy and length, for every length that occurs, and options."""
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
    anchor = mechanism.split(2).shares(1).get("anchor")  # the same at every length
    return Plan(
        diameter_km=mechanism.locations.diameter_km,
        pivot=pivot,
        point=point,
        heavy=heavy,
        anchor=(float(anchor), float(ceiling(anchor))) if anchor else (0.0, 0.0),
        sectors=mechanism.sectors,
        both=mechanism.directions == "both",
        coin=mechanism.merge == "coin",
        alone=len(mechanism.copies(1)) == 1,
    )
