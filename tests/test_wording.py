"""What is kept of sentences is found again by its name."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import wording


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(wording, "FOLDER", tmp_path)
    monkeypatch.setattr(wording, "_written", {})
    wording._kept.cache_clear()
    yield tmp_path
    wording._kept.cache_clear()


def test_several_sections_are_read_as_they_were_written(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sections = {"one": "first\n\nsecond", "two": "## a heading\n", "three": ""}
    with monkeypatch.context() as writing:
        writing.setattr(wording, "WRITING", True)
        for name, text in sections.items():
            wording.compare("some", name, text)
        wording.write(all_ran=False)
        content = (kept / "some.md").read_text(encoding="utf-8")
        wording._kept.cache_clear()
        wording.write(all_ran=False)
    assert (kept / "some.md").read_text(encoding="utf-8") == content
    for name, text in sections.items():
        wording.compare("some", name, text)
    with pytest.raises(AssertionError):
        wording.compare("some", "two", "another")
