"""A learned prior is believed only so far that answers are not worse for it."""

import importlib
from pathlib import Path

import pytest

from nomadp.engine import perturb_set
from nomadp.inference import decode, fit_prior
from nomadp.mechanisms import make_mechanism
from nomadp.randomness import SeededRandom

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_answers_for_towns_in_a_plain_are_at_most_one_percent_worse(monkeypatch, seed):
    """Believed by half, it cost them two percent, with every seed."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    towns = importlib.import_module("estimates").subject("new-scatter", None, quick=False)
    atlas = make_mechanism("atlas", towns.locations, 6)
    reports = perturb_set(atlas, towns.true, SeededRandom(seed), jobs=1, keep_tids=True)
    flat, learned = (
        towns.scores(decode(atlas, reports, prior).locations)["ne"]
        for prior in (None, fit_prior(atlas, reports))
    )
    assert learned < 1.01 * flat
