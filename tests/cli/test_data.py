"""``nomadp data``: data sets built, described, converted, and what is said meanwhile."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from nomadp.datasets.built import read_built
from nomadp.formats.location_files import read_locations
from tests.cli.conftest import PLACES, Run, as_json, write
from tests.cli.test_bad_input import assert_refused

CHECK_INS = [
    "ann\t2010-06-01T00:00:00Z\t41.9\t-87.6\ta",
    "ann\t2010-06-01T00:30:00Z\t41.8\t-87.7\tb",
    "SECRET",
    "bob\t2010-06-01T00:00:00Z\t30.0\t-97.0\tfar",
    "bob\t2010-06-01T00:00:00Z\t41.8\t-87.7\tb",
    "bob\t2010-06-01T02:00:00Z\t41.9\t-87.6\ta",
]


@pytest.fixture
def check_ins(folder: Path) -> Path:
    return write(folder / "gowalla.txt", *CHECK_INS)


def test_builds_a_city(folder: Path, run: Run) -> None:
    result = run("data", "build", "city", "--out", "city", "--places", "50", "--trips", "20")
    assert result.exit_code == 0, result.stderr
    assert "places           50" in result.stdout
    locations, trips = read_built(folder / "city")
    assert (len(locations), len(trips)) == (50, 20)


def test_the_same_seed_builds_the_same_files(folder: Path, run: Run) -> None:
    made = [
        as_json(
            run(
                *("data", "build", "city", "--places", "30", "--trips", "9"),
                *("--seed", seed, "--out", name, "--json"),
            )
        )["outputs"]
        for name, seed in (("one", "5"), ("two", "5"), ("three", "6"))
    ]
    assert made[0] == made[1] != made[2]


def test_builds_a_campus_with_every_parameter_of_the_study(folder: Path, run: Run) -> None:
    made = as_json(
        run(
            *("data", "build", "campus", "--out", "campus", "--walks", "30", "--length", "5"),
            *("--speed-km-h", "16", "--json"),
        )
    )
    assert made["parameters"]["lengths"] == [5, 5]
    assert made["parameters"]["speed_km_h"] == 16
    assert set(read_built(folder / "campus")[1].lengths.tolist()) == {5}
    free = run("data", "build", "campus", "--out", "free", "--no-speed-limit", "--json")
    assert as_json(free)["parameters"]["speed_km_h"] is None


def test_builds_check_ins_with_a_preset_and_counts_every_stage(
    folder: Path, run: Run, check_ins: Path
) -> None:
    result = run("data", "build", "gowalla", "gowalla.txt", "--preset", "chi", "--out", "chi")
    assert result.exit_code == 0, result.stderr
    assert "1 malformed rows are left out, the first on lines 3" in result.stderr
    for line in ("rows read", "outside the box", "points too soon after another"):
        assert line in result.stdout
    assert "SECRET" not in result.output
    recipe = json.loads((folder / "chi" / "recipe.json").read_text())
    assert recipe["parameters"]["box"] == "-88,41.6,-87.4,42"
    assert recipe["counts"]["trajectories"] == 2
    assert list(recipe["inputs"]) == ["gowalla.txt"]


def test_options_change_a_preset(run: Run, check_ins: Path) -> None:
    made = as_json(
        run(
            *("data", "build", "gowalla", "gowalla.txt", "--preset", "chi", "--out", "chi"),
            *("--places", "2", "--box", "-98,29,-87,42", "--gap-hours", "5", "--json"),
            *("--window-minutes", "3", "--longest", "4", "--seed", "9"),
        )
    )
    assert made["parameters"] == {
        "source": "gowalla",
        "box": "-98,29,-87,42",
        "places": 2,
        "window_minutes": 3.0,
        "gap_hours": 5.0,
        "longest": 4,
        "seed": 9,
    }


def test_describes_a_set_and_compares_two(folder: Path, run: Run) -> None:
    run("data", "build", "city", "--out", "city", "--places", "50", "--trips", "200")
    alone = run("data", "describe", "city")
    assert alone.exit_code == 0, alone.stderr
    for title in ("step length", "radius of gyration", "most visited", "by length"):
        assert title in alone.stdout
    both = run(
        "data", "describe", "trips.csv", "--locations", "places.csv", "--compare", "city"
    )
    assert both.stdout.splitlines()[0].split() == ["trips.csv", "city"]
    assert both.stdout.splitlines()[1].split() == ["places", "9", "50"]
    found = as_json(run("data", "describe", "city", "--compare", "city", "--json"))
    assert {**found["data"], "source": ""} == {**found["other"], "source": ""}
    assert list(found["data"]["length"]) == [*map(str, range(1, 9)), "over 8"]


def test_no_place_of_anybody_is_described(run: Run) -> None:
    result = run("data", "describe", "trips.csv", "--locations", "places.csv")
    assert result.exit_code == 0
    assert not [word for word in (*PLACES, "zoe", "bob") if word in result.output]


def converted(run: Run, *arguments: str) -> Any:
    return as_json(run("data", "convert", *arguments, "--json"))


def test_converts_a_file_and_reports_the_mapping(folder: Path, run: Run) -> None:
    write(
        folder / "fixes.csv",
        "user_id,tracked_at,longitude,latitude",
        "zoe,2020-01-01T00:00:00+01:00,8.5,47.25",
        "zoe,2020-01-01T05:00:00+01:00,8.6,47.5",
    )
    result = run(
        "data", "convert", "fixes.csv", "--from", "trackintel", "--out", "fixes.geojson"
    )
    assert result.exit_code == 0, result.stderr
    assert "user_id as uid, tracked_at as datetime" in result.stderr
    assert result.stdout == "1 trajectories (2 points): fixes.geojson\n"
    made = converted(
        run, "fixes.geojson", "--out", "out.csv", "--to", "skmob", "--split-hours", "3"
    )
    assert made["trajectories"] == 2
    assert (folder / "out.csv").read_text().splitlines() == [
        "uid,tid,datetime,lat,lng",
        "zoe,1,2020-01-01T00:00:00+01:00,47.25,8.5",
        "zoe,2,2020-01-01T05:00:00+01:00,47.5,8.6",
    ]


def test_columns_can_be_mapped_by_hand_and_a_time_zone_given(folder: Path, run: Run) -> None:
    write(folder / "odd.csv", "who,when,lat,lng", "zoe,2020-07-01T02:00:00,47.25,8.5")
    made = converted(
        run,
        *("odd.csv", "--columns", "who=uid", "--columns", "when=datetime"),
        *("--time-zone", "Europe/Paris", "--out", "even.csv"),
    )
    assert "who as uid, when as datetime" in made["notes"][0]
    assert "2020-07-01T02:00:00+02:00" in (folder / "even.csv").read_text()


def test_a_built_folder_and_a_file_by_place_names_get_coordinates(
    folder: Path, run: Run
) -> None:
    run("data", "build", "city", "--out", "city", "--places", "20", "--trips", "5")
    assert converted(run, "city", "--out", "city.geoparquet")["trajectories"] == 5
    again = converted(
        run, "city.geoparquet", "--out", "again", "--locations", "city/locations.csv"
    )
    assert again["recipe"]["parameters"]["by"] == "location_id"
    assert read_built(folder / "again") == read_built(folder / "city")
    joined = converted(run, "trips.csv", "--locations", "places.csv", "--out", "trips.geojson")
    assert joined["points"] == 7


def test_tracks_of_several_files_stay_apart_and_are_for_their_owner_alone(
    folder: Path, run: Run
) -> None:
    track = '<gpx><trk><trkseg><trkpt lat="40" lon="-74"/></trkseg></trk></gpx>'
    for name in ("monday.gpx", "tuesday.gpx"):
        write(folder / name, track)
    made = converted(run, "monday.gpx", "tuesday.gpx", "--out", "week.csv")
    assert (made["trajectories"], made["points"]) == (2, 2)
    assert (folder / "week.csv").stat().st_mode & 0o777 == 0o600
    snapped = ("--locations", "places.csv", "--out", "week")
    recipe = converted(run, "monday.gpx", "tuesday.gpx", *snapped)["recipe"]
    assert list(recipe["inputs"]) == ["monday.gpx", "tuesday.gpx"]


def test_snapping_is_refused_where_it_would_lead_far(folder: Path, run: Run) -> None:
    write(folder / "away.csv", "tid,seq,lat,lng", "t,0,12.34567,8")
    snapped = ("data", "convert", "away.csv", "--locations", "places.csv", "--out", "x")
    assert_refused(run(*snapped), "within 50 km of a location, got 1 of 1")
    assert run(*snapped, "--max-snap-km", "20100").exit_code == 0


def test_snaps_to_a_grid_that_covers_the_box_whoever_was_where(folder: Path, run: Run) -> None:
    converted(run, "trips.csv", "--locations", "places.csv", "--out", "raw.csv")
    box = ("--box", "-74.01,39.99,-73.95,40.05")
    result = run("data", "convert", "raw.csv", "--grid-km", "1", *box, "--out", "grid")
    assert result.exit_code == 0, result.stderr
    assert re.search(r"^outside the box +0$", result.stdout, re.MULTILINE)
    assert "half of the points moved at most" in result.stdout
    assert len(read_locations(folder / "grid" / "locations.csv")) == 7 * 6
    assert read_built(folder / "grid")[1].tids == ("t1", "t2", "t3")


def test_snaps_to_h3(folder: Path, run: Run) -> None:
    pytest.importorskip("h3")
    converted(run, "trips.csv", "--locations", "places.csv", "--out", "raw.csv")
    box = ("--box", "-74.01,39.99,-73.95,40.05")
    made = converted(run, "raw.csv", "--h3", "8", *box, "--out", "cells")
    assert made["recipe"]["parameters"]["resolution"] == 8


def test_without_h3_the_line_that_installs_it_is_printed(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "h3", None)
    result = run(
        "data", "convert", "trips.csv", "--h3", "8", "--box", "0,0,1,1", "--out", "cells"
    )
    assert result.exit_code == 1
    assert 'run: pip install "nomadp[h3]"' in result.stderr


BAD: dict[str, tuple[list[str], str]] = {
    "a city of nothing": (
        ["build", "city", "--out", "x", "--places", "1"],
        "at least 2 places",
    ),
    "walks of no length": (["build", "campus", "--out", "x", "--length", "0"], "lengths=0"),
    "no speed": (["build", "campus", "--out", "x", "--speed-km-h", "0"], "speed_km_h=0.0"),
    "no places": (["build", "gowalla", "gowalla.txt", "--out", "x"], "--places K, or --preset"),
    "an unknown preset": (
        ["build", "gowalla", "gowalla.txt", "--preset", "sfo", "--out", "x"],
        "unknown preset 'sfo'; choose one of nyc, chi, cle",
    ),
    "a preset of another source": (
        ["build", "gowalla", "gowalla.txt", "--preset", "nyc", "--out", "x"],
        "the preset nyc is made from a foursquare file",
    ),
    "a box of three numbers": (
        ["build", "gowalla", "gowalla.txt", "--places", "5", "--box", "1,2,3", "--out", "x"],
        "a box must be four numbers",
    ),
    "a box elsewhere": (
        ["build", "gowalla", "gowalla.txt", "--places", "5", "--box", "0,0,1,1", "--out", "x"],
        "lie outside; check the box",
    ),
    "another kind of file": (
        ["build", "foursquare", "gowalla.txt", "--places", "5", "--out", "x"],
        "must be a foursquare file of 8 columns",
    ),
    "a folder with other data": (
        ["build", "city", "--out", "theirs", "--overwrite"],
        "was not built here and is not overwritten",
    ),
    "a set without its folder": (
        ["describe", "trips.csv"],
        "--locations FILE says where they are",
    ),
    "a folder without a set": (["describe", "."], "naive.csv: line 2: datetime must have"),
    "a box of places": (
        ["describe", "city", "--bbox", "--locations", "places.csv"],
        "--bbox is",
    ),
    "two rules that exclude each other": (
        ["convert", "trips.csv", "--out", "x.csv", "--stops", "--every", "5min"],
        "exclude each other",
    ),
    "a radius without stops": (
        ["convert", "trips.csv", "--out", "x.csv", "--stop-minutes", "5"],
        "go with --stops",
    ),
    "an interval without a unit": (
        ["convert", "trips.csv", "--out", "x.csv", "--every", "5"],
        "such as 90s, 5min or 1h, got 5",
    ),
    "locations of nothing": (["locations", "--out", "x.csv"], "say what the locations are"),
    "locations of two things": (
        ["locations", "--out", "x.csv", "--grid", "4", "--h3", "8"],
        "say what the locations are",
    ),
    "a grid of nowhere": (["locations", "--out", "x.csv", "--grid", "4"], "add --box"),
    "points without coordinates": (
        ["locations", "--out", "x.csv", "--pois", "trips.csv"],
        "missing: lat, lng",
    ),
    "a folder to snap nowhere": (
        ["convert", "trips.csv", "--out", "x"],
        "needs one of --locations, --grid-km and --h3",
    ),
    "a grid without a box": (
        ["convert", "trips.csv", "--out", "x", "--grid-km", "1"],
        "--box W,S,E,N goes with",
    ),
    "a grid into a file": (
        ["convert", "trips.csv", "--out", "x.csv", "--grid-km", "1", "--box", "0,0,1,1"],
        "need a folder as --out",
    ),
    "a grid of dust": (
        ["convert", "trips.csv", "--out", "x", "--grid-km", "1e-6", "--box", "0,0,1,1"],
        "at most 1000000 cells",
    ),
    "the source as output": (
        ["convert", "trips.csv", "--out", "trips.csv"],
        "got one of the inputs",
    ),
    "an unknown zone": (
        ["convert", "trips.csv", "--out", "x.csv", "--time-zone", "Mars/Base"],
        "got Mars/Base",
    ),
    "an unknown column preset": (
        ["convert", "trips.csv", "--out", "x.csv", "--from", "skmobb"],
        "did you mean skmob?",
    ),
    "a map without a name": (
        ["convert", "trips.csv", "--out", "x.csv", "--columns", "uid"],
        "must be THEIRS=OURS",
    ),
    "places without coordinates": (
        ["convert", "trips.csv", "--out", "x.csv"],
        "must say whose (tid or uid), when",
    ),
    "a naive time": (
        ["convert", "naive.csv", "--out", "x.csv"],
        "line 2: datetime must have a time zone; add Z for UTC",
    ),
    "no hours": (
        ["convert", "trips.csv", "--out", "x.csv", "--split-hours", "0"],
        "a number of hours above 0, got 0",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_refuses_in_one_sentence_and_writes_nothing(
    name: str, folder: Path, run: Run, check_ins: Path
) -> None:
    write(folder / "naive.csv", "tid,datetime,lat,lng", "t,2020-01-01T00:00:00,41.234567,2")
    (folder / "theirs").mkdir()
    write(folder / "theirs" / "locations.csv", "theirs")
    before = sorted(folder.rglob("*"))
    arguments, says = BAD[name]
    assert_refused(run("data", *arguments), says)
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(
    "command",
    [
        "build",
        "describe",
        "convert",
        "locations",
        "build city",
        "build campus",
        "build gowalla",
    ],
)
def test_every_command_shows_an_example(command: str, run: Run) -> None:
    text = run("data", *command.split(), "--help").stdout
    assert f"Example:\n    nomadp data {command.split()[0]}" in text


@pytest.mark.parametrize(
    "command", ["build", "build foursquare", "describe", "convert", "locations"]
)
def test_help_imports_nothing_heavy(command: str) -> None:
    code = (
        "import sys, contextlib, io\n"
        "from nomadp.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"
        "    try: main(sys.argv[1:])\n"
        "    except SystemExit as stopped: assert not stopped.code\n"
        "print([name for name in ('numpy', 'scipy', 'pyarrow', 'rich') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "data", *command.split(), "--help"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_nests_points_into_trajectories(folder: Path, run: Run) -> None:
    columns = pyarrow.csv.read_csv(folder / "trips.csv")
    pq.write_table(columns.select(["tid", "seq", "location_id"]), folder / "points.parquet")
    told = run("data", "nest", "points.parquet", "--out", "nested.parquet")
    assert told.stdout == "3 trajectories, one row each: nested.parquet\n"
    more = ("--out", "nested.parquet", "--overwrite", "--json")
    again = as_json(run("data", "nest", "points.parquet", *more))
    assert again == {"trajectories": 3, "out": "nested.parquet"}


def test_a_file_of_an_unknown_format_is_called_that(folder: Path, run: Run) -> None:
    (folder / "photo.jpg").write_bytes(b"\xff\xd8\xff\xe0\x00\x10JFIF" + bytes(100))
    refused = run("data", "convert", "photo.jpg", "--out", "out.csv")
    assert refused.exit_code == 2
    assert "photo.jpg" in refused.stderr
    assert "format is not recognised" in refused.stderr
    assert "XML" not in refused.stderr
