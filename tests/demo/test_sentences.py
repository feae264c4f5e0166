import re
from collections.abc import Callable
from dataclasses import replace

from nomadp.demo.experiment import Findings
from nomadp.demo.sentences import (
    audit_sentences,
    error_verdict,
    gallery_sentences,
    range_verdict,
    verdicts,
)

EPSILONS = ("1", "4", "10")


WINS: dict[str, dict[str, list[str]]] = {
    "none": {"exp": [], "tp": [], "atp": []},
    "some": {"exp": [], "tp": [], "atp": ["4", "10"]},
    "all but one": {"exp": [], "atp": ["10"]},
    "all": {"exp": ["10"], "atp": ["1", "4", "10"]},
}
"""Mechanisms, and the epsilons at which each errs less than the best constant."""


def test_which_mechanisms_err_less_than_the_constant_is_said(
    wording: Callable[..., None],
) -> None:
    sentences = {name: error_verdict(wins, EPSILONS) for name, wins in WINS.items()}
    assert len({*sentences.values()}) == len(sentences)
    text = "\n\n".join(f"{name}: {sentence}" for name, sentence in sentences.items())
    wording("demo", "mechanisms that err less than the best constant answer", text)


def test_a_win_within_the_interval_is_not_called_one(findings: Findings) -> None:
    constant = findings.baselines.constant.normalised_error
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
    plan = findings.study.plan
    nowhere = error_verdict({name: [] for name in plan.mechanisms}, plan.epsilons)
    assert verdicts(replace(findings, runs=near))[0] == nowhere
    clear = {setting: replace(run, error_half_width=0.005) for setting, run in near.items()}
    everywhere = {name: list(plan.epsilons) for name in plan.mechanisms}
    assert verdicts(replace(findings, runs=clear))[0] == error_verdict(
        everywhere, plan.epsilons
    )


def test_the_range_verdict_names_the_best_and_the_floor(findings: Findings) -> None:
    best = max(run.evaluation.measured.range_query[1] for run in findings.runs.values())
    baselines = findings.baselines
    better_baseline = max(baselines.constant.range_query[1], baselines.uniform.range_query[1])
    sentence = range_verdict(findings)
    assert [f"{best:.1f}", f"{better_baseline:.1f}"] == re.findall(r"([\d.]+) %", sentence)


def test_a_broken_claim_is_not_passed_over(
    findings: Findings, wording: Callable[..., None]
) -> None:
    sound = replace(findings.audit, sampler=findings.audit.sampler[:2])
    assert numbers(audit_sentences(sound)[0]) == []
    first, *others = findings.audit.rows
    leaking = replace(sound, rows=(replace(first, flags=("budget",)), *others))
    assert numbers(audit_sentences(leaking)[0]) == [1, 4]
    text = "\n\n".join([*audit_sentences(sound), *audit_sentences(leaking)[:1]])
    wording("demo", "an audit that passes, and one that does not", text)


def test_a_missed_exhibit_is_not_counted_as_flagged(
    findings: Findings, wording: Callable[..., None]
) -> None:
    audit = findings.audit
    shown = len(audit.gallery) + sum(not row.private for row in audit.rows)
    first, *others = audit.gallery
    missed = replace(audit, gallery=(replace(first, flagged_by=()), *others))
    assert numbers(gallery_sentences(audit)[0]).count(shown) == 2
    assert {shown - 1, shown} <= set(numbers(gallery_sentences(missed)[0]))
    few = replace(audit, rows=(), gallery=audit.gallery[:3])
    wording("demo", "broken mechanisms", "\n\n".join(gallery_sentences(few)))


def numbers(text: str) -> list[int]:
    return [int(match) for match in re.findall(r"\d+", text)]
