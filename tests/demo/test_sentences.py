from dataclasses import replace

from nomadp.demo.experiment import Findings
from nomadp.demo.sentences import (
    audit_words,
    error_verdict,
    gallery_words,
    range_verdict,
    verdicts,
)

EPSILONS = ("1", "4", "10")


def test_says_plainly_when_nothing_beats_the_constant() -> None:
    sentence = error_verdict({"exp": [], "tp": [], "atp": []}, EPSILONS)
    assert sentence.startswith("No mechanism shown errs less than the best constant answer")
    assert "at any ε tried here (1 to 10)" in sentence


def test_names_the_mechanisms_that_beat_the_constant_and_those_that_do_not() -> None:
    assert error_verdict({"exp": [], "tp": [], "atp": ["4", "10"]}, EPSILONS) == (
        "ATP errs less than the best constant answer at ε = 4 and 10. "
        "EXP and TP do not, at any ε tried here (1 to 10)."
    )


def test_one_mechanism_left_behind_is_singular() -> None:
    sentence = error_verdict({"exp": [], "atp": ["10"]}, EPSILONS)
    assert sentence.endswith("EXP does not, at any ε tried here (1 to 10).")


def test_a_win_within_the_interval_is_not_called_one(findings: Findings) -> None:
    constant = findings.floors.constant.normalised_error
    near = {
        setting: replace(
            run,
            evaluation=replace(
                run.evaluation,
                measured=replace(run.evaluation.measured, normalised_error=constant - 0.01),
            ),
            error_half_width=0.02,
        )
        for setting, run in findings.runs.items()
    }
    assert verdicts(replace(findings, runs=near))[0].startswith("No mechanism shown errs less")
    clear = {setting: replace(run, error_half_width=0.005) for setting, run in near.items()}
    assert verdicts(replace(findings, runs=clear))[0].startswith("EXP errs less")


def test_the_range_verdict_names_the_best_and_the_floor(findings: Findings) -> None:
    best = max(run.evaluation.measured.range_query[1] for run in findings.runs.values())
    floors = findings.floors
    floor = max(floors.constant.range_query[1], floors.uniform.range_query[1])
    sentence = range_verdict(findings)
    assert f"{best:.1f} %" in sentence
    assert sentence.endswith(f"without any information, {floor:.1f} %.")


def test_a_broken_claim_is_not_passed_over(findings: Findings) -> None:
    sound = audit_words(findings.audit)[0]
    assert sound.endswith("None of the mechanisms shown loses more than it claims.")
    first, *others = findings.audit.rows
    leaking = replace(findings.audit, rows=(replace(first, flags=("budget",)), *others))
    assert "1 of 4 rows LOSE MORE THAN THEY CLAIM" in audit_words(leaking)[0]


def test_a_missed_exhibit_is_not_counted_as_flagged(findings: Findings) -> None:
    audit = findings.audit
    shown = len(audit.gallery) + sum(not row.private for row in audit.rows)
    first, *others = audit.gallery
    missed = replace(audit, gallery=(replace(first, flagged_by=()), *others))
    assert f"flags {shown} of {shown}." in gallery_words(audit)[0]
    assert f"flags {shown - 1} of {shown}." in gallery_words(missed)[0]
