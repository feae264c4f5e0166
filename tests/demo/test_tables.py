import math
import re
from dataclasses import replace

from nomadp.demo.experiment import Findings
from nomadp.demo.tables import audit_details, audit_table, curve_tables, gallery_table


def verdicts(table: str) -> tuple[int, int]:
    """How many rows are marked as good, and how many as bad."""
    return table.count('class="verdict good"'), table.count('class="verdict bad"')


def test_curve_tables_hold_every_number_and_both_floors(findings: Findings) -> None:
    made = curve_tables(findings)
    for run in findings.runs.values():
        scores = run.evaluation.measured
        assert f"{scores.normalised_error:.4f} ± {run.error_half_width:.4f}" in made
        assert f"{scores.range_query[1]:.2f} ± {run.range_half_width[1]:.2f}" in made
    plan, baselines = findings.study.plan, findings.baselines
    assert made.count("<table>") == 1 + len(plan.radii_km)
    assert made.count("<tr>") == (1 + len(plan.radii_km)) * (1 + len(plan.mechanisms) + 2)
    for scores in (baselines.constant, baselines.uniform):
        assert f"{scores.normalised_error:.4f}" in made


def test_the_audit_table_shows_the_worst_length(findings: Findings) -> None:
    audit = findings.audit
    first = audit.rows[0]
    longer = replace(first, length=2, transcript_loss=0.91234, final_loss=0.81111)
    made = audit_table(replace(audit, rows=(first, longer)))
    assert ">0.9124<" in made
    assert ">0.8112<" in made
    assert verdicts(made) == (1, 0)
    assert re.findall(r"\d+", made.partition("<caption>")[2].partition("<")[0]) == ["1", "2"]


def test_one_leaking_length_breaks_the_verdict(findings: Findings) -> None:
    audit = findings.audit
    leaking = replace(audit.rows[0], length=2, flags=("budget",), transcript_loss=math.inf)
    made = replace(audit, rows=(audit.rows[0], leaking))
    assert verdicts(audit_table(made)) == (0, 1)
    assert "∞" in audit_table(made)
    assert verdicts(audit_details(made)) == (1, 1)


def test_every_exhibit_is_shown_flagged_or_missed(findings: Findings) -> None:
    audit = findings.audit
    shown = len(audit.gallery) + sum(not row.private for row in audit.rows)
    assert verdicts(gallery_table(audit)) == (shown, 0)
    first, *others = audit.gallery
    missed = gallery_table(replace(audit, gallery=(replace(first, flagged_by=()), *others)))
    assert verdicts(missed) == (shown - 1, 1)
