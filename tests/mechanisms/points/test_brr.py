"""BRR: the k nearest against the rest, with the best k."""

import math
from fractions import Fraction

import numpy as np
import pytest
from refusals import refused
from worlds import scattered, triangle

from nomadp.audit import measure
from nomadp.errors import DomainError
from nomadp.laws import heaviest, probabilities
from nomadp.locations import LocationSet
from nomadp.mechanisms import BipartiteResponse
from nomadp.mechanisms.points import brr as bipartite
from nomadp.mechanisms.points.brr import best_near_count

SHARES = [Fraction(1, 20), Fraction(1, 2), Fraction(2), Fraction(8)]


def line(*at_km: float) -> LocationSet:
    """Locations on the equator, so many kilometres east of the first."""
    ids = [str(k) for k in range(len(at_km))]
    return LocationSet.from_columns(ids, [0.0] * len(at_km), np.array(at_km) / 111.195)


def expected_km(mechanism, share, location):
    law = probabilities(mechanism.channel(share), location)
    return law @ mechanism.locations.distances_km(location)


def test_the_law_by_hand():
    mechanism = BipartiteResponse(locations=triangle(), epsilon=2, near_count=2)
    low, high = 2**24, heaviest(2**24, Fraction(1))
    weight = mechanism.channel(Fraction(1)).weights(np.arange(3))
    assert weight.tolist() == [[high, high, low], [high, high, low], [low, high, high]]


def test_every_point_gets_an_equal_share():
    split = BipartiteResponse(locations=triangle(), epsilon=2).split(4)
    assert [(step.name, step.count, step.share) for step in split.steps] == [
        ("point", 4, Fraction(1, 2))
    ]


@pytest.mark.parametrize(("gain", "best"), [(0.1, 2), (0.6, 2), (0.7, 1), (100.0, 1)])
def test_the_best_number_by_hand(gain, best):
    # With e^share - 1 = g: the sums of the k smallest distances from 0, 1 and 10 km are
    # (0, 1, 11), (0, 1, 10), (0, 9, 19), on average 0, 11/3 and 40/3. So one candidate errs
    # by (40/3) / (g + 3), two by (11 g/3 + 40/3) / (2 g + 3): less while g < 7/11.
    assert best_near_count(line(0, 1, 10), Fraction(math.log1p(gain))) == best


@pytest.mark.parametrize("share", SHARES)
def test_no_other_number_errs_less_under_a_uniform_prior(share):
    locations = scattered(25)
    mean_km = [
        np.mean([expected_km(mechanism, share, x) for x in range(25)])
        for k in range(1, 26)
        for mechanism in [BipartiteResponse(locations=locations, epsilon=1, near_count=k)]
    ]
    assert mean_km[best_near_count(locations, share) - 1] == pytest.approx(min(mean_km))


def test_more_budget_means_fewer_candidates():
    counts = [best_near_count(scattered(60), share) for share in SHARES]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[-1] == 1


def test_a_large_set_is_represented_by_evenly_spaced_locations(monkeypatch):
    locations, asked = scattered(600, seed=5), []
    every = best_near_count(locations, Fraction(1))
    monkeypatch.setattr(bipartite, "PRIOR_PAIRS", 200 * 600)
    bipartite._mean_nearest_sums_km.cache_clear()
    measured = LocationSet.distances_km
    monkeypatch.setattr(
        LocationSet, "distances_km", lambda self, i: asked.append(i) or measured(self, i)
    )
    assert best_near_count(locations, Fraction(1)) == pytest.approx(every, rel=0.2)
    assert len(set(asked)) == 200
    assert (asked[0], asked[-1]) == (0, 599)
    bipartite._mean_nearest_sums_km.cache_clear()


def test_spends_all_of_epsilon_and_not_more():
    found = measure(BipartiteResponse(locations=triangle(), epsilon=5.5), 1)
    assert found.flags == ()
    assert 5.499999 < found.transcript_loss <= 5.5


@pytest.mark.parametrize("near_count", [0, -1, 4])
def test_refuses_a_number_there_is_not(near_count):
    with refused(DomainError, "parameter_out_of_range", parameter="near_count"):
        BipartiteResponse(locations=triangle(), epsilon=1, near_count=near_count)
