"""Bad input: one sentence on stderr, exit code 2, nothing written, nothing private said."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tests.cli.conftest import PLACES, Run, write

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

BAD_FILES: dict[str, tuple[Change, str]] = {
    "empty trajectories": (lambda f: (f / "trips.csv").write_bytes(b""), "is empty"),
    "empty locations": (lambda f: (f / "places.csv").write_bytes(b""), "is empty"),
    "only a header": (trips(BY_ID), "at least one row"),
    "unknown id": (trips(BY_ID, "t,0,place-a", "t,1,moon"), "1 of 2 rows that are not"),
    "NaN among the locations": (places(SET, "a,nan,1", "b,1,1"), "finite"),
    "infinity among the locations": (places(SET, "a,1,inf", "b,1,1"), "finite"),
    "NaN in a trajectory": (
        trips(BY_COORDINATES, "u,t,0,41.234567,2", "u,t,1,nan,2"),
        "line 3: lat must be a finite number",
    ),
    "a word for a number": (trips(BY_ID, "t,first,place-a"), "line 2: seq must be a whole"),
    "latitude out of range": (
        trips(BY_COORDINATES, "u,t,0,141.234567,2"),
        "lat must be in [-90, 90]",
    ),
    "one location": (places(SET, "place-a,1,1"), "at least 2 locations, got 1"),
    "length 1": (trips(BY_ID, "t,0,place-a"), "at least 2 locations to have a direction"),
    "duplicate location ids": (places(SET, "a,1,1", "b,1,2", "a,1,3"), "must be unique"),
    "duplicate positions": (trips(BY_ID, "t,0,place-a", "t,0,place-b"), "seq must be unique"),
    "missing trajectory column": (trips("tid,seq", "t,0"), "must say whose"),
    "missing location column": (places("location_id,lat", "a,1"), "missing: lng"),
    "a row too short": (trips(BY_ID, "t,0,place-a", "t,1"), "line 3: must have 3 fields"),
    "a quote left open": (trips(BY_ID, 't,0,"place-a'), "well-formed CSV"),
    "wrong encoding of trajectories": (
        lambda f: (f / "trips.csv").write_bytes(
            "tid,seq,location_id\nt,0,café".encode("latin-1")
        ),
        "UTF-8",
    ),
    "wrong encoding of locations": (
        lambda f: (f / "places.csv").write_text("location_id,lat,lng\na,1,1\n", "utf-16"),
        "UTF-8",
    ),
    "a time without a zone": (
        trips(BY_COORDINATES, "u,t,2012-04-03T18:00:00,41.234567,2"),
        "must have a time zone",
    ),
    "missing trajectory file": (lambda f: (f / "trips.csv").unlink(), "trips.csv"),
    "missing location file": (lambda f: (f / "places.csv").unlink(), "places.csv"),
    "other digits in a file": (trips(BY_ID, "t,\u0663,place-a"), "line 2: seq must be a whole"),
    "links in a circle": (links_in_a_circle, "trips.csv"),
    "a folder instead of a file": (folder_for_a_file, "trips.csv"),
}

BAD_OPTIONS: dict[str, tuple[list[str], str]] = {
    "epsilon zero": (["--epsilon", "0"], "epsilon must be a number above 0"),
    "negative epsilon": (["--epsilon", "-1"], "got epsilon=-1"),
    "epsilon NaN": (["--epsilon", "nan"], "got epsilon=nan"),
    "infinite epsilon": (["--epsilon", "inf"], "got epsilon=inf"),
    "huge epsilon": (["--epsilon", "1e6"], "at most 20, got epsilon=1e6"),
    "epsilon in words": (["--epsilon", "low"], "got epsilon=low"),
    "epsilon with an underscore": (["--epsilon", "1_0"], "got epsilon=1_0"),
    "epsilon in other digits": (["--epsilon", "\uff11\uff10"], "got epsilon=\uff11\uff10"),
    "epsilon of nearly nothing": (["--epsilon", "1e-5000"], "at most 30 decimals"),
    "epsilon of a power of ten": (["--epsilon", "1e400"], "got epsilon=1e400"),
    "epsilon that would never end": (["--epsilon", "1e-999999999"], "got epsilon=1e-9"),
    "delta of nearly nothing": (["--mechanism", "cgm", "--delta", "1e-5000"], "delta must"),
    "a seed with an underscore": (["--seed", "1_0"], "'1_0' is not a valid integer"),
    "a count with an underscore": (["--near-count", "1_0"], "'1_0' is not a valid integer"),
    "a count in other digits": (["--near-count", "\u0663"], "is not a valid integer"),
    "a radius with an underscore": (["--radius-km", "1_0"], "a number of km above 0, got 1_0"),
    "a radius beyond numbers": (["--radius-km", "1e400"], "a number of km above 0"),
    "a bound with an underscore": (["--step-bound", "0_0.1"], "is not a finite number"),
    "unknown mechanism": (
        ["--mechanism", "APT"],
        "unknown mechanism 'APT'; choose one of exp, tp, atp, brr, l-srr, ngram, atlas, "
        "trips, starts, ends, visits "
        "(did you mean atp?)",
    ),
    "an option of another mechanism": (
        ["--mechanism", "exp", "--merge", "coin"],
        "exp takes no options, got merge",
    ),
    "more near locations than there are": (
        ["--mechanism", "brr", "--near-count", "10"],
        "from 1 to the 9 locations there are, got near_count=10",
    ),
    "a step bound of half the map": (
        ["--mechanism", "cgm", "--step-bound", "0.5"],
        "step_bound must be above 0 and below 1/2",
    ),
    "a certain failure": (["--mechanism", "cgm", "--delta", "1"], "got delta=1"),
    "unknown granularity": (["--granularity", "5"], "'5' is not one of"),
    "radius zero": (["--radius-km", "0"], "a number of km above 0, got 0"),
    "radius NaN": (["--radius-km", "nan"], "a number of km above 0, got nan"),
    "no processes": (["--jobs", "0"], "0 is not in the range"),
    "a seed in words": (["--seed", "lucky"], "'lucky' is not a valid integer"),
    "unknown option": (["--espilon", "4"], "--espilon"),
    "output of unknown kind": (["--out", "reports.xlsx"], "must end in .csv"),
    "output into no folder": (["--out", "nowhere/reports.csv"], "nowhere: no such file"),
    "output over the input": (["--out", "trips.csv"], "--out must name a new file"),
}


def assert_refused(result: Result, says: str) -> None:
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("nomadp: ")
    assert says in result.stderr
    assert "Traceback" not in result.stderr
    private = [*PLACES, "moon", "café", "41.234567", "zoe", "bob"]
    assert not [word for word in private if word in result.stderr]


@pytest.mark.parametrize("name", BAD_FILES)
def test_refuses_a_bad_file(name: str, folder: Path, perturb: Run) -> None:
    change, says = BAD_FILES[name]
    change(folder)
    before = sorted(folder.iterdir())
    assert_refused(perturb("--mechanism", "atp"), says)  # which needs directions
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("name", BAD_OPTIONS)
def test_refuses_a_bad_option(name: str, folder: Path, perturb: Run) -> None:
    options, says = BAD_OPTIONS[name]
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert_refused(perturb(*options), says)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("suffix", [".parquet", ".csv.gz"])
def test_refuses_a_damaged_file(suffix: str, folder: Path, run: Run) -> None:
    content = gzip.compress((folder / "trips.csv").read_bytes())[:-9]
    (folder / f"trips{suffix}").write_bytes(content)
    result = run(
        *("perturb", f"trips{suffix}", "--locations", "places.csv", "--epsilon", "4"),
        *("--out", "reports.csv"),
    )
    assert_refused(result, "damaged")
    assert not list(folder.glob("*reports*"))


@pytest.mark.parametrize(
    "name", sorted(BAD_FILES.keys() - {"length 1"})
)  # which can be evaluated
def test_evaluate_refuses_the_same_files(
    name: str, folder: Path, perturb: Run, run: Run
) -> None:
    change, says = BAD_FILES[name]
    assert perturb().exit_code == 0
    change(folder)
    assert_refused(
        run("evaluate", "trips.csv", "reports.csv", "--locations", "places.csv"), says
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["explain", "--epsilon", "0", "--length", "3"], "epsilon must be"),
        (["explain", "--epsilon", "1", "--length", "0"], "0 is not in the range"),
        (
            ["explain", "--epsilon", "1", "--length", "2", "--mechanism", "TPP"],
            "did you mean tp?",
        ),
        (["explain", "--length", "3"], "give one of --epsilon, --error-km and --percent"),
        (["granularity", "--epsilon", "1", "nan"], "got epsilon=nan"),
        (["granularity", "--epsilon", "1", "1e6"], "got epsilon=1e6"),
        (["audit", "--epsilon", "-1"], "got epsilon=-1"),
        (["audit", "--epsilon", "1_0"], "got epsilon=1_0"),
        (["granularity", "--epsilon", "1e-5000"], "at most 30 decimals"),
        (["explain", "--epsilon", "1", "--length", "1_0"], "'1_0' is not a valid integer"),
        (["explain", "--percent", "5_0", "--within-km", "1", "--length", "2"], "got 5_0"),
        (["data", "build", "city", "--places", "9" * 26, "--out", "x"], "is not in the range"),
        (
            ["data", "convert", "trips.csv", "--box=0,0,1_0,1", "--grid-km", "9", "--out", "x"],
            "a box must be four numbers",
        ),
        (
            ["data", "convert", "trips.csv", "--box=0,0,1,1", "--grid-km=1e-320", "--out=x"],
            "at most 1000000 cells",
        ),
        (["audit", "--length", "0"], "0 is not in the range"),
        (["audit", "--mechanism", "APT"], "did you mean atp?"),
        (["audit", "--variant", "unoin"], "unknown variant 'unoin'"),
        (["frobnicate"], "No such command 'frobnicate'"),
    ],
)
def test_other_commands_refuse_bad_options(arguments: list[str], says: str, run: Run) -> None:
    assert_refused(run(*arguments), says)


@pytest.mark.parametrize(
    ("arguments", "out"),
    [
        ("perturb trips.csv --locations places.csv --epsilon 4", "circle.csv"),
        ("data build city --trips 9 --places 9", "circle"),
        ("demo --quick", "circle"),
        ("paper table1", "circle"),
    ],
)
def test_an_output_that_links_in_a_circle_is_refused_before_the_work(
    arguments: str, out: str, folder: Path, run: Run
) -> None:
    (folder / out).symlink_to(out)
    assert_refused(run(*arguments.split(), "--out", out), out)


def test_a_name_that_is_no_text_can_be_written(folder: Path, run: Run) -> None:
    arguments = ["perturb", "trips.csv", "--locations", "places.csv", "--epsilon", "4", "--out"]
    assert run(*arguments, "caf\udce9.csv").exit_code == 0


def test_json_says_the_same_on_stdout(perturb: Run) -> None:
    result = perturb("--epsilon", "0", "--json")
    sentence = "epsilon must be a number above 0 and at most 20, got epsilon=0"
    assert result.stderr == f"nomadp: {sentence} [budget]\n"
    assert '"code": "budget"' in result.stdout
    assert sentence in result.stdout
