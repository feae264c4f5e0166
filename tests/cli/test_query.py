"""``nomadp query``: one command asks reports of journeys and of direct questions."""

import csv
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from refusals import json_code

from tests.cli.conftest import PLACES, Run, as_json, assert_refused, write

NUMBERS = ["share", "flow", "std_error", "ci_low", "ci_high"]
PLACE = [
    "lat",
    "lng",
    "share",
    "std_error",
    "ci_low",
    "ci_high",
    "baseline",
    "rank",
    "p_value",
    "significant",
]
FLOW = [
    "origin",
    "destination",
    "flow",
    "std_error",
    "ci_low",
    "ci_high",
    "baseline",
    "p_value",
    "significant",
]


@pytest.fixture
def ask(run: Run) -> Run:
    def invoke(question: str, *more: str):
        files = ("reports.csv", "--locations", "places.csv", "--out", "shares.csv")
        return run("query", question, *files, "--overwrite", *more)

    return invoke


@pytest.fixture
def crowd(folder: Path) -> None:
    """Sixty people from place-a to place-i, in the morning, and twenty who stay at place-c."""
    lines = []
    for k in range(80):
        way = ("place-a", "place-i") if k < 60 else ("place-c", "place-c")
        hour = 7 if k < 60 else 20
        lines += [f"t{k},{seq},{way[seq]},2024-05-06T{hour:02}:00:00+02:00" for seq in (0, 1)]
    write(folder / "trips.csv", "tid,seq,location_id,datetime", *lines)


def rows(folder: Path) -> list[dict[str, Any]]:
    with (folder / "shares.csv").open(newline="", encoding="utf-8") as file:
        return [
            {
                key: float(value or "nan") if key in NUMBERS else value
                for key, value in row.items()
            }
            for row in csv.DictReader(file)
        ]


def by_zone(folder: Path, column: str = "zone") -> dict[str, float]:
    return {row[column]: row["share"] for row in rows(folder)}


@pytest.mark.usefixtures("crowd")
@pytest.mark.parametrize(("name", "most"), [("starts", "r0_c0"), ("ends", "r2_c2")])
def test_a_direct_question_is_answered_for_its_zones(
    name: str, most: str, folder: Path, perturb: Run, ask: Run
) -> None:
    assert perturb("--seed", "1", "--mechanism", name, "--zones", "grid:3").exit_code == 0
    content = as_json(ask("hotspots", "--json"))
    assert (content["mechanism"], content["reports"], content["epsilon"]) == (name, 80, "4")
    estimates = rows(folder)
    assert list(estimates[0]) == ["zone", *PLACE]
    assert len(estimates) == 9 == content["rows"]
    assert sum(row["share"] for row in estimates) == pytest.approx(1)
    assert all(0 <= row["ci_low"] <= row["ci_high"] <= 1 for row in estimates)
    assert (
        max(estimates, key=lambda row: row["share"])["zone"]
        == most
        == content["top"][0]["zone"]
    )
    assert content["significance"]["significant"] > 0
    assert sorted(int(row["rank"]) for row in estimates) == list(range(1, 10))


@pytest.mark.usefixtures("crowd")
def test_trips_answer_flows_and_both_ends(folder: Path, perturb: Run, ask: Run) -> None:
    assert perturb("--seed", "1", "--mechanism", "trips", "--zones", "grid:3").exit_code == 0
    assert ask("flows").exit_code == 0
    estimates = rows(folder)
    assert list(estimates[0]) == FLOW
    best = max(estimates, key=lambda row: row["flow"])
    assert (best["origin"], best["destination"]) == ("r0_c0", "r2_c2")
    for at, most in (("starts", "r0_c0"), ("ends", "r2_c2")):
        assert ask("hotspots", "--at", at).exit_code == 0
        shares = by_zone(folder)
        assert max(shares, key=shares.__getitem__) == most


@pytest.mark.usefixtures("crowd")
def test_journeys_are_asked_by_the_same_command(folder: Path, perturb: Run, ask: Run) -> None:
    assert perturb("--seed", "1", "--mechanism", "atlas", "--epsilon", "8").exit_code == 0
    assert ask("hotspots").exit_code == 0
    assert sorted(by_zone(folder, "location_id")) == PLACES
    content = as_json(ask("flows", "--zones", "grid:3", "--json"))
    assert (content["mechanism"], content["rows"]) == ("atlas", 81)
    best = max(rows(folder), key=lambda row: row["flow"])
    assert (best["origin"], best["destination"]) == ("r0_c0", "r2_c2")


