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
from nomadp.audit.bounds import differing_share, limits, p_value
from nomadp.audit.compared import Comparison, compare
from nomadp.audit.loss import final_laws
from nomadp.audit.paths import (
    Sampling,
    check_full_size,
    check_path,
    large_path_rows,
    path_rows,
)
from nomadp.audit.plan import path_mechanisms
from nomadp.audit.run import AuditReport
from nomadp.audit.sampler import ALPHA
from nomadp.extras import EXTRAS
from nomadp.mechanisms import MECHANISMS, make_mechanism
from nomadp.mechanisms.base import Reported
from nomadp.mechanisms.dispatch import FAST, NUMBA, REFERENCE, fastest, perturb_many
from nomadp.mechanisms.fast import limits as limits_of_memory
from nomadp.mechanisms.fast.compiling import has_numba
from nomadp.mechanisms.fast.limits import has_tables, tables_up_to
from nomadp.mechanisms.points.exp import IndependentPoints

FAST_NAMES = sorted(kind.name for kind in FAST)


def sampling(draws, *lengths, compared=500):
    return Sampling(lengths or (2,), draws, compared, seed=0)


NEEDS_NUMBA = pytest.mark.skipif(not has_numba(), reason="no path of numba on this machine")


def request(name, **more):
    asked = {"lengths": (1,), "published": (), "gallery": (), "draws": 0, "path_draws": 9000}
    asked |= {"path_compared": 500, "epsilons": (Fraction(4),)}
    return AuditRequest(mechanisms=(name,), **(asked | more))


def truth(mechanism, trajectories, words):
    if mechanism.is_oracle:  # sets of labels that always hold the true one
        rows = words.rows(np.arange(len(trajectories)), mechanism.channel.word_count)
        rows[:, 0] = 0
        first = trajectories.locations[trajectories.offsets[:-1]]
        labels = mechanism.labels_at(mechanism.partition.of[first][None], None)
        return Reported(mechanism.channel.drawn(labels, rows).ravel(), None)
    return Reported(trajectories.locations.copy(), None)


@pytest.mark.parametrize("name", FAST_NAMES)
def test_a_fast_path_that_releases_the_truth_is_flagged(name, monkeypatch):
    mechanism = path_mechanisms(name, (Fraction(4),), "random")[0]
    if fastest(mechanism) == NUMBA and not has_numba():
        pytest.skip("no path of numba on this machine")
    monkeypatch.setattr(import_module(FAST[type(mechanism)]), "draw_many", truth)
    report = run_audit(request(name))
    assert not report.ok
    assert {row.path for row in report.paths if not row.ok} == {fastest(mechanism)}
    assert all(row.ok for row in report.rows)


@NEEDS_NUMBA
@pytest.mark.parametrize("name", ["tp", "atp", "brr", "l-srr"])
def test_a_path_for_large_sets_that_releases_the_truth_is_flagged(name, monkeypatch):
    kind = MECHANISMS[name]
    monkeypatch.setattr(import_module(FAST[kind]), "draw_many", truth)
    (row,) = large_path_rows(
        path_mechanisms(name, (Fraction(1),), "outlier"), sampling(9000, 2)
    )
    assert not row.ok


def leaking(draw_many, is_leaked):
    """A fast path that releases the truth of the trajectories picked out, and else its own."""

    def draw(mechanism, trajectories, words):
        drawn, true = (
            draw_many(mechanism, trajectories, words),
            truth(mechanism, trajectories, words),
        )
        lengths = np.diff(mechanism.report_offsets(trajectories.offsets))
        chosen = np.repeat(is_leaked(trajectories), lengths)
        return Reported(np.where(chosen, true.locations, drawn.locations), drawn.numbers)

    return draw


LEAKS = {
    "longer than 2": lambda trajectories: trajectories.lengths > 2,
    "one in 50": lambda trajectories: np.arange(len(trajectories)) % 50 == 49,
}


@pytest.mark.parametrize("leak", LEAKS)
@pytest.mark.parametrize("name", ["atlas", "ngram", "trips", "visits", "exp"])
def test_a_path_that_releases_some_truths_is_found(name, leak, monkeypatch):
    """By a fresh seed."""
    module = import_module(FAST[MECHANISMS[name]])
    whole = request(name, lengths=(1, 2, 3), path_draws=400_000, epsilons=(Fraction(1),))
    monkeypatch.setattr(module, "draw_many", leaking(module.draw_many, LEAKS[leak]))
    found = [row for row in run_audit(whole).paths if not row.ok]
    assert found
    if name != "exp":
        assert all(row.differing for row in found if row.seen == "compared")
    elif leak == "longer than 2":
        assert {row.length for row in found} == {3}


