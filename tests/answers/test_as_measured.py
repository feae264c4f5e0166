"""The command line answers what the benchmark scores, and its intervals hold the truth."""

import csv
import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from nomadp.cli import main
from nomadp.engine import perturb_set
from nomadp.formats.location_files import write_locations
from nomadp.mechanisms import make_mechanism
from nomadp.randomness import SeededRandom
from nomadp.reports import write_simulated
from nomadp.unit_square import UnitSquare

BENCHMARKS = Path(__file__).resolve().parent.parent.parent / "benchmarks"
pytestmark = pytest.mark.slow


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    yield importlib.import_module
    for name in ("estimates", "estimates_counts"):
        sys.modules.pop(name, None)


@pytest.fixture
def world(tmp_path, script, monkeypatch):
    """A set by its name and epsilon, as the benchmark has it, and a command line to ask."""
    monkeypatch.chdir(tmp_path)

    def made(name, epsilon, folder=None):
        estimates = script("estimates")
        subject = estimates.subject(name, folder, quick=False)
        mechanism = make_mechanism("atlas", subject.locations, epsilon)
        randomness = SeededRandom(estimates.SEED)
        reports = perturb_set(mechanism, subject.true, randomness, **estimates.LINKED)
        write_locations("places.csv", subject.locations)
        write_simulated("reports.parquet", reports)
        return subject, mechanism, reports

    return made


def run_query(query, *options):
    files = ("--reports", "reports.parquet", "--locations", "places.csv", "--out", "out.csv")
    model = ("--model", "model.npz", "--overwrite", "--json")
    done = CliRunner().invoke(main, ["query", query, *files, *model, *options])
    assert done.exit_code == 0, done.stderr
    with Path("out.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file)), json.loads(done.stdout)


def column(rows, name):
    return np.array([float(row[name] or "nan") for row in rows])


def cell(name, grid):
    row, place = name[1:].split("_c")
    return int(row) * grid + int(place)


@pytest.mark.data
@pytest.mark.parametrize("epsilon", ["4", "8"])
@pytest.mark.parametrize("name", ["nyc", "chi", "cle", "cps"])
def test_estimates_have_the_scores_of_the_benchmark(name, epsilon, world, script, paper_data):
    subject, mechanism, reports = world(name, epsilon, paper_data)
    counts = script("estimates_counts")
    scored = counts.counted(subject, mechanism, reports)
    share = {row["location_id"]: float(row["share"]) for row in run_query("hotspots")[0]}
    visits = np.array([share[each] for each in subject.locations.ids])
    rows, about = run_query("density", "--areas", "grid:16")
    density = np.zeros(256)
    density[[cell(row["zone"], 16) for row in rows]] = column(rows, "share")
    pairs, _ = run_query("flows", "--areas", "grid:4")
    trips = np.zeros((16, 16))
    for row in pairs:
        trips[cell(row["origin"], 4), cell(row["destination"], 4)] = float(row["flow"])
    truth = counts.Truth(subject)
    scores = truth.scores(visits, density, trips.reshape(-1))
    expected = scored["atlas estimated"]
    assert scores == pytest.approx({name: expected[name] for name in scores}, rel=1e-9)
    assert about["shrinkage_weight"] == pytest.approx(expected["kept"])
    if "no_intervals" in about:  # which the benchmark scores all the same
        assert np.isnan(column(rows, "ci_low")).all()
        return
    true = truth.density[[cell(row["zone"], 16) for row in rows]]
    covered = (column(rows, "ci_low") <= true) & (true <= column(rows, "ci_high"))
    assert covered.mean() == pytest.approx(expected["cover"], abs=1e-9)


@pytest.mark.parametrize("epsilon", ["4", "8"])
@pytest.mark.parametrize("name", ["new-city", "new-scatter"])
def test_intervals_cover_the_truth_of_populations_that_nobody_tuned_for(name, epsilon, world):
    subject, _, _ = world(name, epsilon)
    rows, about = run_query("density", "--areas", "grid:16")
    assert ("no_intervals" in about) == (epsilon == "4")  # its codebooks are small
    if epsilon == "4":
        assert np.isnan(column(rows, "ci_low")).all()
        return
    cells = UnitSquare(subject.locations).cells(16)
    count = np.bincount(cells[subject.true.locations], minlength=256)
    true = (count / count.sum())[[cell(row["zone"], 16) for row in rows]]
    covered = (column(rows, "ci_low") <= true) & (true <= column(rows, "ci_high"))
    assert covered.mean() >= 0.85
