import re

from nomadp.analysis.measures import is_better
from nomadp.paper.cells import Setting
from nomadp.paper.datasets import SetKey
from nomadp.paper.lines import AS_PUBLISHED, BOTH_DIRECTIONS
from nomadp.paper.results import Results, better_baseline
from nomadp.paper.specs import EXPERIMENTS
from nomadp.paper.style import BASELINE_LABELS, label_of
from nomadp.paper.tables import (
    audit_table,
    beaten_table,
    curve_tables,
    dataset_table,
    direction_table,
    score_table,
)


def cells(markup: str, row: str) -> list[tuple[str, str]]:
    """Class and text of the cells of one row."""
    (inside,) = re.findall(
        rf"<tr><th scope=\"row\"[^>]*>{re.escape(row)}</th>(.*?)</tr>", markup
    )
    return re.findall(r'<td class="([^"]*)">([^<]*)</td>', inside)


def test_what_is_worse_than_no_information_is_marked(results: Results) -> None:
    baselines = results.baselines(SetKey("north"))
    row = cells(score_table(results, "north", "4"), "ATP")
    metrics = [metric for metric in baselines["constant"] if metric != "error_km"]
    assert len(row) == len(metrics)
    for metric, (kind, _) in zip(metrics, row, strict=True):
        score = results.value(Setting(SetKey("north"), "atp", (), "4"), metric).mean
        beaten = is_better(metric, score, better_baseline(baselines, metric)[1])
        assert ("worse" not in kind) == beaten


def test_numbers_of_a_figure_stand_beside_their_baselines(results: Results) -> None:
    made = curve_tables(EXPERIMENTS["directions"], results)
    assert made.count("<table>") == 2
    value = results.value(Setting(SetKey("north"), "atp", (), "1"), "ne")
    first = made.split("</table>")[0]
    assert cells(first, BOTH_DIRECTIONS)[0][1] == f"{value.mean:.4f} ± {value.sd:.4f}"
    baseline = results.baselines(SetKey("north"))["constant"]["ne"]
    assert cells(first, BASELINE_LABELS["constant"])[0][1] == f"{baseline:.4f}"


def test_the_first_table_shows_both_readings(results: Results) -> None:
    made = direction_table()
    at_1 = [cells(made, row) for row in re.findall(r">(ε = 1, [^<]*)<", made)]
    assert [[kind for kind, _ in row].index("number chosen") for row in at_1] == [0, 1]
    assert at_1[0][0][1] == "0.28492633"  # as printed


def test_every_mechanism_is_told_where_it_beats_the_constant(results: Results) -> None:
    row = cells(beaten_table(results), "CGM")
    assert [kind for kind, _ in row] == ["number worse"] * 2
    assert not re.search(r"\d", "".join(text for _, text in row))


def test_decoded_reports_have_rows_of_their_own(results: Results) -> None:
    assert len(cells(beaten_table(results), "ATLAS decoded")) == 2
    made = curve_tables(EXPERIMENTS["frontier"], results).split("</table>")[0]
    value = results.value(Setting(SetKey("north"), "atlas", (), "4", decoded=True), "ne")
    assert cells(made, "ATLAS decoded")[1][1] == f"{value.mean:.4f} ± {value.sd:.4f}"


def test_audited_losses_come_with_a_verdict(results: Results) -> None:
    made = audit_table(EXPERIMENTS["frontier"], results)
    assert cells(made, "EXP")[-1][0] == ""
    published = cells(made, label_of(AS_PUBLISHED[0]))
    assert (published[1][1], published[-1][0]) == ("∞", "worse")


def test_sets_are_named_with_their_sizes(results: Results) -> None:
    assert [text for _, text in cells(dataset_table(results), "north")][:2] == ["40", "10"]