@pytest.mark.usefixtures("crowd")
def test_times_are_told_together_and_each(folder: Path, perturb: Run, ask: Run) -> None:
    made = ("--mechanism", "starts", "--zones", "grid:1", "--when", "day-part")
    assert perturb(*made, "--epsilon", "8").exit_code == 0
    assert ask("hotspots").exit_code == 0
    estimates = rows(folder)
    assert [row["when"] for row in estimates] == [
        "any",
        "0-6 h",
        "6-12 h",
        "12-18 h",
        "18-24 h",
    ]
    share = {row["when"]: row["share"] for row in estimates}
    assert share.pop("any") == pytest.approx(1)
    assert sum(share.values()) == pytest.approx(1)
    assert share["6-12 h"] == pytest.approx(0.75, abs=0.1)


@pytest.mark.usefixtures("crowd")
@pytest.mark.parametrize(
    ("name", "kind", "value"), [("trips", "flows", "flow"), ("starts", "hotspots", "share")]
)
def test_rows_of_a_time_sum_to_its_share(
    name: str, kind: str, value: str, folder: Path, perturb: Run, ask: Run
) -> None:
    made = ("--seed", "1", "--mechanism", name, "--zones", "grid:2", "--when", "day-part")
    assert perturb(*made, "--epsilon", "8").exit_code == 0
    assert ask(kind).exit_code == 0
    total: dict[str, float] = {}
    for row in rows(folder):
        total[row["when"]] = total.get(row["when"], 0) + row[value]
    assert sum(total.values()) == pytest.approx(2)
    assert total.pop("any") == pytest.approx(1)
    assert total["6-12 h"] == pytest.approx(0.75, abs=0.1)  # of 80 people 60, and not 1
    assert total["0-6 h"] < 0.1


@pytest.mark.usefixtures("crowd")
def test_every_time_is_shown_and_counted(folder: Path, perturb: Run, ask: Run) -> None:
    made = ("--seed", "1", "--mechanism", "starts", "--zones", "grid:1", "--when", "day-part")
    assert perturb(*made, "--epsilon", "8").exit_code == 0
    content = as_json(ask("hotspots", "--json"))
    apart = [row["significant"] == "True" for row in rows(folder)]
    assert content["significance"]["significant"] == sum(apart) == 3
    assert [row["when"] for row in content["top"]][:2] == ["any", "6-12 h"]
    lines = ask("hotspots").stdout.splitlines()
    assert len([line for line in lines if line.startswith("r0_c0")]) == 5


@pytest.mark.usefixtures("crowd")
def test_what_few_codewords_cannot_claim_is_left_out_and_said(
    perturb: Run, ask: Run, wording: Any
) -> None:
    made = ("--seed", "1", "--mechanism", "atlas", "--epsilon", "4", "--length", "2")
    assert perturb(*made).exit_code == 0
    content = as_json(ask("flows", "--zones", "grid:2", "--json"))
    assert content["no_intervals"]
    assert {
        row[name]
        for row in content["top"]
        for name in ("ci_low", "ci_high", "p_value", "significant")
    } == {None}
    wording("cli", "query, without intervals", ask("flows", "--zones", "grid:2").stdout)


@pytest.mark.usefixtures("crowd")
def test_people_read_the_greatest_shares_and_what_flat_says(
    perturb: Run, ask: Run, wording: Any
) -> None:
    perturb("--seed", "1", "--mechanism", "ends", "--zones", "grid:3")
    wording("cli", "query", ask("hotspots").stdout)


def test_says_when_reports_tell_nothing(perturb: Run, ask: Run, wording: Any) -> None:
    perturb("--seed", "1", "--mechanism", "starts", "--zones", "grid:3", "--epsilon", "0.1")
    assert as_json(ask("hotspots", "--json"))["significance"]["significant"] == 0
    wording("cli", "query, where reports show nothing", ask("hotspots").stdout)


@pytest.mark.usefixtures("crowd")
def test_a_higher_level_has_wider_intervals(folder: Path, perturb: Run, ask: Run) -> None:
    perturb("--seed", "1", "--mechanism", "starts", "--zones", "grid:3")
    widths = []
    for level in ("0.5", "0.99"):
        assert ask("hotspots", "--level", level).exit_code == 0
        widths.append(sum(row["ci_high"] - row["ci_low"] for row in rows(folder)))
    assert widths[0] < widths[1]


@pytest.mark.usefixtures("crowd")
def test_larger_zones_are_answered_and_others_refused(
    folder: Path, perturb: Run, ask: Run
) -> None:
    perturb("--seed", "1", "--mechanism", "starts", "--zones", "grid:2")
    assert ask("hotspots", "--zones", "grid:1").exit_code == 0
    assert by_zone(folder) == {"r0_c0": pytest.approx(1)}
    (folder / "shares.csv").unlink()
    assert_refused(ask("hotspots", "--zones", "grid:3"), "zones_not_nested", "grid:2", "grid:3")
    assert not (folder / "shares.csv").exists()


