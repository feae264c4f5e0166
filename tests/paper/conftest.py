"""Small sets in files, and all experiments on them, run once for all of these tests."""

from pathlib import Path

import pytest
from made_up_results import PLAN, MadeUp

from nomadp.datasets.built import write_built
from nomadp.datasets.city import build_city
from nomadp.paper.datasets import Catalogue
from nomadp.paper.results import Results
from nomadp.paper.specs import EXPERIMENTS, Plan
from nomadp.paper.store import Store
from nomadp.paper.tasks import Paper

TINY = Plan(
    runs=2,
    epsilons=("1", "4"),
    trajectories=10,
    audited_epsilons=("1",),
    audited_length=1,
    audited_published=("tp-as-published-not-private",),
)


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two small cities, in a folder as a user would give it."""
    folder = tmp_path_factory.mktemp("data")
    write_built(folder / "north", build_city(1, places=40, trips=80))
    write_built(folder / "south", build_city(2, places=30, trips=60))
    (folder / "notes").mkdir()
    return folder


@pytest.fixture(scope="session")
def paper(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Paper:
    """Everything computed, in one process."""
    planned = Paper(
        tuple(EXPERIMENTS.values()),
        Catalogue(data, TINY.trajectories),
        TINY,
        tmp_path_factory.mktemp("results"),
    )
    planned.compute(planned.missing(), jobs=1, progress=lambda count: None)
    return planned


@pytest.fixture(scope="session")
def made_up(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Results:
    return MadeUp(Catalogue(data, 10), PLAN, Store(tmp_path_factory.mktemp("made-up")))


@pytest.fixture(scope="session")
def results(paper: Paper) -> Results:
    return Results(paper.catalogue, paper.plan, paper.store)


@pytest.fixture(scope="session")
def written(paper: Paper) -> dict[str, Path]:
    """What is left in the folder at the end, by file name."""
    return {path.name: path for path in paper.write()}
