"""Estimates of single points, against the exact posterior."""

from fractions import Fraction

import numpy as np
import pytest
from posteriors import expected_km, law, posterior
from refusals import refused
from worlds import scattered

from nomadp.errors import DomainError
from nomadp.inference import points
from nomadp.inference.points import PointDecoder
from nomadp.inference.prior import Features, Prior
from nomadp.mechanisms import make_mechanism

KM = Fraction(1, 10**4)  # single precision


@pytest.fixture(params=["exp", "brr", "l-srr"])
def mechanism(request):
    return make_mechanism(request.param, scattered(7), 3)


@pytest.fixture(params=["flat", "learned"])
def decoder(request, mechanism):
    features = Features(mechanism.locations)
    scores = np.random.default_rng(2).normal(0, 0.4, len(features))
    prior = None if request.param == "flat" else Prior(features, scores)
    return PointDecoder(mechanism.report_law(2), prior, 0.7)


def exact_parts(decoder):
    prior = [Fraction(float(w)) for w in decoder.weights]
    return [p / sum(prior) for p in prior], law(decoder.law.channel, range(7))


def test_each_report_gets_the_location_with_the_smallest_expected_error(decoder):
    prior, chances = exact_parts(decoder)
    found = decoder.decode(np.arange(7)).locations
    for report in range(7):
        mass = posterior(chances, prior, report)
        every = [
            expected_km(decoder.law.locations, mass, range(7), answer) for answer in range(7)
        ]
        assert every[found[report]] <= min(every) + KM


def test_never_worse_than_the_best_constant_in_expectation(decoder):
    prior, chances = exact_parts(decoder)
    locations = decoder.law.locations
    found = decoder.decode(np.arange(7)).locations.tolist()
    joint = [[p * row[y] for p, row in zip(prior, chances, strict=True)] for y in range(7)]
    decoded = sum(expected_km(locations, joint[y], range(7), found[y]) for y in range(7))
    constant = min(expected_km(locations, prior, range(7), c) for c in range(7))
    assert decoded <= constant + KM


def test_the_credible_radius_covers_at_its_level_under_the_prior(decoder):
    prior, chances = exact_parts(decoder)
    found = decoder.decode(np.arange(7))
    covered = Fraction(0)
    for y in range(7):
        km = decoder.law.locations.distances_km(int(found.locations[y]))
        covered += sum(
            prior[x] * chances[x][y] for x in range(7) if km[x] <= found.radius_km[y]
        )
    assert covered >= Fraction(7, 10) - Fraction(1, 10**5)


def test_keeps_the_shape_of_what_it_decodes(mechanism):
    decoder = PointDecoder(mechanism.report_law(2))
    assert decoder.decode(np.array([[1, 2, 2], [0, 6, 1]])).locations.shape == (2, 3)


def test_refuses_locations_outside_the_set(mechanism):
    with refused(DomainError, "report_out_of_range", size=7):
        PointDecoder(mechanism.report_law(2)).decode(np.array([7]))


def test_refuses_a_set_too_large_for_its_table(mechanism, monkeypatch):
    monkeypatch.setattr(points, "TABLE_LIMIT", 6)
    with refused(DomainError, "point_table_too_large", locations=7, most=6):
        PointDecoder(mechanism.report_law(2)).decode(np.array([0]))