@pytest.mark.usefixtures("crowd")
def test_polygons_are_asked_about_with_their_file(folder: Path, perturb: Run, ask: Run) -> None:
    box = [[-74.1, 39.9], [-73.99, 39.9], [-73.99, 40.1], [-74.1, 40.1], [-74.1, 39.9]]
    shape = {"type": "Polygon", "coordinates": [box]}
    west = {"type": "Feature", "properties": {"name": "west"}, "geometry": shape}
    content = {"type": "FeatureCollection", "features": [west]}
    (folder / "west.geojson").write_text(json.dumps(content), encoding="utf-8")
    made = perturb(
        "--seed", "1", "--mechanism", "starts", "--zones", "west.geojson", "--epsilon", "8"
    )
    assert made.exit_code == 0
    result = ask("hotspots", "--zones", "west.geojson")
    assert result.exit_code == 0, result.stderr
    shares = by_zone(folder)
    assert set(shares) == {"west", "elsewhere"}
    assert shares["west"] == pytest.approx(0.75, abs=0.1)
    mapped = ask("hotspots", "--zones", "west.geojson", "--out", "west.shares.geojson")
    assert mapped.exit_code == 0, mapped.stderr
    drawn = json.loads((folder / "west.shares.geojson").read_text(encoding="utf-8"))
    assert [each["geometry"] for each in drawn["features"]] == [shape, None]


@pytest.mark.parametrize(
    ("made", "question", "more", "says"),
    [
        ("starts", "flows", (), ("pairs_not_queried", "starts", "trips")),
        ("starts", "hotspots", ("--at", "ends"), ("points_not_queried", "starts", "ends")),
        ("brr", "flows", (), ("reports_of_points",)),
        ("tp", "hotspots", (), ("mechanism_not_decodable", "tp")),
        ("trips", "flows", ("--at", "ends"), ("option_unsuitable", "--at")),
        ("trips", "flows", ("--level", "2"), ("option_out_of_range", "'--level'")),
        ("trips", "flows", ("--zones", "grid:x"), ("unknown_zone_rule", "grid:x")),
    ],
)
def test_what_is_not_told_is_refused_in_one_sentence(
    made: str,
    question: str,
    more: tuple[str, ...],
    says: tuple[str, ...],
    folder: Path,
    perturb: Run,
    ask: Run,
) -> None:
    assert perturb("--mechanism", made).exit_code == 0
    assert_refused(ask(question, *more), *says)
    assert not (folder / "shares.csv").exists()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("none.parquet", ("file_unreadable", "none.parquet")),
        ("none.csv", ("file_unreadable", "none.csv")),
        ("cut.parquet", ("not_parquet", "cut.parquet")),
        ("no-rows.parquet", ("no_reports",)),
        ("no-places.parquet", ("columns_missing", "no-places.parquet", "seq")),
    ],
)
def test_a_file_that_is_no_reports_is_called_what_it_is(
    name: str, says: tuple[str, ...], folder: Path, perturb: Run, run: Run
) -> None:
    import pyarrow.parquet as pq

    assert perturb("--mechanism", "brr", "--out", "whole.parquet").exit_code == 0
    whole = pq.read_table(folder / "whole.parquet")
    (folder / "cut.parquet").write_bytes((folder / "whole.parquet").read_bytes()[:-40])
    pq.write_table(whole.slice(0, 0), folder / "no-rows.parquet")
    pq.write_table(whole.drop_columns(["location_ids"]), folder / "no-places.parquet")
    before = sorted(folder.iterdir())
    refused = run("query", "hotspots", name, "--locations", "places.csv", "--out", "x.csv")
    assert_refused(refused, *says)
    assert sorted(folder.iterdir()) == before


def test_reports_that_do_not_say_how_they_were_made_are_refused(
    folder: Path, perturb: Run, ask: Run
) -> None:
    perturb("--seed", "1", "--mechanism", "starts")
    (folder / "reports.csv.meta.json").unlink()
    assert_refused(ask("hotspots"), "header_missing", "reports.csv", "nomadp perturb")


def test_the_file_says_how_it_was_made(folder: Path, perturb: Run, ask: Run) -> None:
    perturb("--seed", "1", "--mechanism", "starts", "--zones", "grid:2")
    assert ask("hotspots", "--level", "0.8").exit_code == 0
    content = json.loads((folder / "shares.csv.meta.json").read_text(encoding="utf-8"))
    assert (content["kind"], content["mechanism"], content["level"]) == (
        "hotspots",
        "starts",
        0.8,
    )
    assert content["params"]["zones"] == "grid:2"


