"""The files to run a collector from, as far as a machine without Docker or systemd can see."""

import configparser
import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from nomadp.cli.serve import serve

EXAMPLES = Path(__file__).parents[2] / "examples"
COMPOSE = sorted((EXAMPLES / "docker").glob("compose-*.yaml"))


def served(words: list[str]) -> dict[str, Any]:
    """What a command would serve, of "nomadp serve" and its options."""
    program, command, *arguments = words
    assert (Path(program).name, command) == ("nomadp", "serve")
    return serve.make_context("serve", arguments).params


def unit() -> configparser.ConfigParser:
    found = configparser.ConfigParser(interpolation=None)
    found.optionxform = str  # type: ignore[assignment,method-assign]
    found.read(EXAMPLES / "systemd" / "nomadp-collector.service", encoding="utf-8")
    return found


def test_the_unit_runs_one_collector_and_takes_its_end_for_an_end() -> None:
    service = unit()["Service"]
    options = served(shlex.split(service["ExecStart"]))
    assert options["store"].startswith(f"/var/lib/{service['StateDirectory']}/")
    assert options["host"] == "127.0.0.1"  # TLS is before it
    assert service["SuccessExitStatus"] == "143"  # of SIGTERM, which is how it is stopped


def test_the_image_runs_one_collector() -> None:
    text = (EXAMPLES / "docker" / "Dockerfile").read_text(encoding="utf-8")
    (command,) = [line[4:] for line in text.splitlines() if line.startswith("CMD ")]
    options = served(json.loads(command))
    assert (options["host"], options["operator_host"]) == ("0.0.0.0", "127.0.0.1")


@pytest.mark.parametrize("path", COMPOSE, ids=lambda path: path.stem)
def test_a_compose_file_has_tls_before_a_collector_that_is_not_open_itself(path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    services = yaml.safe_load(path.read_text(encoding="utf-8"))["services"]
    assert {name for name, each in services.items() if "ports" in each} == {"proxy"}
    collector = services["collector"]
    assert collector["environment"].keys() >= {"NOMADP_OPERATOR_TOKEN", "NOMADP_ANALYST_TOKEN"}
    built = path.parent / collector["build"]["context"] / collector["build"]["dockerfile"]
    assert built.is_file()
    if "database" in services:
        options = served(collector["command"])
        assert options["store"].startswith("postgresql://")
        assert options["operator_host"] == "127.0.0.1"


def test_the_proxy_lets_the_largest_upload_through() -> None:
    from nomadp.protocol.ceilings import UPLOAD_BYTES_MAX

    text = (EXAMPLES / "docker" / "Caddyfile").read_text(encoding="utf-8")
    assert f"max_size {UPLOAD_BYTES_MAX // 1024}KiB" in text
