"""The base install does what a device needs, and says what it lacks."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from refusals import printed_code

from nomadp import geometry
from nomadp.errors import ExtraMissing
from nomadp.extras import EXTRAS, absence_of, require
from nomadp.geometry import search_tree, unit_vectors
from nomadp.locations import LocationSet

PROJECT = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text("utf-8"))
ABSENT = [*(extra.package for extra in EXTRAS.values()), "rich", "pandas"]


def without_extras(*arguments: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """``nomadp`` where none of the extras can be imported."""
    program = (
        f"import sys\nsys.modules.update(dict.fromkeys({ABSENT!r}))\n"
        "from nomadp.cli import main\nmain(sys.argv[1:])"
    )
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def later(*arguments: str) -> Any:
    """One more of a kind: left to CI."""
    return pytest.param(*arguments, marks=pytest.mark.slow)


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """Twelve places and two journeys, by id and by coordinates."""
    places = [f"p{k},{40 + k // 4 / 50},{-74 + k % 4 / 50}" for k in range(12)]
    (tmp_path / "places.csv").write_text("\n".join(["location_id,lat,lng", *places]))
    (tmp_path / "trips.csv").write_text(
        "tid,seq,location_id\na,0,p0\na,1,p5\nb,0,p7\nb,1,p2\nb,2,p11"
    )
    (tmp_path / "gps.csv").write_text(
        "tid,datetime,lat,lng\na,2020-01-01T10:00:00Z,40.001,-74.001\n"
        "a,2020-01-01T11:00:00Z,40.021,-73.98"
    )
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        "--help",
        later("explain --epsilon 4 --length 5"),
        later("granularity --epsilon 1"),
        later("audit --mechanism tp --epsilon 1 --length 1"),
        "perturb trips.csv --locations places.csv --epsilon 4 --out r.csv",
        later(
            "perturb trips.csv --locations places.csv --epsilon 4 --mechanism exp --out r.csv"
        ),
        "perturb gps.csv --locations places.csv --epsilon 4 --mechanism atp --out r.csv",
        "perturb trips.csv --locations places.csv --epsilon 4 --mechanism ngram "
        "--max-step-km 3 --out r.csv.gz",
        later("evaluate trips.csv trips.csv --locations places.csv"),
        later("data build city --places 20 --trips 10 --out city"),
        "doctor",
    ],
)
def test_the_base_install_does_what_a_device_needs(arguments: str, world: Path) -> None:
    done = without_extras(*arguments.split(), folder=world)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        ("perturb trips.csv --locations places.csv --epsilon 4 --out r.parquet", "tables"),
        later("perturb trips.parquet --locations places.csv --epsilon 4 --out r.csv", "tables"),
        later("data nest trips.parquet --out n.parquet", "tables"),
        later("data build gowalla x.txt --places 9 --out chi", "tables"),
        later(
            "codebook build --locations places.csv --length 2 --epsilon 4 --out a.parquet",
            "tables",
        ),
        (
            "decode trips.csv --locations places.csv --epsilon 4 --mechanism brr "
            "--prior fitted --out d.csv",
            "analysis",
        ),
        later("plan --locations places.csv --length 2 --error-km 1", "analysis"),
        (
            "perturb trips.csv --locations places.csv --epsilon 4 --mechanism tracs-d "
            "--accept-not-private --out r.csv",
            "analysis",
        ),
        later("audit", "analysis"),
        ("paper all --quick", "plot"),
        (
            "data convert gps.csv --h3 7 --box=-74.1,40,-73.9,40.1 --out cells",
            "h3",
        ),
    ],
)
def test_what_an_extra_gives_is_refused_with_its_remedy(
    arguments: str, extra: str, world: Path
) -> None:
    done = without_extras(*arguments.split(), folder=world)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert printed_code(done.stderr) == "package_missing"
    assert f'pip install "nomadp[{extra}]"' in done.stderr


def test_the_extras_are_those_of_the_project() -> None:
    offered = PROJECT["project"]["optional-dependencies"]
    assert EXTRAS.keys() == offered.keys() - {"all", "dev"}
    for name, extra in EXTRAS.items():
        assert any(re.match(rf"{extra.package}\b", each) for each in offered[name])
    assert "nomadp[all]" in offered["dev"]


def test_what_is_installed_is_not_refused() -> None:
    require("analysis")
    assert isinstance(absence_of("scipy.spatial"), ExtraMissing)
    assert absence_of("json") is None
    assert absence_of(None) is None


@pytest.fixture
def without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.spatial", None)


def sets(seed: int) -> LocationSet:
    """Places of every kind: spread, crowded, repeated, on a grid, at the poles."""
    random = np.random.default_rng(seed)
    count = [2, 3, 40, 300][seed % 4]
    lat, lng = random.uniform(-90, 90, count), random.uniform(-180, 180, count)
    if seed % 3 == 1:
        lat, lng = np.round(lat / 45) * 45, np.round(lng / 45) * 45
    if seed % 3 == 2:
        lat, lng = 40 + np.round(lat) / 1e3, 10 + np.round(lng) / 1e3
    return LocationSet.from_columns([str(k) for k in range(count)], lat, lng)


@pytest.mark.parametrize("seed", range(24))
def test_the_nearest_location_is_the_same_without_scipy(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    locations, random = sets(seed), np.random.default_rng(seed + 1000)
    lat = np.concatenate([random.uniform(-90, 90, 300), locations.lat, locations.lat / 2])
    lng = np.concatenate([random.uniform(-180, 180, 300), locations.lng, locations.lng / 2])
    near = 40 + np.round(random.uniform(-90, 90, 300)) / 2e3  # on and between the grid
    lat, lng = np.concatenate([lat, near]), np.concatenate([lng, 10 + near[::-1] - 40])
    with_scipy = locations.nearest(lat, lng)
    monkeypatch.setitem(sys.modules, "scipy.spatial", None)
    monkeypatch.setattr(geometry, "_BLOCK_PAIRS", 1000)
    again = LocationSet.from_columns(locations.ids, locations.lat, locations.lng)
    assert not hasattr(again._tree, "maxes")  # which a k-d tree has
    assert np.array_equal(again.nearest(lat, lng), with_scipy)
    assert again.diameter_km == locations.diameter_km


@pytest.mark.usefixtures("without_scipy")
def test_no_point_has_no_nearest_location_without_scipy() -> None:
    assert sets(3).nearest([], []).shape == (0,)


def test_distances_to_the_nearest_are_the_same_bits_without_scipy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    random = np.random.default_rng(7)
    ours, theirs = (
        unit_vectors(random.uniform(-90, 90, 500), random.uniform(-180, 180, 500))
        for _ in range(2)
    )
    chord, index = search_tree(ours).query(theirs)
    monkeypatch.setitem(sys.modules, "scipy.spatial", None)
    all_pairs = search_tree(ours)
    assert np.array_equal(all_pairs.query(theirs)[0], chord)
    assert np.array_equal(all_pairs.query(theirs)[1], index)
    bounded = all_pairs.query(theirs, distance_upper_bound=0.1)[0]
    assert np.array_equal(np.isinf(bounded), chord >= 0.1)
