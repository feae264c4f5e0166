"""NGRAM: what is drawn, and how two draws become one location."""

from fractions import Fraction
from itertools import pairwise, product
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from many import drawn_many
from refusals import refused
from worlds import final_law, part_laws, scattered, small_map, triangle

from nomadp.audit import measure
from nomadp.drawing import draw
from nomadp.errors import DomainError
from nomadp.laws import TableExponential
from nomadp.locations import LocationSet
from nomadp.mechanisms import Ngram, perturb_one
from nomadp.mechanisms.ngram.batch import _picked
from nomadp.mechanisms.ngram.mechanism import cheapest_path
from nomadp.randomness import SeededRandom
from nomadp.trajectory import TrajectorySet


@pytest.fixture
def five():
    """Two locations south-west, one south-east, two north-west; the north-east is empty."""
    return LocationSet.from_columns(
        list("abcde"), [0.0, 0.02, 0.0, 0.1, 0.09], [0.0, 0.01, 0.1, 0.0, 0.04]
    )


@pytest.mark.parametrize("length", [2, 3, 7])
def test_both_ends_and_every_step_get_the_same_share(five, length):
    split = Ngram(locations=five, epsilon=2).split(length)
    share = Fraction(2, length + 1)
    assert [(step.name, step.count, step.share) for step in split.steps] == [
        ("end", 2, share),
        ("step", length - 1, share),
    ]


def test_a_single_location_is_one_end_with_all_of_epsilon(five):
    (step,) = Ngram(locations=five, epsilon=2).split(1).steps
    assert (step.name, step.count, step.share) == ("end", 1, 2)


def test_the_law_of_a_single_location_by_hand(five):
    mechanism = Ngram(locations=five, epsilon=3, grid=2)
    between = mechanism.regions.distances_km
    law = final_law(mechanism, part_laws(mechanism, (1,)))
    region = np.exp(-3 * between[0] / (2 * between.max()))
    region /= region.sum()
    expected = region[[0, 0, 1, 2, 2]] / np.array([2, 2, 1, 2, 2])
    assert [float(law[y,]) for y in range(5)] == pytest.approx(expected, rel=1e-6)


def test_a_step_is_drawn_over_pairs_with_twice_the_span(five):
    asked = []

    class Listening:
        def __call__(self, step, channel, secret):
            asked.append((step, channel, secret))
            return 0

    mechanism = Ngram(locations=five, epsilon=3, grid=2)
    for program, secret in mechanism.parts(np.array([2, 4])):
        program(secret, Listening())
    (_, end, first), (name, step, pair), (_, _, last) = asked
    assert (first, name, pair, last) == (1, "step", 1 * 3 + 2, 2)
    assert step.outputs.tolist() == list(range(9))
    between = mechanism.regions.distances_km
    assert step.span_km == 2 * end.span_km == 2 * between.max()
    for a, b, c, d in product(range(3), repeat=4):
        assert step.table_km[a * 3 + b, c * 3 + d] == between[a, c] + between[b, d]


