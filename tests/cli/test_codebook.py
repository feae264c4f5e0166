"""``nomadp codebook``: a public book in a file, and commands that take it."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nomadp.formats.codebook_files import read_atlas
from nomadp.formats.location_files import read_locations
from tests.cli.conftest import Run, as_json, assert_refused, write


@pytest.fixture
def build(run: Run) -> Run:
    def invoke(*more: str):
        return run(
            *("codebook", "build", "--locations", "places.csv", "--length", "1", "2", "3"),
            *("--epsilon", "4", "--size", "7", "--out", "atlas.parquet", *more),
        )

    return invoke


def forged(path: Path) -> None:
    """Another journey, and hashes to fit: a file that lies about its recipe only."""
    from nomadp.formats.codebook_files import write_atlas

    pinned = read_atlas(path)
    journeys = pinned.tables[2].codewords.copy()
    known = set(map(tuple, journeys.tolist()))
    journeys[0] = next(each for each in product(range(9), repeat=3) if each not in known)
    tables = (*pinned.tables[:2], pinned.tables[2]._replace(codewords=journeys))
    write_atlas(path, replace(pinned, tables=tables))


def test_builds_what_show_describes(folder: Path, build: Run, run: Run) -> None:
    content = as_json(build("--json"))
    assert content["out"] == "atlas.parquet"
    assert [a["length"] for a in content["atlases"]] == [1, 2, 3]
    assert all(2 <= a["journeys"] <= 7 and a["error_km"] > 0 for a in content["atlases"])
    assert (content["epsilon"], content["size"]) == ("4", 7)
    assert content["location_set_sha256"] == read_locations(folder / "places.csv").sha256
    shown = as_json(
        run("codebook", "show", "atlas.parquet", "--locations", "places.csv", "--json")
    )
    assert shown.pop("follows_recipe") is True
    assert {**content, "file": "atlas.parquet"} == {**shown, "out": "atlas.parquet"}


def test_says_the_hash_to_pin(folder: Path, build: Run, run: Run, wording: Any) -> None:
    made = build().stdout
    sha256 = read_atlas(folder / "atlas.parquet").sha256
    show = ("codebook", "show", "atlas.parquet")
    checked = ("--locations", "places.csv")
    shown, compared = run(*show).stdout, run(*show, *checked).stdout
    assert all(sha256 in text for text in (made, shown, compared))
    # Without locations nothing can be built again.
    assert "follows_recipe" not in as_json(run(*show, "--json"))
    for name, text in {"build": made, "show": compared}.items():
        wording("cli", f"codebook {name}", text, hide={sha256: "HASH"})


def test_a_forged_recipe_is_found_out(folder: Path, build: Run, run: Run, wording: Any) -> None:
    build()
    forged(folder / "atlas.parquet")
    assert run("codebook", "show", "atlas.parquet").exit_code == 0
    result = run("codebook", "show", "atlas.parquet", "--locations", "places.csv")
    assert result.exit_code == 1
    outcome = run("codebook", "show", "atlas.parquet", "--locations", "places.csv", "--json")
    assert (outcome.exit_code, json.loads(outcome.stdout)["follows_recipe"]) == (1, False)
    sha256 = json.loads(outcome.stdout)["sha256"]
    wording("cli", "codebook show, forged", result.stdout, hide={sha256: "HASH"})


def test_a_changed_file_is_refused(folder: Path, build: Run, run: Run) -> None:
    build()
    table = pq.read_table(folder / "atlas.parquet")
    rows = table["journey"].to_pylist()
    rows[0], rows[1] = rows[1], rows[0]
    changed = pa.table({"length": table["length"], "journey": rows}, schema=table.schema)
    pq.write_table(changed, folder / "atlas.parquet")
    assert_refused(
        run("codebook", "show", "atlas.parquet"), "codebook_changed", "atlas.parquet"
    )


def test_the_atlas_of_another_map_is_refused(folder: Path, build: Run, run: Run) -> None:
    build()
    write(folder / "others.csv", "location_id,lat,lng", "a,1,1", "b,2,2")
    for command in (
        ("codebook", "show", "atlas.parquet"),
        ("explain", "--epsilon", "1", "--codebook", "atlas.parquet"),
    ):
        result = run(*command, "--locations", "others.csv")
        assert_refused(result, "codebook_of_other_locations")


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--out", "atlas.csv"), ("unknown_suffix", "atlas.csv", ".parquet")),
        (("--out", "nowhere/atlas.parquet"), ("file", "nowhere")),
        (("--length", "0"), ("option_out_of_range", "'--length'")),
        (("--locations", "none.csv"), ("file_unreadable", "none.csv")),
    ],
)
def test_refuses_what_cannot_be_built(
    more: tuple[str, ...], says: tuple[str, ...], folder: Path, build: Run
) -> None:
    before = sorted(folder.iterdir())
    assert_refused(build(*more), *says)
    assert sorted(folder.iterdir()) == before


def test_reports_say_which_atlas_they_were_made_with(
    folder: Path, build: Run, perturb: Run
) -> None:
    build()
    assert perturb("--codebook", "atlas.parquet").exit_code == 0
    params = json.loads((folder / "reports.csv.meta.json").read_text())["params"]
    assert params["pinned"] == read_atlas(folder / "atlas.parquet").sha256
    assert params["size"] is None


def test_a_length_the_atlas_lacks_is_refused_before_anything_is_written(
    folder: Path, run: Run, perturb: Run
) -> None:
    run(
        *("codebook", "build", "--locations", "places.csv", "--length", "2", "--epsilon", "4"),
        *("--out", "atlas.parquet"),
    )
    refused = perturb("--codebook", "atlas.parquet")
    assert_refused(refused, "codebook_length_missing", "--length 3")
    assert not (folder / "reports.csv").exists()


def test_single_points_are_audited(run: Run) -> None:
    content = as_json(
        run("audit", "--mechanism", "atlas", "--epsilon", "1", "--length", "1", "--json")
    )
    assert content["ok"] is True
    assert {row["length"] for row in content["mechanisms"]} == {1}
