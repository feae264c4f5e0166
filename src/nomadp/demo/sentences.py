"""Sentences on the page that are computed from its numbers."""

from collections.abc import Sequence

from nomadp.audit import AuditReport
from nomadp.demo.experiment import Findings
from nomadp.demo.payload import LABELS
from nomadp.page import listed

__all__ = ["audit_words", "error_verdict", "gallery_words", "range_verdict", "verdicts"]


def verdicts(findings: Findings) -> list[str]:
    """Compare the accuracy of reports with baselines that use no data."""
    epsilons, floors = findings.study.plan.epsilons, findings.floors
    return [
        error_verdict(_beating(findings, epsilons), epsilons),
        range_verdict(findings),
        "Two baselines use no data. The constant baseline always answers with the most "
        "central place, and the uniform baseline answers with a random place. Their errors in "
        f"this city are {floors.constant.normalised_error:.3f} and "
        f"{floors.uniform.normalised_error:.3f}. These charts show what one report says about "
        "one journey, not what many reports say together.",
    ]


def error_verdict(beating: dict[str, list[str]], epsilons: Sequence[str]) -> str:
    """Which mechanisms beat the constant baseline, and at which epsilons."""
    worse = [name for name in beating if not beating[name]]
    tried = f"at any ε shown here ({epsilons[0]} to {epsilons[-1]})"
    if len(worse) == len(beating):
        return (
            f"No mechanism has a smaller error than the constant baseline {tried}. A guess "
            "that always names the most central place is closer to one person's journey than "
            "the report. This is the cost of hiding a whole journey point by point."
        )
    sentences = [
        f"{LABELS[name]} has a smaller error than the constant baseline at ε = {listed(won)}."
        for name, won in beating.items()
        if won
    ]
    if worse:
        names = listed([LABELS[name] for name in worse])
        sentences.append(f"{names} {'does' if len(worse) == 1 else 'do'} not, {tried}.")
    return " ".join(sentences)


def range_verdict(findings: Findings) -> str:
    """Compare the best mechanism's share of close points with the better baseline's."""
    plan, floors = findings.study.plan, findings.floors
    k = min(1, len(plan.radii_km) - 1)
    percent_near = {
        setting: run.evaluation.measured.range_query[k]
        for setting, run in findings.runs.items()
    }
    (name, epsilon), best = max(percent_near.items(), key=lambda item: item[1])
    floor = max(floors.constant.range_query[k], floors.uniform.range_query[k])
    return (
        f"{LABELS[name]} at ε = {epsilon} reports the most points within "
        f"{plan.radii_km[k]:g} km of the truth: {best:.1f} %. The better baseline has "
        f"{floor:.1f} %."
    )


def audit_words(report: AuditReport) -> list[str]:
    """Explain the audit's table."""
    claims = [row for row in report.rows if row.private]
    broken = sum(not row.ok for row in claims)
    outcome = (
        "No mechanism on this page loses more privacy than it claims."
        if not broken
        else f"{broken} of {len(claims)} rows LOSE MORE THAN THEY CLAIM: do not use this build."
    )
    return [
        "The auditor runs the code that draws a report through every choice it can make. It "
        "does so on small maps, for every pair of journeys of the same length, and computes "
        f"the privacy loss exactly. {outcome}",
        "The transcript loss is the privacy loss to somebody who sees every intermediate draw. "
        "The final loss is the privacy loss to somebody who sees only the report. Neither may "
        "be above ε, and the draws must use exactly ε. A loss below ε means that the mechanism "
        f"protects more than it claims. {_sampler_words(report)}",
    ]


def _sampler_words(report: AuditReport) -> str:
    good = sum(row.ok for row in report.sampler)
    return (
        f"The auditor also tests the sampler with {report.sampler[0].draws:,} draws from each "
        f"kind of distribution: {good} of {len(report.sampler)} agree."
    )


def gallery_words(report: AuditReport) -> list[str]:
    """Explain why the page shows broken mechanisms."""
    flagged = [row.flagged for row in report.gallery]
    flagged += [row.ok for row in report.rows if not row.private]
    return [
        "An audit that never fails proves nothing. The mechanisms below are broken on purpose. "
        "Each has a mistake that is easy to make, and some mistakes come from published "
        f"papers. All claim ε = 1. The auditor flags {sum(flagged)} of {len(flagged)}. An "
        "infinite loss means that some report rules out a journey with certainty. Some "
        "variants stay below ε on this small map and still break a rule: they exceed their "
        "budget, or their noise depends on private data."
    ]


def _beating(findings: Findings, epsilons: Sequence[str]) -> dict[str, list[str]]:
    """By mechanism, the epsilons at which its error interval is below the baseline."""
    won: dict[str, list[str]] = {name: [] for name in findings.study.plan.mechanisms}
    for name in won:
        for epsilon in epsilons:
            run = findings.runs[name, epsilon]
            upper = run.evaluation.measured.normalised_error + run.error_half_width
            if upper < findings.floors.constant.normalised_error:
                won[name].append(epsilon)
    return won
