"""What is told to those who watch: whole numbers, and whose they are."""

from nomadp.collector.metrics import Metrics


def test_a_count_is_told_to_the_last_report() -> None:
    said = Metrics().rendered({"reports_acknowledged_total": ("StoredReport.", 12_345_678)})
    assert "nomadp_reports_acknowledged_total 12345678\n" in said


def test_one_of_several_processes_says_which_it_is_in_every_number() -> None:
    metrics = Metrics("3")
    metrics.answered(200, 0.01)
    said = metrics.rendered({"commits_total": ("Commits.", 1)})
    samples = [line for line in said.splitlines() if not line.startswith("#")]
    assert 'nomadp_uploads_total{status="200",worker="3"} 1' in samples
    assert 'nomadp_commits_total{worker="3"} 1' in samples
    assert all('worker="3"' in sample for sample in samples)
