"""The audit sees what runs: each fast path is held against the exact law, and says so."""

import json
import math
import subprocess
import sys
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest
from scipy import stats
from worlds import scattered, small_map

from nomadp.audit import AuditRequest, run_audit
from nomadp.audit.loss import final_laws
from nomadp.audit.paths import check_full_size, check_path, large_path_rows, path_rows
from nomadp.audit.plan import sampled
from nomadp.audit.run import AuditReport
from nomadp.audit.sampler import ALPHA
from nomadp.extras import EXTRAS
from nomadp.mechanisms import MECHANISMS, make_mechanism
from nomadp.mechanisms.base import Reported
from nomadp.mechanisms.fast.compiling import has_numba
from nomadp.mechanisms.fast.limits import has_tables, tables_up_to
from nomadp.mechanisms.paths import FAST, NUMBA, REFERENCE, fastest
from nomadp.mechanisms.points.exp import IndependentPoints

FAST_NAMES = sorted(kind.name for kind in FAST)
NEEDS_NUMBA = pytest.mark.skipif(not has_numba(), reason="no path of numba on this machine")


def request(name, **more):
    asked = {"lengths": (1,), "published": (), "gallery": (), "draws": 0, "path_draws": 500}
    return AuditRequest(mechanisms=(name,), epsilons=(Fraction(4),), **(asked | more))


def truth(mechanism, trajectories, words):
    if mechanism.asks:  # sets of labels that always hold the true one
        rows = words.rows(np.arange(len(trajectories)), mechanism.channel.word_count)
        rows[:, 0] = 0
        first = trajectories.locations[trajectories.offsets[:-1]]
        labels = mechanism.labels_at(mechanism.partition.of[first][None], None)
        return Reported(mechanism.channel.drawn(labels, rows).ravel(), None)
    return Reported(trajectories.locations.copy(), None)


@pytest.mark.parametrize("name", FAST_NAMES)
def test_a_fast_path_that_releases_the_truth_is_flagged(name, monkeypatch):
    mechanism = sampled(name, (Fraction(4),), "random")[0]
    if fastest(mechanism) == NUMBA and not has_numba():
        pytest.skip("no path of numba on this machine")
    monkeypatch.setattr(import_module(FAST[type(mechanism)]), "draw_many", truth)
    report = run_audit(request(name, path_draws=3000 if mechanism.asks else 500))
    assert not report.ok
    assert [row.path for row in report.paths if not row.ok] == [fastest(mechanism)]
    assert all(row.ok for row in report.rows)


@NEEDS_NUMBA
@pytest.mark.parametrize("name", ["tp", "atp", "brr", "l-srr"])
def test_a_path_for_large_sets_that_releases_the_truth_is_flagged(name, monkeypatch):
    kind = MECHANISMS[name]
    monkeypatch.setattr(import_module(FAST[kind]), "draw_many", truth)
    (row,) = large_path_rows(sampled(name, (Fraction(1),), "outlier"), 500)
    assert not row.ok


@pytest.mark.parametrize("name", ["exp", "brr", "l-srr", "ngram"])
def test_paths_of_numpy_follow_the_exact_law(name):
    (row,) = [row for row in path_rows(sampled(name, (Fraction(1),), "random"), 5000)][1:]
    assert (row.ok, row.seen, row.draws) == (True, "sampled", 5000)
    assert (
        row.as_dict()
        == check_path(sampled(name, (Fraction(1),), "random")[0], row.path, 5000).as_dict()
    )


@pytest.mark.parametrize("name", sorted(MECHANISMS))
def test_every_path_is_listed_with_what_was_seen_of_it(name, monkeypatch):
    absent = replace(EXTRAS["fast"], package="numba_that_is_not_there")
    monkeypatch.setitem(EXTRAS, "fast", absent)
    small = sampled(name, (Fraction(1),), "random")
    rows = path_rows(small, 50) + large_path_rows(small, 0)
    assert (rows[0].path, rows[0].seen) == (REFERENCE, "walked")
    for row in rows[1:]:
        assert (
            row.seen == "sampled"
            or row.seen == f"not seen: {absent.package} is not installed here"
        )
    assert any(row.path == fastest(small[0]) for row in rows)


def test_a_path_that_loses_more_than_is_ruled_out_is_found(monkeypatch):
    """The reported law is moved until it loses as much; then 20 tries are all flagged."""
    mechanism = sampled("exp", (Fraction(1),), "random")[0]
    law = final_laws(mechanism, 2)
    draws = 4000
    ruled_out = check_path(mechanism, "numpy", draws).loss_ruled_out
    cell = int(np.argmax(law.max(axis=0) / law.min(axis=0)))
    row = int(np.argmax(law[:, cell]))
    wrong, chance = law.copy(), math.exp(ruled_out) * law[:, cell].min()
    wrong[row] *= (1 - chance) / (1 - law[row, cell])  # the others as little as possible
    wrong[row, cell] = chance
    assert np.log(wrong.max(axis=0) / wrong.min(axis=0)).max() >= ruled_out
    for seed in range(20):
        rng = np.random.default_rng(seed)
        counts = np.stack([rng.multinomial(draws, one / one.sum()) for one in wrong])
        monkeypatch.setattr("nomadp.audit.paths._counts", lambda *_, seen=counts: seen)
        assert not check_path(mechanism, "numpy", draws).ok


