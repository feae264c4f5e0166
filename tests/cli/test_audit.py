"""``nomadp audit``: a thin command; what the audit finds is tested with the audit."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

import nomadp.audit
from nomadp.audit import AuditReport, AuditRequest, run_audit
from nomadp.mechanisms import MECHANISMS
from nomadp.mechanisms.base import Reported
from nomadp.mechanisms.points import exp_batch
from tests.cli.conftest import Run, as_json, assert_refused

SMALL = ("audit", "--mechanism", "exp", "--epsilon", "1", "--length", "1", "2")


def test_reports_the_loss_of_the_mechanism_asked_for(run: Run) -> None:
    rows = as_json(run(*SMALL, "--json"))["mechanisms"]
    assert [(row["mechanism"], row["epsilon"], row["length"]) for row in rows] == [
        ("exp", "1", 1),
        ("exp", "1", 2),
    ]
    assert all(0 < row["transcript_loss"] <= 1 and row["spent"] == ["1"] for row in rows)


def test_the_table_says_that_the_claim_holds(run: Run, wording: Any) -> None:
    result = run(*SMALL, "--seed", "1")
    assert result.exit_code == 0
    wording("cli", "audit", result.stdout)


def test_without_a_seed_the_one_that_was_drawn_is_named(run: Run) -> None:
    assert re.search(r"--seed [0-9]+\b", run(*SMALL).stdout)


def test_a_variant_is_measured_and_found_broken(run: Run) -> None:
    report = as_json(run("audit", "--variant", "union", "--epsilon", "1", "--json"))
    assert report["mechanisms"] == []
    assert [row["name"] for row in report["gallery"]] == ["union"]
    assert report["gallery"][0]["transcript_loss"] == "infinite"


def test_the_published_mechanism_is_measured_under_its_full_name(run: Run) -> None:
    name = "tp-as-published-not-private"
    report = as_json(run("audit", "--variant", name, "--epsilon", "1", "--json"))
    (row,) = report["mechanisms"]
    assert row["transcript_loss"] == "infinite"
    assert row["final_loss"] > 3.5


def test_what_has_no_finite_law_is_refused_with_the_reason(run: Run) -> None:
    result = run("audit", "--mechanism", "exp", "--mechanism", "tracs-d")
    assert_refused(result, "no_finite_laws", "tracs-d")


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[AuditRequest]:
    """What the command asks of the audit, without the minute the whole audit takes."""
    audits: list[AuditRequest] = []

    def note(request: AuditRequest, progress: Any) -> AuditReport:
        audits.append(request)
        return AuditReport((), (), ())

    monkeypatch.setattr(nomadp.audit, "run_audit", note)
    return audits


def test_without_options_everything_is_audited(run: Run, requests: list[AuditRequest]) -> None:
    assert run("audit").exit_code == 0
    assert requests == [AuditRequest()]
    assert set(requests[0].mechanisms) == set(MECHANISMS)


def test_options_reach_the_audit(run: Run, requests: list[AuditRequest]) -> None:
    run("audit", "--no-gallery", "--thorough", "--epsilon", "0.1", "2", "--length", "3")
    expected = replace(
        AuditRequest(),
        gallery=(),
        thorough=True,
        epsilons=(Fraction(1, 10), Fraction(2)),
        lengths=(3,),
    )
    assert requests == [expected]


def test_a_claim_that_does_not_hold_is_exit_code_1(
    run: Run, monkeypatch: pytest.MonkeyPatch, wording: Any
) -> None:
    def flagged(request: AuditRequest, progress: Any) -> AuditReport:
        report = run_audit(request, progress)
        return replace(
            report, rows=tuple(replace(r, flags=("transcript",)) for r in report.rows)
        )

    monkeypatch.setattr(nomadp.audit, "run_audit", flagged)
    outcome = run(*SMALL, "--json")
    assert (outcome.exit_code, json.loads(outcome.stdout)["ok"]) == (1, False)
    result = run(*SMALL, "--seed", "1")
    assert result.exit_code == 1
    wording("cli", "audit, a claim that does not hold", result.stdout)


def test_a_fast_path_that_releases_the_truth_is_exit_code_1(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def truth(mechanism: Any, trajectories: Any, words: Any) -> Reported:
        return Reported(trajectories.locations.copy(), None)

    monkeypatch.setattr(exp_batch, "draw_many", truth)
    result = run(*SMALL, "--json")
    assert result.exit_code == 1
    content = json.loads(result.stdout)
    assert content["ok"] is False
    assert [row["ok"] for row in content["paths"]] == [True, False, False]
    assert [row["flags"] for row in content["mechanisms"]] == [[], []]
    assert run(*SMALL).exit_code == 1


def test_paths_are_listed_with_what_was_seen_of_them(run: Run) -> None:
    report = as_json(run(*SMALL, "--json"))
    walked, one, two = report["paths"]
    assert (walked["path"], walked["seen"]) == ("reference", "walked")
    assert [(row["seen"], row["length"]) for row in (one, two)] == [
        ("sampled", 1),
        ("sampled", 2),
    ]
    assert all(0 < row["leak_missed"] < 0.02 < row["loss_missed"] < 1 for row in (one, two))
    assert report["leak_missed"] == max(one["leak_missed"], two["leak_missed"])
    assert report["loss_missed"] == max(one["loss_missed"], two["loss_missed"])
    assert report["loss_missed_at"] == "1"


def test_a_seed_that_is_named_draws_the_same_again(run: Run) -> None:
    first = as_json(run(*SMALL, "--json"))
    assert as_json(run(*SMALL, "--seed", str(first["seed"]), "--json")) == first


def test_with_locations_the_loss_in_words_is_told_beside_epsilon(run: Run) -> None:
    result = run(*SMALL, "--locations", "places.csv", "--json")
    rows = as_json(result)["full_size"]
    assert [row["length"] for row in rows] == [1, 2]
    assert all(0 < row["loss"] <= 1 and row["locations"] == 9 and row["ok"] for row in rows)
