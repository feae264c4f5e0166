"""What the numbers say, in sentences that follow from them."""

from collections.abc import Sequence

from nomadp.audit import AuditReport
from nomadp.demo.experiment import Findings
from nomadp.demo.payload import LABELS
from nomadp.page import listed

__all__ = ["audit_words", "error_verdict", "gallery_words", "range_verdict", "verdicts"]


def verdicts(findings: Findings) -> list[str]:
    """The utility found, beside what an answer that never looked at the data would get."""
    epsilons, floors = findings.study.plan.epsilons, findings.floors
    return [
        error_verdict(_beating(findings, epsilons), epsilons),
        range_verdict(findings),
        "The best constant always answers with the most central place, the uniform answer "
        "picks any place at random; neither looks at the data. On this city they score "
        f"{floors.constant.normalised_error:.3f} and {floors.uniform.normalised_error:.3f}. "
        "What reports of many people say together is another question than what one report "
        "says about one journey; these charts are about the latter.",
    ]


def error_verdict(beating: dict[str, list[str]], epsilons: Sequence[str]) -> str:
    """Which mechanisms err less than the best constant, and at which epsilons."""
    worse = [name for name in beating if not beating[name]]
    tried = f"at any ε tried here ({epsilons[0]} to {epsilons[-1]})"
    if len(worse) == len(beating):
        return (
            f"No mechanism shown errs less than the best constant answer {tried}: to guess "
            "where one person went, always naming the most central place does better than "
            "reading their report. That is the price of hiding a whole journey point by point."
        )
    sentences = [
        f"{LABELS[name]} errs less than the best constant answer at ε = {listed(won)}."
        for name, won in beating.items()
        if won
    ]
    if worse:
        names = listed([LABELS[name] for name in worse])
        sentences.append(f"{names} {'does' if len(worse) == 1 else 'do'} not, {tried}.")
    return " ".join(sentences)


def range_verdict(findings: Findings) -> str:
    """How often the best mechanism comes near, beside the better floor."""
    plan, floors = findings.study.plan, findings.floors
    k = min(1, len(plan.radii_km) - 1)
    found = {
        setting: run.evaluation.measured.range_query[k]
        for setting, run in findings.runs.items()
    }
    (name, epsilon), best = max(found.items(), key=lambda item: item[1])
    floor = max(floors.constant.range_query[k], floors.uniform.range_query[k])
    return (
        f"The most points within {plan.radii_km[k]:g} km of the truth: {best:.1f} %, by "
        f"{LABELS[name]} at ε = {epsilon}; without any information, {floor:.1f} %."
    )


def audit_words(report: AuditReport) -> list[str]:
    """What the audit's table means, and what it does not."""
    claims = [row for row in report.rows if row.private]
    broken = sum(not row.ok for row in claims)
    outcome = (
        "None of the mechanisms shown loses more than it claims."
        if not broken
        else f"{broken} of {len(claims)} rows LOSE MORE THAN THEY CLAIM: do not use this build."
    )
    return [
        "The same lines of code that draw a report are walked through every choice they can "
        "make, on small maps, for every pair of journeys of a length; the losses are computed, "
        f"not sampled. {outcome}",
        "The transcript loss is what somebody learns who sees every intermediate draw, the "
        "final loss what the report alone gives away. Both have to stay at or below ε, and the "
        "budget spent has to be ε exactly. A loss below ε is slack: privacy that was paid for "
        f"and not used. {_sampler_words(report)}",
    ]


def _sampler_words(report: AuditReport) -> str:
    good = sum(row.ok for row in report.sampler)
    return (
        f"That the sampler follows its laws is tested with {report.sampler[0].draws:,} draws "
        f"of each kind of law: {good} of {len(report.sampler)} fit."
    )


def gallery_words(report: AuditReport) -> list[str]:
    """Why broken mechanisms are on the page."""
    flagged = [row.flagged for row in report.gallery]
    flagged += [row.ok for row in report.rows if not row.private]
    return [
        "An audit that never objects proves nothing. Here are mechanisms broken on purpose, "
        "each by a mistake that is easy to make, some of them published; all claim ε = 1. "
        f"The auditor flags {sum(flagged)} of {len(flagged)}. An infinite loss means that some "
        "outcome rules some journey out with certainty. A variant whose loss stays below ε on "
        "this small map is flagged for its rule: it overspends, or its scale reads the secret."
    ]


def _beating(findings: Findings, epsilons: Sequence[str]) -> dict[str, list[str]]:
    """By mechanism, where it errs less by more than chance: its whole interval lies below."""
    won: dict[str, list[str]] = {name: [] for name in findings.study.plan.mechanisms}
    for name in won:
        for epsilon in epsilons:
            run = findings.runs[name, epsilon]
            upper = run.evaluation.measured.normalised_error + run.error_half_width
            if upper < findings.floors.constant.normalised_error:
                won[name].append(epsilon)
    return won
