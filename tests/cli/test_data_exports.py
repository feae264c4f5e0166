"""Exports of phones through the command line: converted, thinned, described, perturbed."""

import csv
import json
from pathlib import Path

import pytest
from imports_maker import FOLDER

from tests.cli.conftest import assert_refused

BOX = "-41,30,-39,31"


@pytest.fixture
def places(run, tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    done = run("data", "locations", f"--box={BOX}", "--grid", "4", "--out", "grid.csv")
    assert done.exit_code == 0, done.stderr
    return tmp_path / "grid.csv"


def rows(path):
    with Path(path).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_timeline_becomes_a_table_by_the_rule_that_was_asked_for(run, places, wording):
    timeline = str(FOLDER / "timeline-android.json")
    done = run("data", "convert", timeline, "--out", "all.csv")
    assert done.exit_code == 0, done.stderr
    assert len(rows("all.csv")) == 5
    text = done.stderr
    for rule, left in (
        ("--stops", 2),
        ("--every 15min", 4),
        ("--points 8", 8),
        ("--stops --points 3", 3),
    ):
        name = f"{rule.replace(' ', '')}.csv"
        done = run("data", "convert", timeline, "--out", name, *rule.split())
        assert done.exit_code == 0, done.stderr
        assert len(rows(name)) == left
        text += f"\n{rule}:\n{done.stderr}"
    wording("cli", "data convert, thinned by each rule", text, hide={f"{FOLDER}/": ""})


def test_a_recipe_says_how_points_were_thinned(run, places):
    done = run(
        *(
            "data",
            "convert",
            str(FOLDER),
            "--out",
            "set",
            "--locations",
            "grid.csv",
            "--stops",
        )
    )
    assert done.exit_code == 2  # the folder holds damaged files, too
    source = str(FOLDER / "timeline-ios.json")
    done = run("data", "convert", source, "--out", "set", "--locations", "grid.csv", "--stops")
    assert done.exit_code == 0, done.stderr
    content = json.loads(Path("set/recipe.json").read_text(encoding="utf-8"))
    assert "200 m" in content["parameters"]["thinning"]


def test_what_is_read_is_perturbed_and_evaluated(run, places):
    source = str(FOLDER / "takeout.zip")
    common = ("--locations", "grid.csv", "--points", "2")
    done = run(
        *("perturb", source, *common, "--epsilon", "4", "--mechanism", "exp", "--seed", "1"),
        *("--keep-tids", "--out", "reports.csv"),
    )
    assert done.exit_code == 0, done.stderr
    assert len(rows("reports.csv")) == 2
    done = run("evaluate", source, "reports.csv", *common)
    assert done.exit_code == 0, done.stderr


def test_tracks_are_described_without_a_location_set_or_a_place(run):
    sources = [str(FOLDER / name) for name in ("timeline-ios.json", "owntracks.rec")]
    done = run("data", "describe", *sources)
    assert done.exit_code == 0, done.stderr
    assert "30." not in done.output
    assert "-40" not in done.output
    content = json.loads(run("data", "describe", *sources, "--bbox", "--json").stdout)
    assert content["data"]["trajectories"] == 2
    assert content["data"]["bbox"] == "-40.3,30.5,-40,30.8"


def test_two_sets_of_tracks_are_described_side_by_side(run):
    one, other = (str(FOLDER / name) for name in ("timeline-ios.json", "tracks.kml"))
    done = run("data", "describe", one, "--compare", other)
    assert done.stdout.splitlines()[0].split() == ["timeline-ios.json", "tracks.kml"]
    assert done.stdout.splitlines()[1].split()[-2:] == ["1", "2"]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("edits.json", "timeline_edits"),
        ("cut-short.json", "not_json"),
        ("nothing.zip", "empty_archive"),
        ("raw-only.json", "raw_only"),
    ],
)
def test_a_refusal_is_one_sentence_and_nothing_is_written(
    run, tmp_path, monkeypatch, name, code
):
    monkeypatch.chdir(tmp_path)
    assert_refused(run("data", "convert", str(FOLDER / name), "--out", "x.csv"), code, name)
    assert not (tmp_path / "x.csv").exists()
    assert not list(tmp_path.glob(".part*"))


def test_raw_signals_are_an_option(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = str(FOLDER / "raw-only.json")
    assert run("data", "convert", source, "--raw-signals", "--out", "x.csv").exit_code == 0
    assert len(rows("x.csv")) == 1


def test_locations_come_from_h3_cells_zones_and_public_points(
    run, tmp_path, monkeypatch, wording
):
    pytest.importorskip("h3")
    monkeypatch.chdir(tmp_path)
    ring = [[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]
    zones = [
        {
            "type": "Feature",
            "properties": {"name": name},
            "geometry": {"type": "Polygon", "coordinates": [[[x + k, y] for x, y in ring]]},
        }
        for k, name in enumerate(["west", "east"])
    ]
    Path("zones.geojson").write_text(
        json.dumps({"type": "FeatureCollection", "features": zones})
    )
    Path("pois.csv").write_text("location_id,lat,lng\na,1,2\nb,2,3\n")
    for made in (
        ("--box=-8.7,41.1,-8.6,41.2", "--h3", "7", "--out", "h3.csv"),
        ("--box=-8.7,41.1,-8.6,41.2", "--grid-km", "5", "--out", "km.csv"),
        ("--zones", "zones.geojson", "--out", "zones.csv"),
        ("--pois", "pois.csv", "--out", "pois.geojson"),
    ):
        done = run("data", "locations", *made)
        assert done.exit_code == 0, done.stderr
    wording("cli", "data locations", done.stdout)
    assert [row["location_id"] for row in rows("zones.csv")] == ["west", "east"]
    assert len(rows("h3.csv")) > 10