@pytest.mark.usefixtures("crowd")
def test_several_files_are_asked_as_one(folder: Path, run: Run, perturb: Run) -> None:
    made = ("--mechanism", "starts", "--zones", "grid:3", "--seed", "1")
    for name in ("one.csv", "two.parquet"):
        assert perturb(*made, "--out", name).exit_code == 0
    files = ("--locations", "places.csv", "--out", "shares.csv", "--overwrite", "--json")
    both = as_json(run("query", "hotspots", "--reports", "one.csv", "two.parquet", *files))
    assert both["reports"] == 80  # the same ids: the first of each counts
    assert list(both["refused"].values()) == [80]
    alone = as_json(run("query", "hotspots", "--reports", "two.parquet", *files))
    assert alone["top"] == both["top"]
    none = run("query", "hotspots", *files)
    assert (none.exit_code, json_code(none.stdout)) == (2, "option_missing")
    assert "--reports" in none.stderr


@pytest.mark.usefixtures("crowd")
def test_what_was_learned_is_kept_and_asked_again(folder: Path, perturb: Run, ask: Run) -> None:
    assert perturb("--seed", "1", "--mechanism", "brr", "--epsilon", "8").exit_code == 0
    first = as_json(ask("hotspots", "--model", "kept.npz", "--json"))
    written = (folder / "kept.npz").read_bytes()
    assert as_json(ask("hotspots", "--model", "kept.npz", "--json")) == first
    assert (folder / "kept.npz").read_bytes() == written
    assert perturb("--seed", "2", "--mechanism", "brr", "--epsilon", "8").exit_code == 0
    assert_refused(ask("hotspots", "--model", "kept.npz"), "model_of_other_reports")


@pytest.mark.usefixtures("crowd")
def test_every_other_question_has_an_answer(folder: Path, perturb: Run, ask: Run) -> None:
    assert perturb("--seed", "1", "--mechanism", "atlas", "--epsilon", "8").exit_code == 0
    wanted = {
        "density": ["zone", *PLACE],
        "trajectories": ["tid", "seq", "location_id", "lat", "lng", "radius_km"],
        "synthesize": ["uid", "tid", "seq", "location_id", "lat", "lng", "datetime"],
    }
    for question, columns in wanted.items():
        more = ("--start", "2026-01-01", "--count", "5") if "syn" in question else ()
        content = as_json(ask(question, *more, "--json"))
        with (folder / "shares.csv").open(newline="", encoding="utf-8") as file:
            table = list(csv.DictReader(file))
        assert list(table[0]) == columns
        assert content["rows"] == len(table)
        is_private = (folder / "shares.csv").stat().st_mode & 0o777 == 0o600
        assert is_private is (question == "trajectories")
    assert content["synthetic"] is True
    assert_refused(ask("lengths"), "single_length")
    assert_refused(ask("hotspots", "--count", "5"), "unknown_query_options")


def test_lengths_are_told_where_they_differ(folder: Path, perturb: Run, ask: Run) -> None:
    assert perturb("--seed", "1", "--mechanism", "brr").exit_code == 0
    assert ask("lengths").exit_code == 0
    with (folder / "shares.csv").open(newline="", encoding="utf-8") as file:
        shares = {row["length"]: float(row["share"]) for row in csv.DictReader(file)}
    assert shares == pytest.approx({"2": 2 / 3, "3": 1 / 3})


@pytest.mark.usefixtures("crowd")
def test_an_answer_is_drawn_and_written_for_maps(folder: Path, perturb: Run, run: Run) -> None:
    assert perturb("--seed", "1", "--mechanism", "trips", "--zones", "grid:3").exit_code == 0
    files = ("--reports", "reports.csv", "--locations", "places.csv", "--overwrite")
    for question, shape in (("hotspots", "Polygon"), ("flows", "LineString")):
        drawn = ("--out", "out.geojson", "--map", "out.html")
        assert run("query", question, *files, *drawn).exit_code == 0
        listed = json.loads((folder / "out.geojson").read_text(encoding="utf-8"))
        drawn_as = [each["geometry"] for each in listed["features"] if each["geometry"]]
        assert {each["type"] for each in drawn_as} == {shape}
        assert "<svg" in (folder / "out.html").read_text(encoding="utf-8")
    wrong = run("query", "flows", *files, "--out", "other.csv", "--map", "out.pdf")
    assert wrong.exit_code == 2
    assert not (folder / "other.csv").exists()