def test_the_reconciliation_is_the_cheapest_region_with_ties_at_random(five):
    """The definition, spelled out: every argmin of the summed distance, with equal chances."""
    mechanism = Ngram(locations=five, epsilon=4, grid=2)
    between, members = mechanism.regions.distances_km, [[0, 1], [2], [3, 4]]
    parts = part_laws(mechanism, (0, 3))
    expected: dict = {}
    for combination in product(*(values.items() for _, values in parts)):
        (first, pair, last), chance = (
            [v for v, _ in combination],
            prod(p for _, p in combination),
        )
        positions = []
        for covering in ((first, pair // 3), (pair % 3, last)):
            cost = between[covering[0]] + between[covering[1]]
            ties = np.flatnonzero(cost <= cost.min() + 1e-9)
            positions.append(
                {y: Fraction(1, len(ties) * len(members[r])) for r in ties for y in members[r]}
            )
        for one, other in product(*positions):
            here = chance * positions[0][one] * positions[1][other]
            expected[one, other] = expected.get((one, other), 0) + here
    assert final_law(mechanism, parts) == expected


@pytest.mark.slow
@pytest.mark.parametrize("max_step_km", [None, 5.0])
def test_reports_follow_the_exact_law_of_longer_trajectories_in_the_audit(five, max_step_km):
    mechanism = Ngram(locations=five, epsilon=2, grid=2, max_step_km=max_step_km)
    found = measure(mechanism, 2)
    assert found.flags == ()
    laws = [
        final_law(mechanism, part_laws(mechanism, inputs))
        for inputs in product(range(5), repeat=2)
    ]
    worst = max(max(law[y] for law in laws) / min(law[y] for law in laws) for y in laws[0])
    assert found.final_loss == pytest.approx(float(np.log(float(worst))), abs=1e-8)


def test_impossible_steps_are_neither_drawn_nor_reported():
    locations = scattered(60)
    mechanism = Ngram(locations=locations, epsilon=1, grid=4, max_step_km=20.0)
    possible = mechanism.regions.reachable(20.0)
    assert not possible.all()
    for k in range(50):
        reported = perturb_one(mechanism, [0, 30, 7, 59, 12], SeededRandom(3).stream(k))
        region = mechanism.regions.of[list(reported)]
        assert possible[region[:-1], region[1:]].all()


def test_an_impossible_true_step_is_drawn_from_the_possible_ones():
    mechanism = Ngram(locations=triangle(), epsilon=1, grid=2, max_step_km=0.1)
    (_, _), (step, pair), (_, _) = mechanism.parts(np.array([0, 2]))
    channels = []

    class Listening:
        def __call__(self, step, channel, secret):
            channels.append(channel)
            return 0

    step(pair, Listening())
    (channel,) = channels
    assert isinstance(channel, TableExponential)
    assert int(pair) not in channel.outputs
    assert len(channel.outputs) == len(mechanism.regions)  # only staying is possible


@pytest.mark.parametrize("max_step_km", [0.1, 20.0, 45.0])
def test_bulk_reports_are_single_reports_under_a_bound_too(max_step_km):
    mechanism = Ngram(locations=scattered(60), epsilon=5, grid=4, max_step_km=max_step_km)
    assert not mechanism.regions.reachable(max_step_km).all()
    rng = np.random.default_rng(2)
    some = TrajectorySet.from_lists(
        [rng.integers(0, 60, n % 7 + 1) for n in range(60)], size=60
    )
    alone = [perturb_one(mechanism, some[k], SeededRandom(3).stream(k)) for k in range(60)]
    assert drawn_many(mechanism, some, SeededRandom(3)).tolist() == [
        y for t in alone for y in t
    ]


@given(st.integers(0, 8), st.integers(0, 9), st.integers(-1, 1))
def test_a_word_picks_the_references_column_also_at_the_edges(secret, column, beside):
    mechanism = Ngram(locations=small_map(4), epsilon=3, grid=2)
    channel = mechanism._step_law(Fraction(1))
    cumulated = np.cumsum(channel.weights(secret))
    before = ([0, *cumulated.tolist()])[min(column, len(cumulated))]
    word = min(max(-(-before * 2**64 // int(cumulated[-1])) + beside, 0), 2**64 - 1)
    words = np.array([word], dtype=np.uint64)
    picked = _picked(cumulated[None], np.zeros(1, dtype=np.int64), words)[0]
    assert channel.outputs[picked] == draw(channel, secret, word)


def test_a_wide_bound_changes_nothing():
    free, bound = (
        Ngram(locations=triangle(), epsilon=2, grid=2, max_step_km=km) for km in (None, 1e6)
    )
    laws = [final_law(m, part_laws(m, (0, 2))) for m in (free, bound)]
    assert laws[0] == laws[1]


def test_the_cheapest_path_is_the_cheapest_of_all_ways():
    rng = np.random.default_rng(1)
    possible = rng.random((4, 4)) < 0.5
    np.fill_diagonal(possible, True)
    costs = [rng.random((6, 4)) for _ in range(4)]
    found = np.array(cheapest_path(costs, possible))
    for case in range(6):
        ways = [
            way
            for way in product(range(4), repeat=4)
            if all(possible[a, b] for a, b in pairwise(way))
        ]
        best = min(
            ways, key=lambda way: sum(c[case, r] for c, r in zip(costs, way, strict=True))
        )
        assert tuple(found[:, case]) == best


@pytest.mark.parametrize("grid", [0, 7, -1])
def test_refuses_a_grid_out_of_range(five, grid):
    with refused(DomainError, "parameter_out_of_range", parameter="grid", least=1, most=6):
        Ngram(locations=five, epsilon=1, grid=grid)


@pytest.mark.parametrize("max_step_km", [0.0, -1.0, float("nan"), float("inf")])
def test_refuses_a_step_bound_that_is_none(five, max_step_km):
    with refused(DomainError, "parameter_out_of_range", parameter="max_step_km", least=0.001):
        Ngram(locations=five, epsilon=1, max_step_km=max_step_km)
