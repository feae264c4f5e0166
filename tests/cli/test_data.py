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
from tests.cli.conftest import PLACES, Run, as_json, assert_refused, write

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


def test_builds_a_city(folder: Path, run: Run, wording: Any) -> None:
    result = run("data", "build", "city", "--out", "city", "--places", "50", "--trips", "20")
    assert result.exit_code == 0, result.stderr
    wording("cli", "data build city", result.stdout)
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
    folder: Path, run: Run, check_ins: Path, wording: Any
) -> None:
    result = run("data", "build", "gowalla", "gowalla.txt", "--preset", "chi", "--out", "chi")
    assert result.exit_code == 0, result.stderr
    assert "SECRET" not in result.output
    wording("cli", "data build gowalla", result.stdout + result.stderr)
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


def test_describes_a_set_and_compares_two(folder: Path, run: Run, wording: Any) -> None:
    run("data", "build", "city", "--out", "city", "--places", "50", "--trips", "200")
    both = run(
        "data", "describe", "trips.csv", "--locations", "places.csv", "--compare", "city"
    )
    assert both.exit_code == 0, both.stderr
    assert both.stdout.splitlines()[0].split() == ["trips.csv", "city"]
    assert both.stdout.splitlines()[1].split()[-2:] == ["9", "50"]
    wording("cli", "data describe", both.stdout)
    content = as_json(run("data", "describe", "city", "--compare", "city", "--json"))
    assert {**content["data"], "source": ""} == {**content["other"], "source": ""}
    assert list(content["data"]["length"]) == [*map(str, range(1, 9)), "over 8"]


def test_no_place_of_anybody_is_described(run: Run) -> None:
    result = run("data", "describe", "trips.csv", "--locations", "places.csv")
    assert result.exit_code == 0
    assert not [word for word in (*PLACES, "zoe", "bob") if word in result.output]


def converted(run: Run, *arguments: str) -> Any:
    return as_json(run("data", "convert", *arguments, "--json"))


def test_converts_a_file_and_reports_the_mapping(folder: Path, run: Run, wording: Any) -> None:
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
    wording("cli", "data convert", result.stdout + result.stderr)
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
    assert {"who", "uid", "when", "datetime"} <= set(re.findall(r"\w+", made["notes"][0]))
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
    assert_refused(run(*snapped), "points_too_far", "50 km", "--max-snap-km")
    assert run(*snapped, "--max-snap-km", "20100").exit_code == 0


def test_snaps_to_a_grid_that_covers_the_box_whoever_was_where(
    folder: Path, run: Run, wording: Any
) -> None:
    converted(run, "trips.csv", "--locations", "places.csv", "--out", "raw.csv")
    box = ("--box", "-74.01,39.99,-73.95,40.05")
    result = run("data", "convert", "raw.csv", "--grid-km", "1", *box, "--out", "grid")
    assert result.exit_code == 0, result.stderr
    recipe = json.loads((folder / "grid" / "recipe.json").read_text())
    assert recipe["counts"]["outside_box"] == 0
    wording("cli", "data convert, snapped to a grid", result.stdout)
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
    assert_refused(result, "package_missing", 'pip install "nomadp[h3]"', exit_code=1)


