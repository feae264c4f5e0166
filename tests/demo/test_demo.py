from pathlib import Path

import pytest

from nomadp.demo import build_demo, pieces_of_work

SIZE_LIMIT = 1_500_000


@pytest.mark.slow
def test_a_quick_demo_is_one_small_file_and_tells_its_progress(tmp_path: Path) -> None:
    heard: list[int] = []
    page = build_demo(tmp_path / "new" / "folder", quick=True, jobs=1, progress=heard.append)
    assert page == tmp_path / "new" / "folder" / "index.html"
    assert [path.name for path in page.parent.iterdir()] == ["index.html"]
    assert page.stat().st_size < SIZE_LIMIT
    assert sum(heard) == pieces_of_work(quick=True)
