"""A demonstration small enough to be made once for all of these tests."""

from pathlib import Path

import pytest

from nomadp.demo import render
from nomadp.demo.experiment import DemoPlan, Findings, explore
from nomadp.demo.results import SimulatedSurvey

TINY = DemoPlan(
    places=40,
    trips=60,
    evaluated=20,
    shown=6,
    draws=2,
    epsilons=("1", "4"),
    audited_epsilons=("1",),
    audited_lengths=(1,),
    sampler_draws=10_000,
    survey=SimulatedSurvey(people=300, codewords=16, areas="grid:4"),
)


@pytest.fixture(scope="session")
def findings() -> Findings:
    return explore(TINY, 1, lambda count: None)


@pytest.fixture(scope="session")
def page_file(findings: Findings, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo") / "index.html"
    path.write_text(render(findings), encoding="utf-8")
    return path
