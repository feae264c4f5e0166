"""``nomadp ask``: one command asks reports of journeys and of direct questions."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import PLACES, Run, as_json, write

NUMBERS = ["share", "std", "low", "high", "flat"]


@pytest.fixture
def ask(run: Run) -> Run:
    def invoke(question: str, *more: str):
        files = ("reports.csv", "--locations", "places.csv", "--out", "shares.csv")
        return run("ask", question, *files, "--overwrite", *more)

    return invoke


@pytest.fixture
def crowd(folder: Path) -> None:
    """Sixty people from place-a to place-i, in the morning, and twenty who stay at place-c."""
    lines = []
    for k in range(80):
        way = ("place-a", "place-i") if k < 60 else ("place-c", "place-c")
        hour = 7 if k < 60 else 20
        lines += [f"t{k},{seq},{way[seq]},2024-05-06T{hour:02}:00:00Z" for seq in (0, 1)]
    write(folder / "trips.csv", "tid,seq,location_id,datetime", *lines)


def rows(folder: Path) -> list[dict[str, Any]]:
    with (folder / "shares.csv").open(newline="", encoding="utf-8") as file:
        return [
            {key: float(value) if key in NUMBERS else value for key, value in row.items()}
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
    told = as_json(ask("hotspots", "--json"))
    assert (told["mechanism"], told["reports"], told["epsilon"]) == (name, 80, "4")
    found = rows(folder)
    assert list(found[0]) == ["zone", *NUMBERS]
    assert len(found) == 9 == told["shares"]
    assert sum(row["share"] for row in found) == pytest.approx(1)
    assert all(0 <= row["low"] <= row["high"] <= 1 for row in found)
    assert max(found, key=lambda row: row["share"])["zone"] == most == told["top"][0]["zone"]
    assert told["is_told_apart"] is True


@pytest.mark.usefixtures("crowd")
def test_trips_answer_flows_and_both_ends(folder: Path, perturb: Run, ask: Run) -> None:
    assert perturb("--seed", "1", "--mechanism", "trips", "--zones", "grid:3").exit_code == 0
    assert ask("flows").exit_code == 0
    found = rows(folder)
    assert list(found[0]) == ["origin", "destination", *NUMBERS]
    best = max(found, key=lambda row: row["share"])
    assert (best["origin"], best["destination"]) == ("r0_c0", "r2_c2")
    for at, most in (("starts", "r0_c0"), ("ends", "r2_c2")):
        assert ask("hotspots", "--at", at).exit_code == 0
        shares = by_zone(folder)
        assert max(shares, key=shares.__getitem__) == most


@pytest.mark.usefixtures("crowd")
def test_journeys_are_asked_by_the_same_command(folder: Path, perturb: Run, ask: Run) -> None:
    assert perturb("--seed", "1", "--mechanism", "atlas", "--epsilon", "8").exit_code == 0
    assert ask("hotspots").exit_code == 0
    assert list(by_zone(folder)) == PLACES
    told = as_json(ask("flows", "--zones", "grid:3", "--json"))
    assert (told["mechanism"], told["shares"]) == ("atlas", 81)
    best = max(rows(folder), key=lambda row: row["share"])
    assert (best["origin"], best["destination"]) == ("r0_c0", "r2_c2")


@pytest.mark.usefixtures("crowd")
def test_times_are_told_together_and_each(folder: Path, perturb: Run, ask: Run) -> None:
    made = ("--mechanism", "starts", "--zones", "grid:1", "--when", "day-part")
    assert perturb(*made, "--epsilon", "8").exit_code == 0
    assert ask("hotspots").exit_code == 0
    found = rows(folder)
    assert [row["when"] for row in found] == ["any", "0-6 h", "6-12 h", "12-18 h", "18-24 h"]
    share = {row["when"]: row["share"] for row in found}
    assert share.pop("any") == pytest.approx(1)
    assert sum(share.values()) == pytest.approx(1)
    assert share["6-12 h"] == pytest.approx(0.75, abs=0.1)


@pytest.mark.usefixtures("crowd")
def test_people_read_the_greatest_shares_and_what_flat_says(perturb: Run, ask: Run) -> None:
    perturb("--seed", "1", "--mechanism", "ends", "--zones", "grid:3")
    said = ask("hotspots").stdout.splitlines()
    assert said[0] == "80 reports of ends at epsilon 4: 9 shares in shares.csv"
    assert said[1].split() == ["zone", *NUMBERS]
    assert said[2].startswith("r2_c2")
    assert said[-1].startswith("told apart from what somebody without reports would say (flat)")


def test_says_when_reports_tell_nothing(perturb: Run, ask: Run) -> None:
    perturb("--seed", "1", "--mechanism", "starts", "--zones", "grid:3", "--epsilon", "0.1")
    assert "\nnot told apart from what somebody without" in ask("hotspots").stdout


@pytest.mark.usefixtures("crowd")
def test_a_higher_level_has_wider_intervals(folder: Path, perturb: Run, ask: Run) -> None:
    perturb("--seed", "1", "--mechanism", "starts", "--zones", "grid:3")
    widths = []
    for level in ("0.5", "0.99"):
        assert ask("hotspots", "--level", level).exit_code == 0
        widths.append(sum(row["high"] - row["low"] for row in rows(folder)))
    assert widths[0] < widths[1]


@pytest.mark.usefixtures("crowd")
def test_larger_zones_are_answered_and_others_refused(
    folder: Path, perturb: Run, ask: Run
) -> None:
    perturb("--seed", "1", "--mechanism", "starts", "--zones", "grid:2")
    assert ask("hotspots", "--zones", "grid:1").exit_code == 0
    assert by_zone(folder) == {"r0_c0": pytest.approx(1)}
    (folder / "shares.csv").unlink()
    refused = ask("hotspots", "--zones", "grid:3")
    assert refused.exit_code == 2
    assert "grid:2) or larger ones made of them, got grid:3" in refused.stderr
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
    told = ask("hotspots", "--zones", "west.geojson")
    assert told.exit_code == 0, told.stderr
    found = by_zone(folder)
    assert set(found) == {"west", "elsewhere"}
    assert found["west"] == pytest.approx(0.75, abs=0.1)


@pytest.mark.parametrize(
    ("made", "question", "more", "message"),
    [
        (("--mechanism", "starts"), "flows", (), "reports of starts tell of one zone each"),
        (("--mechanism", "starts"), "hotspots", ("--at", "ends"), "tell of starts only"),
        (("--mechanism", "brr"), "flows", (), "trips need reports of whole journeys"),
        (("--mechanism", "tp"), "hotspots", (), "got tp"),
        (("--mechanism", "trips"), "flows", ("--at", "ends"), "--at is for hotspots"),
        (("--mechanism", "trips"), "flows", ("--level", "2"), "a level must be a number"),
        (("--mechanism", "trips"), "flows", ("--zones", "grid:x"), "zones must be grid:N"),
    ],
)
def test_what_is_not_told_is_refused_in_one_sentence(
    made: tuple[str, ...],
    question: str,
    more: tuple[str, ...],
    message: str,
    folder: Path,
    perturb: Run,
    ask: Run,
) -> None:
    assert perturb(*made).exit_code == 0
    refused = ask(question, *more)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert message in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    assert not (folder / "shares.csv").exists()


def test_reports_that_do_not_say_how_they_were_made_are_refused(
    folder: Path, perturb: Run, ask: Run
) -> None:
    perturb("--seed", "1", "--mechanism", "starts")
    (folder / "reports.csv.meta.json").unlink()
    refused = ask("hotspots")
    assert refused.exit_code == 2
    assert "must say how its reports were made, and does not" in refused.stderr


def test_the_file_says_how_it_was_made(folder: Path, perturb: Run, ask: Run) -> None:
    perturb("--seed", "1", "--mechanism", "starts", "--zones", "grid:2")
    assert ask("hotspots", "--level", "0.8").exit_code == 0
    said = json.loads((folder / "shares.csv.meta.json").read_text(encoding="utf-8"))
    assert (said["question"], said["mechanism"], said["level"]) == ("hotspots", "starts", 0.8)
    assert said["params"]["zones"] == "grid:2"
