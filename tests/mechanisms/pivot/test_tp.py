"""TP: budgets, roles and domains as the strict form has them."""

from fractions import Fraction

import numpy as np
import pytest
from refusals import refused
from worlds import scattered, small_map

from nomadp.audit import measure
from nomadp.errors import DomainError, InvalidArgument
from nomadp.laws import Exponential
from nomadp.mechanisms import PivotSampling
from nomadp.mechanisms.pivot.tp import Region


class Recording:
    """Takes the first output everywhere and remembers what was asked."""

    def __init__(self):
        self.asked = []

    def __call__(self, step, channel, secret):
        self.asked.append((step, channel, int(np.asarray(0 if secret is None else secret))))
        return int(channel.outputs[0])

    def each(self, tasks):
        return [program(secret, self) for program, secret in tasks]


@pytest.mark.parametrize("length", [2, 3, 4, 9])
def test_splits_epsilon_as_section_6_1_2_of_the_paper(length):
    split = PivotSampling(locations=scattered(5), epsilon=2).split(length)
    for copy in (1, 2):
        shares = split.shares(copy)
        assert shares["direction"] == Fraction(3 * 2, 8 * (length - 1))
        assert shares["pivot"] == shares["point"] == Fraction(2, 8 * length)
    directions = [step.count for step in split.steps if step.name == "direction"]
    assert directions == [length - 1, length - 1]


def test_a_single_location_gets_all_of_epsilon_at_once():
    split = PivotSampling(locations=scattered(5), epsilon=2).split(1)
    assert [(step.name, step.count, step.share) for step in split.steps] == [("pivot", 1, 2)]


def test_pivots_are_the_odd_positions_and_then_the_even_ones():
    recording = Recording()
    mechanism = PivotSampling(locations=scattered(9), epsilon=1)
    mechanism.perturb(np.array([4, 5, 6]), recording)
    asked = [
        (step, secret) for step, _, secret in recording.asked if step in ("pivot", "point")
    ]
    assert asked == [
        ("pivot", 4), ("pivot", 6), ("point", 5),
        ("pivot", 5), ("point", 4), ("point", 6),
    ]  # fmt: skip


def test_with_preceding_directions_only_the_first_position_is_unrestricted():
    mechanism = PivotSampling(locations=scattered(9), epsilon=1, directions="preceding")
    counts = [
        (step.copy, step.count) for step in mechanism.split(5).steps if step.name == "direction"
    ]
    assert counts == [(1, 2), (2, 2)]
    # Copy 2 of two locations has no preceding pivot: its points get the directions' budget.
    assert mechanism.split(2).shares(2) == {"pivot": Fraction(1, 4), "point": Fraction(1, 4)}


def test_a_target_is_drawn_from_the_reported_sectors():
    locations = scattered(30)
    mechanism = PivotSampling(locations=locations, epsilon=1, granularity=4)
    region = Region(np.arange(30), locations.diameter_km)
    channel = mechanism._point(region, [3, 8], [1, 2], Fraction(1, 8))
    both = (locations.sectors(3, 4) == 1) & (locations.sectors(8, 4) == 2)
    expected = np.flatnonzero(both) if both.any() else np.arange(30)
    assert channel.outputs.tolist() == expected.tolist()


def test_an_empty_sector_leaves_the_domain_as_it_was():
    locations = small_map(4)
    mechanism = PivotSampling(locations=locations, epsilon=1, granularity=12)
    region = Region(np.arange(4), locations.diameter_km)
    empty = next(d for d in range(12) if not (locations.sectors(0, 12) == d).any())
    channel = mechanism._point(region, [0], [empty], Fraction(1, 8))
    assert isinstance(channel, Exponential)
    assert channel.outputs.tolist() == [0, 1, 2, 3]


def test_the_pivots_own_location_lies_in_its_sector_zero():
    locations = small_map(4)
    mechanism = PivotSampling(locations=locations, epsilon=1, granularity=6)
    region = Region(np.arange(4), locations.diameter_km)
    assert 2 in mechanism._inside(region, [2], [0])


@pytest.mark.parametrize("options", [
    {"directions": "preceding"}, {"merge": "direction"}, {"merge": "first-index"},
    {"granularity": "formula"}, {"granularity": 12},
])  # fmt: skip
def test_every_option_keeps_epsilon(options):
    mechanism = PivotSampling(locations=small_map(4), epsilon=1, **options)
    for length in (1, 2, 3):
        found = measure(mechanism, length)
        assert found.ok
        assert found.transcript_loss <= 1


@pytest.mark.parametrize(
    ("options", "choices"),
    [
        ({"merge": "best"}, ("coin", "first-index", "direction")),
        ({"directions": "one"}, ("both", "preceding")),
        ({"granularity": "fine"}, ("table", "formula")),
    ],
)
def test_refuses_options_it_does_not_have(options, choices):
    (parameter,) = options
    with refused(InvalidArgument, "unknown_choice", parameter=parameter, choices=choices):
        PivotSampling(locations=scattered(5), epsilon=1, **options)


def test_refuses_one_sector():
    facts = {"parameter": "granularity", "least": 2, "most": 64}
    with refused(DomainError, "parameter_out_of_range", **facts):
        PivotSampling(locations=scattered(5), epsilon=1, granularity=1)