def test_the_worlds_that_are_compared_are_small_and_large_and_have_every_law(monkeypatch):
    seen = []

    def note(mechanism, trajectories, words, path):
        law, limit = type(mechanism.channel).__name__, limits_of_memory.ROWS_MOST
        seen.append((len(mechanism.locations), law, limit, len({*trajectories.lengths})))
        return perturb_many(mechanism, trajectories, words, path)

    monkeypatch.setattr("nomadp.audit.compared.perturb_many", note)
    like = make_mechanism("trips", small_map(3), 1)
    assert compare(like, (1, 2, 3), 1000, seed=3) == Comparison(1000, 0)
    sizes, laws, cuts, lengths = zip(*seen, strict=True)
    assert min(sizes) < 1000 < limits_of_memory.TABLE_LIMIT < max(sizes)
    assert {*laws} == {"SubsetSelection", "ProjectiveResponse"}
    assert min(cuts) < 250 < max(cuts)
    assert min(lengths) >= 3


def test_a_path_that_strays_where_its_work_is_cut_is_found(monkeypatch):
    module = import_module(FAST[MECHANISMS["starts"]])
    honest = module.draw_many

    def draw(mechanism, trajectories, words):
        drawn = honest(mechanism, trajectories, words)
        cut = module.rows_at_once(2**40, 1)
        entries = mechanism.channel.entries
        drawn.locations[cut * entries : (cut + 1) * entries] = 0
        return drawn

    monkeypatch.setattr(module, "draw_many", draw)
    rows = run_audit(request("starts", path_compared=2000)).paths
    assert any(row.differing for row in rows)


def test_the_same_seed_samples_the_same_and_a_fresh_one_is_told():
    again = run_audit(request("exp", seed=5))
    assert run_audit(request("exp", seed=5)).as_dict() == again.as_dict()
    fresh = {run_audit(request("exp", path_draws=30)).seed for _ in range(3)}
    assert len(fresh) == 3
    assert run_audit(request("exp", path_draws=0)).seed is None


@pytest.mark.parametrize("name", ["exp", "brr", "l-srr"])
def test_paths_of_numpy_follow_the_exact_law_at_every_length(name):
    small = path_mechanisms(name, (Fraction(1),), "random")
    rows = path_rows(small, sampling(40_000, 1, 2))[1:]
    assert [(row.ok, row.seen, row.length) for row in rows] == [
        (True, "sampled", 1),
        (True, "sampled", 2),
    ]
    assert rows[1] == check_path(small[0], rows[1].path, 2, sampling(40_000))


@pytest.mark.parametrize("name", sorted(MECHANISMS))
def test_every_path_is_listed_with_what_was_seen_of_it(name, monkeypatch):
    absent = replace(EXTRAS["fast"], package="numba_that_is_not_there")
    monkeypatch.setitem(EXTRAS, "fast", absent)
    small = path_mechanisms(name, (Fraction(1),), "random")
    rows = path_rows(small, sampling(500)) + large_path_rows(small, sampling(0))
    assert (rows[0].path, rows[0].seen) == (REFERENCE, "walked")
    for row in rows[1:]:
        is_seen = row.seen in ("compared", "sampled")
        assert is_seen or (row.epsilon is None and absent.package in row.seen)
    assert any(row.path == fastest(small[0]) for row in rows)


def test_a_path_that_loses_more_than_could_be_missed_is_found(monkeypatch):
    """The reported law is moved until it loses as much; then 20 tries are all flagged."""
    mechanism = path_mechanisms("exp", (Fraction(1),), "random")[0]
    law = final_laws(mechanism, 2)
    draws = 4000
    missed = check_path(mechanism, "numpy", 2, sampling(9 * draws)).loss_missed
    cell = int(np.argmax(law.max(axis=0) / law.min(axis=0)))
    row = int(np.argmax(law[:, cell]))
    wrong, chance = law.copy(), math.exp(missed) * law[:, cell].min()
    wrong[row] *= (1 - chance) / (1 - law[row, cell])  # the others as little as possible
    wrong[row, cell] = chance
    assert np.log(wrong.max(axis=0) / wrong.min(axis=0)).max() >= missed
    assert found_in(wrong, mechanism, draws, monkeypatch) == 20


def test_a_leak_of_more_than_could_be_missed_is_found_and_none_is_not(monkeypatch):
    mechanism = path_mechanisms("exp", (Fraction(4),), "random")[0]
    law, draws = final_laws(mechanism, 2), 4000
    leak = check_path(mechanism, "numpy", 2, sampling(9 * draws)).leak_missed
    assert found_in((1 - leak) * law + leak * np.eye(9), mechanism, draws, monkeypatch) >= 19
    assert found_in(law, mechanism, draws, monkeypatch) == 0