BAD: dict[str, tuple[Any, ...]] = {
    "a city of nothing": (
        ["build", "city", "--out", "x", "--places", "1"],
        "city_too_small",
        "places=1",
    ),
    "walks of no length": (
        ["build", "campus", "--out", "x", "--length", "0"],
        "walks_out_of_range",
        "lengths=0",
    ),
    "no speed": (
        ["build", "campus", "--out", "x", "--speed-km-h", "0"],
        "speed_out_of_range",
        "speed_km_h=0.0",
    ),
    "no places": (
        ["build", "gowalla", "gowalla.txt", "--out", "x"],
        "option_missing",
        "--places",
        "--preset",
    ),
    "an unknown preset": (
        ["build", "gowalla", "gowalla.txt", "--preset", "sfo", "--out", "x"],
        "unknown_recipe",
        "sfo",
        "nyc, chi, cle",
    ),
    "a preset of another source": (
        ["build", "gowalla", "gowalla.txt", "--preset", "nyc", "--out", "x"],
        "recipe_of_another_source",
        "nyc",
        "foursquare",
    ),
    "a box of three numbers": (
        ["build", "gowalla", "gowalla.txt", "--places", "5", "--box", "1,2,3", "--out", "x"],
        "not_a_box",
        "1,2,3",
    ),
    "a box elsewhere": (
        ["build", "gowalla", "gowalla.txt", "--places", "5", "--box", "0,0,1,1", "--out", "x"],
        "no_points_in_box",
        "0,0,1,1",
    ),
    "another kind of file": (
        ["build", "foursquare", "gowalla.txt", "--places", "5", "--out", "x"],
        "not_checkins",
        "gowalla.txt",
    ),
    "a folder with other data": (
        ["build", "city", "--out", "theirs", "--overwrite"],
        "not_built_here",
        "theirs",
    ),
    "a set without its folder": (
        ["describe", "trips.csv"],
        "columns_insufficient",
        "--locations",
    ),
    "a folder without a set": (["describe", "."], "time_zone_missing", "naive.csv: line 2"),
    "a box of places": (
        ["describe", "city", "--bbox", "--locations", "places.csv"],
        "option_unsuitable",
        "--bbox",
    ),
    "two rules that exclude each other": (
        ["convert", "trips.csv", "--out", "x.csv", "--stops", "--every", "5min"],
        "options_exclude_each_other",
        "--stops",
        "--every",
    ),
    "a radius without stops": (
        ["convert", "trips.csv", "--out", "x.csv", "--stop-minutes", "5"],
        "options_not_paired",
        "--stop-minutes",
        "--stops",
    ),
    "an interval without a unit": (
        ["convert", "trips.csv", "--out", "x.csv", "--every", "5"],
        "not_a_time_span",
        "'--every'",
    ),
    "locations of nothing": (
        ["locations", "--out", "x.csv"],
        "not_one_source",
        "--grid-km",
    ),
    "locations of two things": (
        ["locations", "--out", "x.csv", "--grid", "4", "--h3", "8"],
        "not_one_source",
        "--grid-km",
    ),
    "a grid of nowhere": (
        ["locations", "--out", "x.csv", "--grid", "4"],
        "option_missing",
        "--box",
    ),
    "points without coordinates": (
        ["locations", "--out", "x.csv", "--pois", "trips.csv"],
        "columns_missing",
        "lat, lng",
    ),
    "a folder to snap nowhere": (
        ["convert", "trips.csv", "--out", "x"],
        "snap_target_missing",
        "--locations",
        "--grid-km",
        "--h3",
    ),
    "a grid without a box": (
        ["convert", "trips.csv", "--out", "x", "--grid-km", "1"],
        "options_not_paired",
        "--box",
        "--grid-km",
    ),
    "a grid into a file": (
        ["convert", "trips.csv", "--out", "x.csv", "--grid-km", "1", "--box", "0,0,1,1"],
        "option_unsuitable",
        "--grid-km",
    ),
    "a grid of dust": (
        ["convert", "trips.csv", "--out", "x", "--grid-km", "1e-6", "--box", "0,0,1,1"],
        "too_many_cells",
        "1000000",
    ),
    "the source as output": (
        ["convert", "trips.csv", "--out", "trips.csv"],
        "output_is_an_input",
        "--out",
    ),
    "an unknown zone": (
        ["convert", "trips.csv", "--out", "x.csv", "--time-zone", "Mars/Base"],
        "unknown_time_zone",
        "Mars/Base",
    ),
    "an unknown column preset": (
        ["convert", "trips.csv", "--out", "x.csv", "--from", "skmobb"],
        "unknown_preset",
        "skmobb",
        "skmob?",
    ),
    "a map without a name": (
        ["convert", "trips.csv", "--out", "x.csv", "--columns", "uid"],
        "invalid_column_map",
        "uid",
    ),
    "places without coordinates": (
        ["convert", "trips.csv", "--out", "x.csv"],
        "columns_insufficient",
        "--locations",
    ),
    "a naive time": (
        ["convert", "naive.csv", "--out", "x.csv"],
        "time_zone_missing",
        "line 2: datetime",
    ),
    "no hours": (
        ["convert", "trips.csv", "--out", "x.csv", "--split-hours", "0"],
        "option_out_of_range",
        "'--split-hours'",
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
    arguments, *says = BAD[name]
    assert_refused(run("data", *arguments), *says)
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
    result = run("data", "nest", "points.parquet", "--out", "nested.parquet")
    assert "nested.parquet" in result.stdout
    more = ("--out", "nested.parquet", "--overwrite", "--json")
    again = as_json(run("data", "nest", "points.parquet", *more))
    assert again == {"trajectories": 3, "out": "nested.parquet"}


def test_a_file_of_an_unknown_format_is_called_that(folder: Path, run: Run) -> None:
    (folder / "photo.jpg").write_bytes(b"\xff\xd8\xff\xe0\x00\x10JFIF" + bytes(100))
    refused = run("data", "convert", "photo.jpg", "--out", "out.csv")
    assert_refused(refused, "unknown_format", "photo.jpg", "--from")
