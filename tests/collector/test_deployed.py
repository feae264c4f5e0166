"""The files to run a collector from, as far as a machine without Docker or systemd can see."""

import configparser
import json
import os
import re
import shlex
import shutil
import subprocess
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
    services = composed(path)["services"]
    assert {name for name, each in services.items() if "ports" in each} == {"proxy"}
    collector = services["collector"]
    assert collector["environment"].keys() >= {"NOMADP_OPERATOR_TOKEN", "NOMADP_ANALYST_TOKEN"}
    built = path.parent / collector["build"]["context"] / collector["build"]["dockerfile"]
    assert built.is_file()
    options = served(collector["command"])
    if "database" in services:
        assert options["store"].startswith("postgresql://")


@pytest.mark.parametrize("path", COMPOSE, ids=lambda path: path.stem)
def test_metrics_are_scraped_inside_and_nowhere_else(path: Path) -> None:
    found = composed(path)
    services, prometheus = found["services"], found["services"]["prometheus"]
    options = served(services["collector"]["command"])
    assert options["operator_host"] == "0.0.0.0"
    assert found["networks"]["inside"]["internal"]
    assert prometheus["networks"] == ["inside"]
    assert services["proxy"]["networks"] == ["front"]
    assert "8001" not in (EXAMPLES / "docker" / "Caddyfile").read_text(encoding="utf-8")
    scraped = composed(path.with_name("prometheus.yaml"))["scrape_configs"][0]
    (where,) = scraped["dns_sd_configs"]
    assert (where["names"], where["port"]) == (["collector"], options["operator_port"])


@pytest.mark.parametrize("path", COMPOSE, ids=lambda path: path.stem)
def test_the_proxy_waits_for_a_collector_that_is_ready(path: Path) -> None:
    proxy = composed(path)["services"]["proxy"]
    assert proxy["depends_on"]["collector"]["condition"] == "service_healthy"
    image = (EXAMPLES / "docker" / "Dockerfile").read_text(encoding="utf-8")
    assert re.search(
        r"^HEALTHCHECK .*\n +CMD \[.*127\.0\.0\.1:8000/readyz", image, re.MULTILINE
    )


def test_no_image_is_named_but_by_its_digest() -> None:
    script = (EXAMPLES / "docker" / "pin.sh").read_text(encoding="utf-8")
    pinned = {f"NOMADP_{name}_SHA256" for name in re.findall(r"\b([A-Z]+)=[a-z/]+:", script)}
    used = set()
    for path in COMPOSE:
        for each in composed(path)["services"].values():
            said = each.get("image") or each["build"]["args"]["PYTHON_SHA256"]
            found = re.fullmatch(r"(?:[a-z/]+@sha256:)?\$\{(NOMADP_[A-Z]+_SHA256):\?.*\}", said)
            assert found is not None, said
            used.add(found[1])
    assert used == pinned
    image = (EXAMPLES / "docker" / "Dockerfile").read_text(encoding="utf-8")
    assert set(re.findall(r"^FROM (\S+)", image, re.MULTILINE)) == {
        "python@sha256:${PYTHON_SHA256}"
    }


def test_the_image_installs_nothing_without_a_hash() -> None:
    image = (EXAMPLES / "docker" / "Dockerfile").read_text(encoding="utf-8")
    installs = re.findall(r"pip (?:install|wheel) [^&\n\\]*", image)
    assert installs
    assert all("--require-hashes" in each or "--no-index" in each for each in installs)


def test_digests_are_written_beside_the_tokens(tmp_path: Path) -> None:
    """With a docker that answers as the real one does, which needs the internet."""
    shutil.copy(EXAMPLES / "docker" / "pin.sh", tmp_path)
    docker = tmp_path / "bin" / "docker"
    docker.parent.mkdir()
    docker.write_text(f"#!/bin/sh\necho sha256:{'ab' * 32}\n", encoding="utf-8")
    docker.chmod(0o755)
    kept = "NOMADP_ANALYST_TOKEN=kept"
    (tmp_path / ".env").write_text(f"{kept}\nNOMADP_CADDY_SHA256=old\n", encoding="utf-8")
    path = {"PATH": f"{docker.parent}:{os.environ['PATH']}"}
    for _ in range(2):
        subprocess.run(["sh", "pin.sh"], cwd=tmp_path, env=path, check=True)
    lines = (tmp_path / ".env").read_text(encoding="utf-8").splitlines()
    assert lines.count(kept) == 1
    assert lines.count(f"NOMADP_CADDY_SHA256={'ab' * 32}") == 1
    assert len(lines) == 5
    docker.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    assert subprocess.run(["sh", "pin.sh"], cwd=tmp_path, env=path, check=False).returncode
    assert (tmp_path / ".env").read_text(encoding="utf-8").splitlines() == lines


def test_browsers_are_told_to_come_back_over_tls() -> None:
    header = 'Strict-Transport-Security "max-age=31536000"'
    pages = EXAMPLES / "docker" / "Caddyfile", EXAMPLES.parent / "docs" / "operate.md"
    for page in pages:
        assert header in page.read_text(encoding="utf-8")


def test_no_page_promises_an_encryption_that_no_device_has() -> None:
    root = EXAMPLES.parent
    pages = [*root.glob("*.md"), *(root / "docs").rglob("*.md")]
    assert len(pages) > 20
    assert not [page.name for page in pages if "OHTTP" in page.read_text(encoding="utf-8")]


def composed(path: Path) -> dict[str, Any]:
    yaml = pytest.importorskip("yaml")
    found: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


def test_the_proxy_lets_the_largest_upload_through() -> None:
    from nomadp.protocol.ceilings import UPLOAD_BYTES_MAX

    text = (EXAMPLES / "docker" / "Caddyfile").read_text(encoding="utf-8")
    assert f"max_size {UPLOAD_BYTES_MAX // 1024}KiB" in text
