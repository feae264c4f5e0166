"""The workflows run what their names say, by actions that cannot change under us."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_every_action_is_named_by_its_commit_and_its_version() -> None:
    pinned = re.compile(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
    used = [
        use
        for workflow in WORKFLOWS
        for use in re.findall(r"uses: (.*)", workflow.read_text(encoding="utf-8"))
    ]
    assert used
    assert [use for use in used if not pinned.fullmatch(use)] == []


def test_an_action_has_one_version_everywhere() -> None:
    uses = {
        use
        for workflow in WORKFLOWS
        for use in re.findall(r"uses: (.*)", workflow.read_text(encoding="utf-8"))
    }
    assert len(uses) == len({use.partition("@")[0] for use in uses})


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_nothing_may_write_unless_its_job_says_so(workflow: Path) -> None:
    text = workflow.read_text(encoding="utf-8")
    assert "\npermissions:\n  contents: read\n" in text
    assert "secrets." not in text


def test_the_matrix_is_every_platform_and_every_python() -> None:
    text = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    assert "os: [ubuntu-latest, macos-latest, windows-latest]" in text
    assert 'python: ["3.11", "3.12", "3.13", "3.14"]' in text