def test_an_output_that_is_impossible_by_law_is_found(monkeypatch):
    mechanism = sampled("exp", (Fraction(1),), "random")[0]
    law = final_laws(mechanism, 2)
    law[:, 3] = 0
    monkeypatch.setattr("nomadp.audit.paths.final_laws", lambda *_: law)
    row = check_path(mechanism, "numpy", 100)
    assert row.chi_square == math.inf
    assert json.loads(json.dumps(row.as_dict(), allow_nan=False))["ok"] is False


def test_the_limit_of_tables_is_put_back():
    with tables_up_to(0):
        assert not has_tables(small_map(4))
    assert has_tables(small_map(4))


@pytest.mark.parametrize("name", sorted(MECHANISMS))
def test_at_full_size_the_loss_in_words_stays_within_epsilon(name):
    options = {"size": 64} if name == "atlas" else {}  # to make the best book takes long
    mechanism = make_mechanism(name, scattered(900), 12, **options)
    for length in (1, 2, 3):
        row = check_full_size(mechanism, length)
        assert row.ok
        assert 0 < row.loss <= 12
        assert row.locations == 900


def test_at_full_size_a_law_that_words_cannot_keep_is_refused():
    row = check_full_size(make_mechanism("l-srr", scattered(4000), 20), 1)
    assert "use a smaller epsilon" in row.refused
    assert row.ok


def test_at_full_size_a_law_that_loses_a_hair_more_in_words_is_flagged(monkeypatch):
    monkeypatch.setattr("nomadp.laws.subset.check_words", lambda lightest, total: None)
    row = check_full_size(make_mechanism("l-srr", scattered(4000), 20), 1)
    assert row.flags == ("words",)
    assert row.loss > 20
    assert row.as_dict()["loss"] > 20


class Twice(IndependentPoints):
    """Draws all that it may, and then again."""

    def perturb(self, trajectory, choose):
        super().perturb(trajectory, choose)
        return super().perturb(trajectory, choose)


def test_at_full_size_draws_that_keep_their_shares_and_not_epsilon_are_flagged():
    locations = scattered(30)
    assert check_full_size(IndependentPoints(locations=locations, epsilon=4), 2).ok
    row = check_full_size(Twice(locations=locations, epsilon=4), 2)
    assert (row.flags, row.ok) == (("words",), False)
    assert row.loss > 7


@pytest.mark.parametrize("part", ["rows", "gallery", "sampler", "paths", "full_size"])
def test_whatever_an_audit_finds_wrong_is_its_verdict(part):
    @dataclass
    class Row:
        ok: bool
        flagged: bool

    every = dict.fromkeys(["rows", "gallery", "sampler", "paths", "full_size"], (Row(1, 1),))
    assert AuditReport(**every).ok
    assert not AuditReport(**{**every, part: (Row(1, 1), Row(0, 0))}).ok


def test_a_sound_path_is_flagged_once_in_as_many_audits_as_is_said():
    mechanism = sampled("exp", (Fraction(4),), "random")[0]
    inputs, outputs = final_laws(mechanism, 2).shape
    limit = stats.chi2.isf(ALPHA / inputs, outputs - 1)
    assert check_path(mechanism, "numpy", 200).limit == pytest.approx(limit)


def test_the_report_holds_paths_and_full_size():
    report = run_audit(request("exp", locations=scattered(30), path_draws=200))
    told = report.as_dict()
    assert [row["path"] for row in told["paths"]] == ["reference", "numpy"]
    assert [row["locations"] for row in told["full_size"]] == [30]
    assert report.ok


ALONE = """
import sys
import numpy as np
from nomadp.datasets.city import synthetic_city
from nomadp.mechanisms import MECHANISMS, make_mechanism, perturb_one
from nomadp.randomness import SystemWords
locations = synthetic_city(seed=1, places=30, trips=1).locations
for name in MECHANISMS:
    perturb_one(make_mechanism(name, locations, 2), np.arange(3), SystemWords().stream(0))
fast = ("_many", ".many", ".kernel", ".large", ".fast.")
print([m for m in sys.modules if m.split(".")[0] == "numba" or (
    m.startswith("nomadp.mechanisms") and any(part in m for part in fast))])
"""


def test_a_single_report_runs_the_audited_program_and_loads_no_fast_path():
    done = subprocess.run(
        [sys.executable, "-c", ALONE], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
