"""Sentences on the page that are computed from its numbers."""

from collections.abc import Sequence

from nomadp.audit import AuditReport
from nomadp.demo.experiment import Findings
from nomadp.demo.payload import LABELS
from nomadp.page import listed

__all__ = ["audit_sentences", "error_verdict", "gallery_sentences", "range_verdict", "verdicts"]


def verdicts(findings: Findings) -> list[str]:
    """Compare the accuracy of reports with baselines that use no data."""
    epsilons, baselines = findings.study.plan.epsilons, findings.baselines
    return [
        error_verdict(_winning_epsilons(findings, epsilons), epsilons),
        range_verdict(findings),
        "Two baselines use no data. The constant baseline always answers with the most "
        "central place, and the uniform baseline answers with a random place. Their errors in "
        f"this city are {baselines.constant.normalised_error:.3f} and "
        f"{baselines.uniform.normalised_error:.3f}. These charts show what one report says "
        "about one journey, not what many reports say together.",
    ]


def error_verdict(winning_epsilons: dict[str, list[str]], epsilons: Sequence[str]) -> str:
    """Which mechanisms beat the constant baseline, and at which epsilons."""
    worse = [name for name in winning_epsilons if not winning_epsilons[name]]
    epsilon_range = f"at any ε shown here ({epsilons[0]} to {epsilons[-1]})"
    if len(worse) == len(winning_epsilons):
        return (
            f"No mechanism has a smaller error than the constant baseline {epsilon_range}. A "
            "guess that always names the most central place is closer to one person's journey "
            "than the report. This is the cost of hiding a whole journey."
        )
    sentences = [
        f"{LABELS[name]} has a smaller error than the constant baseline at ε = {listed(wins)}."
        for name, wins in winning_epsilons.items()
        if wins
    ]
    if worse:
        names = listed([LABELS[name] for name in worse])
        sentences.append(f"{names} {'does' if len(worse) == 1 else 'do'} not, {epsilon_range}.")
    return " ".join(sentences)


def range_verdict(findings: Findings) -> str:
    """Compare the best mechanism's share of close points with the better baseline's."""
    plan, baselines = findings.study.plan, findings.baselines
    k = min(1, len(plan.radii_km) - 1)
    percent_near = {
        setting: run.evaluation.measured.range_query[k]
        for setting, run in findings.runs.items()
    }
    (name, epsilon), best = max(percent_near.items(), key=lambda item: item[1])
    better_baseline = max(baselines.constant.range_query[k], baselines.uniform.range_query[k])
    return (
        f"{LABELS[name]} at ε = {epsilon} reports the most points within "
        f"{plan.radii_km[k]:g} km of the truth: {best:.1f} %. The better baseline has "
        f"{better_baseline:.1f} %."
    )


def audit_sentences(report: AuditReport) -> list[str]:
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
        f"protects more than it claims. {_sampler_sentence(report)}",
    ]


def _sampler_sentence(report: AuditReport) -> str:
    n_agreeing = sum(row.ok for row in report.sampler)
    return (
        f"The auditor also tests the sampler with {report.sampler[0].draws:,} draws from each "
        f"kind of distribution: {n_agreeing} of {len(report.sampler)} samples agree with "
        "their distribution."
    )


def gallery_sentences(report: AuditReport) -> list[str]:
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


def _winning_epsilons(findings: Findings, epsilons: Sequence[str]) -> dict[str, list[str]]:
    """By mechanism, the epsilons at which its error interval is below the baseline."""
    winning: dict[str, list[str]] = {name: [] for name in findings.study.plan.mechanisms}
    for name in winning:
        for epsilon in epsilons:
            run = findings.runs[name, epsilon]
            upper = run.evaluation.measured.normalised_error + run.error_half_width
            if upper < findings.baselines.constant.normalised_error:
                winning[name].append(epsilon)
    return winning
