"""ATLAS' Bayes estimates, against the exact posterior on worlds small enough to enumerate."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from many import drawn_many, drawn_numbers
from posteriors import expected_km, law, posterior
from refusals import refused
from reported import reported
from worlds import scattered

from nomadp.errors import DomainError
from nomadp.inference import codebook_decoder, decode
from nomadp.inference.codebook_decoder import CodebookDecoder, possible_trajectories
from nomadp.inference.evidence import TrajectoryEvidence
from nomadp.inference.prior import Features, Prior
from nomadp.mechanisms.atlas import Atlas, Codebook, PinnedCodebooks
from nomadp.mechanisms.atlas.codebook import CodebookTable, CodewordResponse
from nomadp.randomness import SeededRandom
from nomadp.reports.counts import drop_impossible
from nomadp.trajectory import TrajectorySet

KM = 1e-4  # single precision


def atlas(epsilon=2, size=12, near_count=3, **options):
    """With a book of some journeys of 2 and of 3 points."""
    locations, pages = scattered(6), []
    for length in (2, 3):
        every = np.indices((6,) * length).reshape(length, -1).T.astype(np.int32)
        some = np.random.default_rng(1).permutation(len(every))[:size]
        pages.append(CodebookTable(every[np.sort(some)], near_count, math.nan))
    made = PinnedCodebooks(locations.sha256, "by hand", Fraction(epsilon), None, tuple(pages))
    return Atlas(locations=locations, epsilon=epsilon, pinned=made, **options)


def some_prior(locations):
    features = Features(locations)
    return Prior(features, np.random.default_rng(4).normal(0, 0.3, len(features)))


@pytest.fixture(params=["flat", "learned"])
def decoder(request):
    mechanism = atlas()
    prior = None if request.param == "flat" else some_prior(mechanism.locations)
    return CodebookDecoder(mechanism.report_law(2), prior, 0.8)


def exact_parts(decoder):
    support = decoder.support
    prior = [Fraction(float(w)) for w in decoder.weights]
    total = sum(prior)
    return support, [p / total for p in prior], law(decoder.channel, support)


def test_the_posterior_is_the_exact_one(decoder):
    support, prior, chances = exact_parts(decoder)
    evidence = TrajectoryEvidence(decoder.channel, support, np.arange(12))
    places, label = np.unique(support[:, 1], return_inverse=True)
    mass = evidence.posterior(decoder.weights, label, len(places), slice(None))
    for report in range(12):
        true = posterior(chances, prior, report)
        by_place = [
            sum(p for p, k in zip(true, label, strict=True) if k == c) for c in range(6)
        ]
        assert mass[report] == pytest.approx(np.array(by_place, dtype=float), rel=1e-5)
        seen = sum(p * row[report] for p, row in zip(prior, chances, strict=True))
        assert evidence.marginals(decoder.weights)[report] == pytest.approx(
            float(seen), rel=1e-9
        )


def test_each_position_gets_the_location_with_the_smallest_expected_error(decoder):
    support, prior, chances = exact_parts(decoder)
    found = decoder.decode(np.arange(12))
    locations = decoder.law.locations
    for report, position in product(range(12), range(2)):
        mass, truths = posterior(chances, prior, report), support[:, position].tolist()
        every = [expected_km(locations, mass, truths, c) for c in range(6)]
        assert every[found.locations[report, position]] <= min(every) + Fraction(KM)


def test_never_worse_than_the_best_constant_in_expectation(decoder):
    support, prior, chances = exact_parts(decoder)
    found = decoder.decode(np.arange(12)).locations
    locations = decoder.law.locations
    for position in range(2):
        truths = support[:, position].tolist()
        constant = min(expected_km(locations, prior, truths, c) for c in range(6))
        decoded = sum(
            expected_km(
                locations,
                [p * row[y] for p, row in zip(prior, chances, strict=True)],
                truths,
                int(found[y, position]),
            )
            for y in range(12)
        )
        assert decoded <= constant + Fraction(KM)
        assert decoded < Fraction(9, 10) * constant  # at this epsilon, clearly better


def test_the_credible_radius_covers_at_its_level_under_the_prior(decoder):
    support, prior, chances = exact_parts(decoder)
    found = decoder.decode(np.arange(12))
    distance = decoder.law.locations.distances_between_km
    for position in range(2):
        covered = Fraction(0)
        for y in range(12):
            km = distance(support[:, position], found.locations[y, position])
            inside = km <= found.radius_km[y, position]
            joint = [p * row[y] for p, row in zip(prior, chances, strict=True)]
            covered += sum(j for j, hit in zip(joint, inside, strict=True) if hit)
        assert covered >= Fraction(8, 10) - Fraction(1, 10**5)


def test_without_information_every_report_means_the_best_constant():
    found = CodebookDecoder(atlas(near_count=12).report_law(2)).decode(np.arange(12)).locations
    assert len(np.unique(found, axis=0)) == 1


def test_a_sure_report_means_the_journey_itself():
    mechanism = atlas(epsilon=20, size=36, near_count=1)
    found = CodebookDecoder(mechanism.report_law(2)).decode(np.arange(36))
    assert found.locations.tolist() == mechanism.atlas(2).codewords.tolist()
    assert not found.radius_km.any()


def test_of_a_made_atlas_every_report_means_the_journey_itself_until_a_prior_is_learned():
    mechanism = Atlas(locations=scattered(120), epsilon=3, size=9)
    book = mechanism.atlas(2)
    every = np.arange(book.size)
    flat = CodebookDecoder(mechanism.report_law(2))
    assert flat.decode(every).locations.tolist() == book.codewords.tolist()
    learned = CodebookDecoder(mechanism.report_law(2), some_prior(mechanism.locations))
    assert learned.decode(every).locations.tolist() != book.codewords.tolist()
    otherwise = mechanism.with_params(near_count=5)  # the answers are made for another channel
    assert not CodebookDecoder(otherwise.report_law(2)).returns_codeword


def test_looking_up_hardly_errs_more_than_the_posterior(monkeypatch):
    mechanism = Atlas(locations=scattered(100), epsilon=4, size=8)
    locations, every = mechanism.locations, np.arange(8)
    found = CodebookDecoder(mechanism.report_law(2)).decode(every).locations
    monkeypatch.setattr(CodebookDecoder, "returns_codeword", False)
    decoder = CodebookDecoder(mechanism.report_law(2))
    best = decoder.decode(every).locations
    evidence = TrajectoryEvidence(decoder.channel, decoder.support, every)
    for position in range(2):
        truths = decoder.support[:, position]
        mass = evidence.posterior(
            decoder.weights, np.arange(len(truths)), len(truths), slice(None)
        )
        off = [
            (mass * locations.distances_between_km(truths, answers[:, position, None])).sum()
            for answers in (found, best)
        ]
        assert off[1] <= off[0] * 1.001
        assert off[0] <= off[1] * 1.02


def test_decodes_in_pieces_what_it_decodes_at_once(monkeypatch):
    whole = CodebookDecoder(atlas().report_law(2)).decode(np.arange(12))
    monkeypatch.setattr(codebook_decoder, "_ROWS", 5)
    decoder = CodebookDecoder(atlas().report_law(2))
    first, again = decoder.decode(np.array([3, 3, 1])), decoder.decode(np.arange(12))
    assert first.locations.tolist() == whole.locations[[3, 3, 1]].tolist()
    assert again.locations.tolist() == whole.locations.tolist()
    assert again.radius_km.tolist() == whole.radius_km.tolist()


def test_decodes_nothing_to_nothing():
    assert CodebookDecoder(atlas().report_law(2)).decode(
        np.zeros(0, dtype=np.int64)
    ).locations.shape == (
        0,
        2,
    )


def test_possible_truths_are_fresh_walks_more_for_a_larger_atlas():
    locations = scattered(60)
    every = np.indices((60, 60, 60)).reshape(3, -1).T.astype(np.int32)
    few, many = (
        CodewordResponse(Codebook(locations, every[:size]), 1, Fraction(4)) for size in (4, 200)
    )
    assert [len(possible_trajectories(one)) for one in (few, many)] == [8192, 12800]


def test_with_few_locations_every_journey_is_possible_once():
    assert sorted(map(tuple, possible_trajectories(atlas().channel(2)).tolist())) == list(
        product(range(6), repeat=2)
    )


def test_a_long_trajectory_is_decoded_through_its_control_points():
    mechanism = atlas(control_points=3)
    control = CodebookDecoder(mechanism.report_law(3)).decode(np.arange(12))
    long = CodebookDecoder(mechanism.report_law(9)).decode(np.arange(12))
    assert long.locations.shape == (12, 9)
    assert long.locations[:, [0, 4, 8]].tolist() == control.locations.tolist()
    assert long.radius_km[:, [0, 4, 8]].tolist() == control.radius_km.tolist()
    between = np.maximum(control.radius_km[:, 0], control.radius_km[:, 1])
    assert long.radius_km[:, 2].tolist() == between.tolist()


@pytest.mark.parametrize("length", [1, 2, 11])
def test_reports_are_found_again_from_the_journeys_they_stand_for(length):
    mechanism = Atlas(locations=scattered(40), epsilon=4, size=16, control_points=4)
    rows = np.random.default_rng(length).integers(0, 40, (30, length))
    true = TrajectorySet.from_lists(list(rows), size=40)
    reports = drawn_numbers(mechanism, true, SeededRandom(1))
    shown = drawn_many(mechanism, true, SeededRandom(1)).reshape(30, length)
    found = mechanism.report_law(length).values(shown)
    book = mechanism.atlas(length).codewords
    assert book[found].tolist() == book[reports].tolist()
    assert mechanism.report_law(length).values(shown, reports).tolist() == reports.tolist()


def test_a_report_that_is_no_row_of_the_atlas_is_known_for_one():
    book = atlas().atlas(2).codewords
    every = {tuple(row) for row in book.tolist()}
    missing = next(pair for pair in product(range(6), repeat=2) if pair not in every)
    places, law = np.array([book[3], missing]), atlas().report_law(2)
    assert law.values(places).tolist() == [3, -1]
    assert law.values(places, np.array([3, 3])).tolist() == [3, -1]
    assert law.values(places, np.array([12, -7])).tolist() == [-1, -1]
    assert law.values(places, np.array([4, 2**60])).tolist() == [-1, -1]


def test_reports_that_cannot_be_are_refused_or_left_out():
    mechanism = atlas()
    book = mechanism.atlas(2).codewords.tolist()
    missing = next(pair for pair in product(range(6), repeat=2) if list(pair) not in book)
    reports = reported(mechanism, [book[3], missing, book[5]])
    with refused(DomainError, "impossible_reports"):
        decode(mechanism, reports)
    left = drop_impossible(mechanism, reports)
    assert (left.ids, left.n_refused) == (("0", "2"), 1)
    assert len(decode(mechanism, left)) == 4


@pytest.mark.parametrize("reports", [[12], [-1], [[0]]])
def test_refuses_numbers_that_are_no_rows_of_the_atlas(reports):
    with refused(DomainError, "report_out_of_range", size=12):
        CodebookDecoder(atlas().report_law(2)).decode(np.array(reports))
