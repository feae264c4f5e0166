"""A stranger follows CONTRIBUTING: a mechanism in a package of its own, by every command."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from plugin import install, written_in_contributing

from nomadp.cli import main
from tests.cli.conftest import assert_refused

Command = Callable[..., str]


@pytest.fixture
def walk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder where the stranger's package is installed and its trips are."""
    source, mechanisms = written_in_contributing()
    package = folder / "site"
    package.mkdir()
    install(package, "nearby", source, mechanisms)
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(package))
    path = os.pathsep.join(filter(None, [str(package), os.environ.get("PYTHONPATH")]))
    monkeypatch.setenv("PYTHONPATH", path)
    yield folder
    sys.modules.pop("nearby", None)


def in_this_process(*arguments: str) -> str:
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def in_its_own_process(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "nomadp", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.usefixtures("walk")
@pytest.mark.parametrize(
    "nomadp", [in_this_process, pytest.param(in_its_own_process, marks=pytest.mark.slow)]
)
def test_a_mechanism_of_another_package_goes_the_whole_way(nomadp: Command) -> None:
    its = ("--mechanism", "nearby")
    world = ("--locations", "places.csv", "--json")
    offered = " ".join(nomadp("perturb", "--help").split())
    assert ", nearby;" in offered
    linked = ("--keep-tids",) if "--keep-tids" in offered else ()

    audited = json.loads(nomadp("audit", *its, "--epsilon", "1", "--length", "2", "--json"))
    (row,) = audited["mechanisms"]
    assert (row["mechanism"], row["flags"], row["spent"]) == ("nearby", [], ["1"])

    option = ("--option", "reach_km=3", "--epsilon", "4")
    made = json.loads(
        nomadp("perturb", "trips.csv", *its, *option, *world, *linked, "--out", "reports.csv")
    )
    assert made["trajectories"] == 3
    assert made["params"] == {"epsilon": "4", "reach_km": 3}

    content = json.loads(nomadp("explain", *its, *option, "--length", "2", *world))
    assert content["mechanism"] == "nearby"
    assert content["utility"]["answers"].keys() >= {"reported", "decoded"}

    read = json.loads(nomadp("decode", "reports.csv", *world, "--out", "where.csv"))
    assert (read["mechanism"], read["points"]) == ("nearby", 7)
    nomadp("evaluate", "trips.csv", "where.csv", *world)


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("reach_km", "option_malformed"),
        ("=3", "option_malformed"),
        ("epsilon=3", "option_of_its_own"),
        ("grid=3", "option_of_its_own"),
        ("near=1", "unknown_options"),
        ("reach_km=0", "domain"),  # an error without a code has that of its class
    ],
)
@pytest.mark.usefixtures("walk")
def test_an_option_it_does_not_have_is_refused(said: str, code: str) -> None:
    arguments = ["explain", "--mechanism", "nearby", "--epsilon", "1", "--length", "2"]
    result = CliRunner().invoke(main, [*arguments, "--option", said])
    assert_refused(result, code, said.partition("=")[0])


def test_an_audit_of_all_names_what_cannot_be_loaded(
    walk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(walk / "site", "broken", "raise RuntimeError('out of order')", {"toy": "Toy"})
    monkeypatch.setattr("nomadp.audit.run_audit", lambda request, progress: _Passed())
    result = CliRunner().invoke(main, ["audit", "--json"])
    assert result.exit_code == 0
    (line,) = result.stderr.splitlines()
    assert "'toy'" in line
    assert "broken" in line


class _Passed:
    ok = True

    def as_dict(self) -> dict[str, object]:
        return {}
