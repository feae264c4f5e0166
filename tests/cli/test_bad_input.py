"""Bad input: one sentence on stderr, exit code 2, nothing written, nothing private said."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from refusals import json_code, printed_code

from tests.cli.conftest import Run, assert_refused, write

Change = Callable[[Path], object]


def trips(*lines: str) -> Change:
    return lambda folder: write(folder / "trips.csv", *lines)


def places(*lines: str) -> Change:
    return lambda folder: write(folder / "places.csv", *lines)


def folder_for_a_file(folder: Path) -> None:
    (folder / "trips.csv").unlink()
    (folder / "trips.csv").mkdir()


def links_in_a_circle(folder: Path) -> None:
    (folder / "trips.csv").unlink()
    (folder / "trips.csv").symlink_to("trips.csv")


BY_ID = "tid,seq,location_id"
BY_COORDINATES = "uid,tid,datetime,lat,lng"
SET = "location_id,lat,lng"

BAD_FILES: dict[str, tuple[Any, ...]] = {
    "empty trajectories": (
        lambda f: (f / "trips.csv").write_bytes(b""),
        "file_empty",
        "trips.csv",
    ),
    "empty locations": (
        lambda f: (f / "places.csv").write_bytes(b""),
        "file_empty",
        "places.csv",
    ),
    "only a header": (trips(BY_ID), "no_rows", "trips.csv"),
    "unknown id": (trips(BY_ID, "t,0,place-a", "t,1,moon"), "unknown_locations", "line 3"),
    "NaN among the locations": (places(SET, "a,nan,1", "b,1,1"), "not_finite", "line 2: lat"),
    "infinity among the locations": (
        places(SET, "a,1,inf", "b,1,1"),
        "not_finite",
        "line 2: lng",
    ),
    "NaN in a trajectory": (
        trips(BY_COORDINATES, "u,t,0,41.234567,2", "u,t,1,nan,2"),
        "not_finite",
        "line 3: lat",
    ),
    "a word for a number": (
        trips(BY_ID, "t,first,place-a"),
        "not_a_whole_number",
        "line 2: seq",
    ),
    "latitude out of range": (
        trips(BY_COORDINATES, "u,t,0,141.234567,2"),
        "not_degrees",
        "line 2: lat",
    ),
    "one location": (places(SET, "place-a,1,1"), "too_few_locations"),
    "length 1": (trips(BY_ID, "t,0,place-a"), "single_points", "--single-points"),
    "duplicate location ids": (
        places(SET, "a,1,1", "b,1,2", "a,1,3"),
        "location_ids_repeated",
        "line 4",
    ),
    "duplicate positions": (
        trips(BY_ID, "t,0,place-a", "t,0,place-b"),
        "seq_repeated",
        "line 3: seq",
    ),
    "missing trajectory column": (trips("tid,seq", "t,0"), "columns_insufficient", "--columns"),
    "missing location column": (places("location_id,lat", "a,1"), "columns_missing", "lng"),
    "a row too short": (trips(BY_ID, "t,0,place-a", "t,1"), "wrong_field_count", "line 3"),
    "a quote left open": (trips(BY_ID, 't,0,"place-a'), "not_csv", "trips.csv"),
    "wrong encoding of trajectories": (
        lambda f: (f / "trips.csv").write_bytes(
            "tid,seq,location_id\nt,0,café".encode("latin-1")
        ),
        "not_utf8",
        "trips.csv",
    ),
    "wrong encoding of locations": (
        lambda f: (f / "places.csv").write_text("location_id,lat,lng\na,1,1\n", "utf-16"),
        "not_utf8",
        "places.csv",
    ),
    "a time without a zone": (
        trips(BY_COORDINATES, "u,t,2012-04-03T18:00:00,41.234567,2"),
        "time_zone_missing",
        "line 2: datetime",
    ),
    "missing trajectory file": (
        lambda f: (f / "trips.csv").unlink(),
        "file_unreadable",
        "trips.csv",
    ),
    "missing location file": (
        lambda f: (f / "places.csv").unlink(),
        "file_unreadable",
        "places.csv",
    ),
    "other digits in a file": (
        trips(BY_ID, "t,\u0663,place-a"),
        "not_a_whole_number",
        "line 2: seq",
    ),
    "links in a circle": (links_in_a_circle, "file_unreadable", "trips.csv"),
    "a folder instead of a file": (folder_for_a_file, "no_readable_files", "trips.csv"),
}

BAD_OPTIONS: dict[str, tuple[Any, ...]] = {
    "epsilon zero": (["--epsilon", "0"], "epsilon_out_of_range", "epsilon=0"),
    "negative epsilon": (["--epsilon", "-1"], "epsilon_out_of_range", "epsilon=-1"),
    "epsilon NaN": (["--epsilon", "nan"], "epsilon_out_of_range", "epsilon=nan"),
    "infinite epsilon": (["--epsilon", "inf"], "epsilon_out_of_range", "epsilon=inf"),
    "huge epsilon": (["--epsilon", "1e6"], "epsilon_out_of_range", "epsilon=1e6"),
    "epsilon in words": (["--epsilon", "low"], "epsilon_out_of_range", "epsilon=low"),
    "epsilon with an underscore": (["--epsilon", "1_0"], "epsilon_out_of_range", "epsilon=1_0"),
    "epsilon in other digits": (
        ["--epsilon", "\uff11\uff10"],
        "epsilon_out_of_range",
        "epsilon=\uff11\uff10",
    ),
    "epsilon of nearly nothing": (
        ["--epsilon", "1e-5000"],
        "epsilon_too_precise",
        "epsilon=1e-5000",
    ),
    "epsilon of a power of ten": (
        ["--epsilon", "1e400"],
        "epsilon_out_of_range",
        "epsilon=1e400",
    ),
    "epsilon that would never end": (
        ["--epsilon", "1e-999999999"],
        "epsilon_out_of_range",
        "epsilon=1e-999999999",
    ),
    "delta of nearly nothing": (
        ["--mechanism", "cgm", "--delta", "1e-5000"],
        "delta_out_of_range",
        "delta=1e-5000",
    ),
    "a seed with an underscore": (["--seed", "1_0"], "option_not_whole", "'--seed'", "'1_0'"),
    "a count with an underscore": (
        ["--near-count", "1_0"],
        "option_not_whole",
        "'--near-count'",
        "'1_0'",
    ),
    "a count in other digits": (
        ["--near-count", "\u0663"],
        "option_not_whole",
        "'--near-count'",
    ),
    "a radius with an underscore": (
        ["--radius-km", "1_0"],
        "option_out_of_range",
        "'--radius-km'",
        "1_0",
    ),
    "a radius beyond numbers": (
        ["--radius-km", "1e400"],
        "option_out_of_range",
        "'--radius-km'",
        "1e400",
    ),
    "a bound with an underscore": (
        ["--step-bound", "0_0.1"],
        "option_not_finite",
        "'--step-bound'",
        "'0_0.1'",
    ),
    "unknown mechanism": (
        ["--mechanism", "APT"],
        "unknown_mechanism",
        "APT",
        "atp?",
        "visits",
    ),
    "an option of another mechanism": (
        ["--mechanism", "exp", "--merge", "coin"],
        "unknown_options",
        "exp",
        "merge",
    ),
    "more near locations than there are": (
        ["--mechanism", "brr", "--near-count", "10"],
        "parameter_out_of_range",
        "near_count=10",
        "9",
    ),
    "a step bound of half the map": (
        ["--mechanism", "cgm", "--step-bound", "0.5"],
        "parameter_out_of_range",
        "step_bound=0.5",
    ),
    "a certain failure": (
        ["--mechanism", "cgm", "--delta", "1"],
        "delta_out_of_range",
        "delta=1",
    ),
    "unknown granularity": (["--granularity", "5"], "usage", "'--granularity'", "'5'"),
    "radius zero": (["--radius-km", "0"], "option_out_of_range", "'--radius-km'"),
    "radius NaN": (["--radius-km", "nan"], "option_out_of_range", "'--radius-km'", "nan"),
    "no processes": (["--jobs", "0"], "option_out_of_range", "'--jobs'"),
    "a seed in words": (["--seed", "lucky"], "option_not_whole", "'--seed'", "'lucky'"),
    "unknown option": (["--espilon", "4"], "usage", "--espilon"),
    "output of unknown kind": (
        ["--out", "reports.xlsx"],
        "unknown_suffix",
        "reports.xlsx",
        ".csv.gz",
        ".parquet",
    ),
    "output into no folder": (["--out", "nowhere/reports.csv"], "file", "nowhere"),
    "output over the input": (["--out", "trips.csv"], "output_is_an_input", "--out"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_refuses_a_bad_file(name: str, folder: Path, perturb: Run) -> None:
    change, *says = BAD_FILES[name]
    change(folder)
    before = sorted(folder.iterdir())
    assert_refused(perturb("--mechanism", "atp"), *says)  # which needs directions
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("name", BAD_OPTIONS)
def test_refuses_a_bad_option(name: str, folder: Path, perturb: Run) -> None:
    options, *says = BAD_OPTIONS[name]
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert_refused(perturb(*options), *says)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("suffix", "code"), [(".parquet", "not_parquet"), (".csv.gz", "damaged_archive")]
)
def test_refuses_a_damaged_file(suffix: str, code: str, folder: Path, run: Run) -> None:
    content = gzip.compress((folder / "trips.csv").read_bytes())[:-9]
    (folder / f"trips{suffix}").write_bytes(content)
    result = run(
        *("perturb", f"trips{suffix}", "--locations", "places.csv", "--epsilon", "4"),
        *("--out", "reports.csv"),
    )
    assert_refused(result, code)
    assert not list(folder.glob("*reports*"))


@pytest.mark.parametrize(
    "name", sorted(BAD_FILES.keys() - {"length 1"})
)  # which can be evaluated
def test_evaluate_refuses_the_same_files(
    name: str, folder: Path, perturb: Run, run: Run
) -> None:
    change, *says = BAD_FILES[name]
    assert perturb().exit_code == 0
    change(folder)
    assert_refused(
        run("evaluate", "trips.csv", "reports.csv", "--locations", "places.csv"), *says
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["explain", "--epsilon", "0", "--length", "3"], ["epsilon_out_of_range"]),
        (["explain", "--epsilon", "1", "--length", "0"], ["option_out_of_range", "'--length'"]),
        (
            ["explain", "--epsilon", "1", "--length", "2", "--mechanism", "TPP"],
            ["unknown_mechanism", "TPP", "tp?"],
        ),
        (["explain", "--length", "3"], ["usage", "--epsilon"]),
        (["plan", "--length", "3"], ["not_one_goal", "--error-km", "--percent"]),
        (["granularity", "--epsilon", "1", "nan"], ["epsilon_out_of_range", "epsilon=nan"]),
        (["granularity", "--epsilon", "1", "1e6"], ["epsilon_out_of_range", "epsilon=1e6"]),
        (["audit", "--epsilon", "-1"], ["epsilon_out_of_range", "epsilon=-1"]),
        (["audit", "--epsilon", "1_0"], ["epsilon_out_of_range", "epsilon=1_0"]),
        (["granularity", "--epsilon", "1e-5000"], ["epsilon_too_precise"]),
        (
            ["explain", "--epsilon", "1", "--length", "1_0"],
            ["option_not_whole", "'--length'", "'1_0'"],
        ),
        (
            ["plan", "--percent", "5_0", "--within-km", "1", "--length", "2"],
            ["option_out_of_range", "'--percent'", "5_0"],
        ),
        (
            ["data", "build", "city", "--places", "9" * 26, "--out", "x"],
            ["option_out_of_range", "'--places'"],
        ),
        (
            ["data", "convert", "trips.csv", "--box=0,0,1_0,1", "--grid-km", "9", "--out", "x"],
            ["not_a_box", "0,0,1_0,1"],
        ),
        (
            ["data", "convert", "trips.csv", "--box=0,0,1,1", "--grid-km=1e-320", "--out=x"],
            ["too_many_cells", "1000000"],
        ),
        (["audit", "--length", "0"], ["option_out_of_range", "'--length'"]),
        (["audit", "--mechanism", "APT"], ["unknown_mechanism", "APT", "atp?"]),
        (["audit", "--variant", "unoin"], ["unknown_variant", "unoin"]),
        (["frobnicate"], ["usage", "'frobnicate'"]),
    ],
)
def test_other_commands_refuse_bad_options(
    arguments: list[str], says: list[str], run: Run
) -> None:
    assert_refused(run(*arguments), *says)


@pytest.mark.parametrize(
    ("arguments", "out", "code"),
    [
        (
            "perturb trips.csv --locations places.csv --epsilon 4",
            "circle.csv",
            "output_already_there",
        ),
        ("data build city --trips 9 --places 9", "circle", "output_already_there"),
        ("demo --quick", "circle", "file"),
        ("paper table1", "circle", "file"),
    ],
)
def test_an_output_that_links_in_a_circle_is_refused_before_the_work(
    arguments: str, out: str, code: str, folder: Path, run: Run
) -> None:
    (folder / out).symlink_to(out)
    assert_refused(run(*arguments.split(), "--out", out), code, out)


def test_a_name_that_is_no_text_can_be_written(folder: Path, run: Run) -> None:
    arguments = ["perturb", "trips.csv", "--locations", "places.csv", "--epsilon", "4", "--out"]
    assert run(*arguments, "caf\udce9.csv").exit_code == 0


def test_json_says_the_same_on_stdout(perturb: Run) -> None:
    result = perturb("--epsilon", "0", "--json")
    assert printed_code(result.stderr) == json_code(result.stdout) == "epsilon_out_of_range"
    sentence = json.loads(result.stdout)["error"]["message"]
    assert result.stderr == f"nomadp: {sentence} [epsilon_out_of_range]\n"