@pytest.mark.usefixtures("crowd")
@pytest.mark.parametrize(
    ("question", "more", "says"),
    [
        ("hotspots", ("--map", "none/x.html"), ("file", "none")),
        ("hotspots", ("--png", "none/x.png"), ("file", "none")),
        ("hotspots", ("--model", "none/x.npz"), ("file", "none")),
        ("hotspots", ("--map", "old.html"), ("output_already_there", "--map", "--overwrite")),
        ("hotspots", ("--flowmap",), ("option_unsuitable", "--flowmap")),
        ("lengths", ("--png", "x.png"), ("nothing_to_draw", "lengths")),
        ("lengths", ("--map", "x.html", "--out", "x.geojson"), ("no_geometry", ".csv")),
        ("synthesize", ("--start", "9999-12-31T23:59:59Z"), ("invalid_start_time",)),
        ("synthesize", ("--start", "0001-01-01T00:00:00+23:00"), ("invalid_start_time",)),
    ],
)
def test_what_cannot_be_written_whole_leaves_nothing(
    question: str,
    more: tuple[str, ...],
    says: tuple[str, ...],
    folder: Path,
    run: Run,
    perturb: Run,
) -> None:
    write(
        folder / "trips.csv",
        "tid,seq,location_id",
        *(f"t{k},{s},place-{'aei'[s]}" for k in range(9) for s in range(2 + k % 2)),
    )
    assert perturb("--seed", "1", "--mechanism", "atlas", "--epsilon", "8").exit_code == 0
    (folder / "old.html").write_text("mine")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    files = ("reports.csv", "--locations", "places.csv", "--out", "x.csv")
    assert_refused(run("query", question, *files, *more), *says)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_a_figure_without_matplotlib_is_refused_before_anything_is_read(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    write(folder / "reports.csv", "neither reports")
    write(folder / "nowhere.csv", "nor places")
    files = ("reports.csv", "--locations", "nowhere.csv", "--out", "x.csv")
    refused = run("query", "hotspots", *files, "--png", "x.png")
    remedy = 'pip install "nomadp[plot]"'
    assert_refused(refused, "package_missing", remedy, exit_code=1)
    assert not list(folder.glob("x.*"))


@pytest.mark.usefixtures("crowd")
def test_flows_are_written_for_flow_maps(folder: Path, perturb: Run, ask: Run) -> None:
    assert perturb("--seed", "1", "--mechanism", "trips", "--zones", "grid:3").exit_code == 0
    assert ask("flows", "--flowmap").exit_code == 0
    with (folder / "shares.csv").open(newline="", encoding="utf-8") as file:
        best = max(csv.DictReader(file), key=lambda row: float(row["count"]))
    assert (best["origin"], best["dest"]) == ("r0_c0", "r2_c2")
    assert (folder / "shares.locations.csv").exists()


@pytest.mark.usefixtures("crowd")
def test_an_answer_can_be_made_safe_for_spreadsheets(
    folder: Path, perturb: Run, ask: Run
) -> None:
    for name in ("places.csv", "trips.csv"):
        text = (folder / name).read_text().replace("place-a", "=place-a")
        (folder / name).write_text(text)
    assert perturb("--seed", "1", "--mechanism", "brr").exit_code == 0
    assert ask("hotspots").exit_code == 0
    assert "\n=place-a," in (folder / "shares.csv").read_text()
    assert ask("hotspots", "--spreadsheet-safe").exit_code == 0
    assert "\n'=place-a," in (folder / "shares.csv").read_text()
    refused = ask("hotspots", "--spreadsheet-safe", "--out", "shares.parquet")
    assert_refused(refused, "option_unsuitable", "--spreadsheet-safe")


@pytest.mark.usefixtures("crowd")
@pytest.mark.parametrize(("kind", "value"), [("flows", "flow"), ("hotspots", "share")])
def test_the_largest_shares_are_written_first(
    kind: str, value: str, folder: Path, perturb: Run, ask: Run
) -> None:
    made = ("--seed", "1", "--mechanism", "trips", "--zones", "grid:2", "--when", "day-part")
    assert perturb(*made, "--epsilon", "8").exit_code == 0
    assert ask(kind).exit_code == 0
    estimates = rows(folder)
    times = [row["when"] for row in estimates]
    assert list(dict.fromkeys(times)) == ["any", "0-6 h", "6-12 h", "12-18 h", "18-24 h"]
    assert times == sorted(times, key=list(dict.fromkeys(times)).index)
    for when in times:
        shares = [row[value] for row in estimates if row["when"] == when]
        assert shares == sorted(shares, reverse=True)
