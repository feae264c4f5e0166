import numpy as np
import pytest

from nomadp.datasets.city import synthetic_city
from nomadp.demo import render
from nomadp.demo.experiment import Findings, explore, trajectories_to_show


def test_every_setting_of_the_plan_is_run_and_audited(findings: Findings) -> None:
    assert list(findings.runs) == findings.study.plan.settings
    audited = [row.mechanism for row in findings.audit.rows if row.private]
    assert audited == list(findings.study.plan.mechanisms)
    assert findings.audit.ok


@pytest.mark.slow
def test_two_cores_give_the_same_page_as_one(findings: Findings) -> None:
    assert render(explore(findings.study.plan, 2, lambda count: None)) == render(findings)


def test_shown_journeys_are_different_and_of_every_length() -> None:
    city = synthetic_city(3, places=60, trips=300)
    shown = trajectories_to_show(city, 24)
    assert len(set(shown)) == 24
    lengths = city.trajectories.lengths
    assert set(lengths[list(shown)].tolist()) == set(lengths.tolist())


def test_fewer_trips_than_wanted_are_all_there_is_to_show() -> None:
    city = synthetic_city(3, places=20, trips=3)
    assert len(trajectories_to_show(city, 24)) <= 3


def test_every_draw_is_as_long_as_its_journey(findings: Findings) -> None:
    study = findings.study
    expected = np.repeat(study.city.trajectories.lengths[list(study.shown)], study.plan.draws)
    for run in findings.runs.values():
        assert run.draws.lengths.tolist() == expected.tolist()


def test_draws_of_a_journey_are_not_copies_of_each_other(findings: Findings) -> None:
    # ATLAS, at this epsilon, reports one of a few journeys: often the same again.
    for run in (run for key, run in findings.runs.items() if "atlas" not in key):
        draws = [run.draws[k].tolist() for k in range(len(run.draws))]
        same = sum(
            first == second for first, second in zip(draws[::2], draws[1::2], strict=True)
        )
        assert same <= 1
