"""What reports say about possible truths, against plain sums of the exact law."""

from fractions import Fraction

import numpy as np
import pytest
from posteriors import law, posterior
from worlds import scattered

from nomadp.inference.evidence import TableEvidence, TrajectoryEvidence, near_matrix
from nomadp.mechanisms import make_mechanism
from nomadp.mechanisms.atlas import Atlas, Codebook
from nomadp.mechanisms.atlas.codebook import CodewordResponse

REPORTS = np.array([1, 4, 5])
COUNTS = np.array([3.0, 1.0, 7.0])


def some_journeys(near_count):
    rows = np.random.default_rng(2).permutation(36)[:12]
    book = Codebook(scattered(6), np.stack([rows // 6, rows % 6], axis=1).astype(np.int32))
    return CodewordResponse(book, near_count, Fraction(3))


@pytest.fixture(params=["journeys", "table"])
def evidence(request):
    if request.param == "table":
        return TableEvidence(
            make_mechanism("exp", scattered(6), 3).channel(Fraction(3)), REPORTS
        )
    channel = some_journeys(near_count=3)
    return TrajectoryEvidence(channel, np.random.default_rng(0).integers(0, 6, (9, 2)), REPORTS)


@pytest.fixture
def prior(evidence):
    return np.random.default_rng(1).dirichlet(np.ones(len(evidence.support)))


@pytest.fixture
def chances(evidence):
    truths = evidence.support if evidence.support.shape[1] > 1 else evidence.support[:, 0]
    return law(evidence.channel, truths)


def exactly(prior):
    return [Fraction(float(p)) / sum(map(Fraction, map(float, prior))) for p in prior]


def test_the_chance_of_a_report_is_its_share_over_all_truths(evidence, prior, chances):
    weights = exactly(prior)
    exact = [
        sum(p * row[y] for p, row in zip(weights, chances, strict=True))
        for y in REPORTS.tolist()
    ]
    assert evidence.marginals(prior) == pytest.approx(np.array(exact, dtype=float), rel=1e-6)


def test_every_report_is_explained_once_by_its_posterior(evidence, prior, chances):
    exact = np.zeros(len(prior))
    for count, report in zip(COUNTS, REPORTS.tolist(), strict=True):
        exact += count * np.array(posterior(chances, exactly(prior), report), dtype=float)
    found = evidence.expected_counts(prior, COUNTS)
    assert found == pytest.approx(exact, rel=1e-5)
    assert found.sum() == pytest.approx(COUNTS.sum(), rel=1e-6)


def test_mass_is_the_posterior_gathered_by_label(evidence, prior, chances):
    places, label = np.unique(evidence.support[:, 0], return_inverse=True)
    mass = evidence.posterior(prior, label, len(places), slice(1, 3))
    for row, report in zip(mass, REPORTS[1:].tolist(), strict=True):
        exact = np.array(posterior(chances, exactly(prior), report), dtype=float)
        assert row == pytest.approx(np.bincount(label, weights=exact), rel=1e-5)


def test_where_all_journeys_are_near_no_report_stands_out():
    channel = some_journeys(near_count=12)
    support = np.zeros((2, 2), dtype=np.int64)
    assert near_matrix(channel, support, REPORTS).nnz == 0
    evidence = TrajectoryEvidence(channel, support, REPORTS)
    assert evidence.marginals(np.array([0.5, 0.5])) == pytest.approx(np.full(3, 1 / 12))


def test_the_noise_of_a_mass_is_the_sum_of_squared_shares():
    channel = Atlas(locations=scattered(6), epsilon=3, size=36, near_count=3).channel(2)
    support = np.random.default_rng(0).integers(0, 6, (9, 2))
    evidence = TrajectoryEvidence(channel, support, REPORTS)
    prior = np.random.default_rng(1).dirichlet(np.ones(9))
    each = evidence.posterior(prior, np.arange(9), 9, slice(None)).astype(float)
    label = np.arange(9) % 2
    expected = np.stack([np.bincount(label, row**2, 2) for row in each])
    found = evidence.posterior_variance(prior, label, 2, slice(None))
    assert found == pytest.approx(expected, rel=1e-5)
