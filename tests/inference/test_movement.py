"""Steps are believed where reports demand them, and only there."""

import numpy as np
import pytest
from worlds import scattered

from nomadp.analysis.populations import simulated_reports
from nomadp.inference import movement
from nomadp.inference.codebook_decoder import possible_trajectories
from nomadp.inference.empirical_bayes import LOG_BAYES_FACTOR_MIN
from nomadp.inference.evidence import TrajectoryEvidence
from nomadp.inference.movement import log_bayes_factor_of_steps
from nomadp.inference.penalised_likelihood import with_features
from nomadp.inference.prior import Features
from nomadp.mechanisms.atlas import Atlas
from nomadp.walks import public_walks

PLACES = scattered(200)


def odds(rows, people, **options):
    """Of a crowd of so many, each on one of some journeys."""
    channel = Atlas(locations=PLACES, **options).channel(rows.shape[1])
    each = np.full(len(rows), people // len(rows))
    counts = simulated_reports(channel, rows, each, np.random.default_rng(0)).astype(float)
    kinds = np.flatnonzero(counts)
    evidence = TrajectoryEvidence(channel, possible_trajectories(channel), kinds)
    return log_bayes_factor_of_steps(
        [with_features(Features(PLACES), evidence)], [counts[kinds]]
    )


def walkers():
    """On the shorter ones of public walks, more of them in the south."""
    walks = public_walks(PLACES, 2, 4000, "test").astype(np.int64)
    near = walks[PLACES.distances_between_km(*walks.T) < PLACES.diameter_km / 4]
    south = PLACES.lat[near[:, 0]] < np.median(PLACES.lat)
    return np.concatenate([near, near[south]])


def strollers():
    """From anywhere to anywhere, more of them to the south."""
    rows = np.random.default_rng(1).integers(0, 200, (2000, 2))
    south = PLACES.lat[rows[:, 1]] < np.median(PLACES.lat)
    return np.concatenate([rows, rows[south]])


@pytest.mark.parametrize("people", [20_000, 2_000_000])
@pytest.mark.parametrize("size", [8, 64])
def test_walkers_demand_steps_and_people_anywhere_do_not(people, size):
    assert odds(walkers(), people, epsilon=4, size=size) > LOG_BAYES_FACTOR_MIN
    assert odds(strollers(), people, epsilon=4, size=size) < LOG_BAYES_FACTOR_MIN


@pytest.mark.parametrize("crowd", [walkers, strollers])
def test_one_number_never_demands_steps(crowd):
    assert abs(odds(crowd(), 3_000_000, epsilon=1, size=2)) < LOG_BAYES_FACTOR_MIN


def test_more_kinds_of_reports_than_can_be_looked_at_are_summed(monkeypatch):
    monkeypatch.setattr(movement, "NUMBERS_MAX", 16)
    assert odds(walkers(), 20_000, epsilon=4, size=64) > LOG_BAYES_FACTOR_MIN
    assert odds(strollers(), 20_000, epsilon=4, size=64) < LOG_BAYES_FACTOR_MIN