def found_in(law, mechanism, draws, monkeypatch):
    """In how many of 20 tries reports of this law are taken for those of another."""
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        counts = np.stack([rng.multinomial(draws, one / one.sum()) for one in law])
        monkeypatch.setattr("nomadp.audit.paths._counts", lambda *_, seen=counts: seen)
        found += not check_path(mechanism, "numpy", 2, sampling(9 * draws)).ok
    return found


@pytest.mark.parametrize("chance", [0.0, 1e-5, 0.01, 0.5, 0.99, 1.0])
def test_limits_are_where_a_test_is_missed_once_in_a_hundred(chance):
    """By summing binomial chances, not by the incomplete beta function."""
    draws, alpha = 1000, 1e-4
    low, high = (float(side) for side in limits(np.array(chance), draws, alpha))
    count = np.arange(draws + 1)
    law = stats.binom.pmf(count, draws, chance)
    most = next(c for c in count if law[c + 1 :].sum() <= alpha)
    least = next(c for c in count[::-1] if law[:c].sum() <= alpha)
    if high < 1:
        missed = stats.binom.pmf(count, draws, high)[: most + 1].sum()
        assert missed == pytest.approx(0.01)
    if low > 0:
        assert stats.binom.pmf(count, draws, low)[least:].sum() == pytest.approx(0.01)
    assert 0 <= low <= chance <= high <= 1


def test_equal_reports_rule_out_the_share_that_they_would_have_shown():
    assert (1 - differing_share(1000)) ** 1000 == pytest.approx(0.01)


@pytest.mark.parametrize("name", ["atlas", "ngram", "trips"])
def test_a_compared_path_says_which_loss_it_could_have_hidden(name):
    """That of the share of leaked reports that is missed once in a hundred times."""
    small = path_mechanisms(name, (Fraction(1, 2),), "random")[0]
    row = path_rows([small], sampling(0, 1, 2, compared=1000))[1]
    share, worst = differing_share(row.reports), 0.0
    for length in (1, 2):
        law = final_laws(small, length)
        law = law[:, law.any(axis=0)]
        for one, output in np.ndindex(*law.shape):
            leaking = (1 - share) * law[one, output] + share
            worst = max(worst, *np.log(leaking / ((1 - share) * law[:, output])))
    assert row.loss_missed == pytest.approx(worst)
    assert worst > math.log(1 + share)


def test_an_audit_says_which_loss_could_have_been_missed_at_which_epsilon():
    report = run_audit(request("exp", epsilons=(Fraction(1, 10), Fraction(1)), path_draws=900))
    rows = [row for row in report.paths if row.reports]
    worst = max(rows, key=lambda row: row.loss_missed - row.epsilon)
    assert report.loss_missed == (worst.loss_missed, worst.epsilon)
    told = report.as_dict()
    assert 0 <= told["loss_missed"] - worst.loss_missed < 2e-6
    assert told["loss_missed_at"] == str(worst.epsilon)
    assert run_audit(request("exp", path_draws=0)).loss_missed is None


def test_the_test_of_counts_is_exact_where_few_are_expected():
    law = np.array([[1 - 1e-6, 1e-6]])
    assert p_value(np.array([[999, 1]]), law, np.zeros((1, 2))) > ALPHA
    assert p_value(np.array([[990, 10]]), law, np.zeros((1, 2))) < ALPHA


def test_an_output_that_is_impossible_by_law_is_found(monkeypatch):
    mechanism = path_mechanisms("exp", (Fraction(1),), "random")[0]
    law = final_laws(mechanism, 2)
    law[:, 3] = 0
    monkeypatch.setattr("nomadp.audit.paths.final_laws", lambda *_: law)
    row = check_path(mechanism, "numpy", 2, sampling(900))
    assert row.p_value == 0
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
    assert row.refused
    assert row.loss == 0
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
from nomadp.randomness import SystemRandom
locations = synthetic_city(seed=1, places=30, trips=1).locations
for name in MECHANISMS:
    perturb_one(make_mechanism(name, locations, 2), np.arange(3), SystemRandom().stream(0))
fast = ("_batch", ".batch", ".kernel", ".large", ".fast.")
print([m for m in sys.modules if m.split(".")[0] == "numba" or (
    m.startswith("nomadp.mechanisms") and any(part in m for part in fast))])
"""


def test_a_single_report_runs_the_audited_program_and_loads_no_fast_path():
    done = subprocess.run(
        [sys.executable, "-c", ALONE], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
