import json
import os
import time
from pathlib import Path

import pytest

from nomadp.paper.cells import Cell, Setting
from nomadp.paper.datasets import Catalogue, SetKey
from nomadp.paper.store import ABANDONED_S, Store

CELL = Cell(Setting(SetKey("north"), "exp", (), "1"), 0)


@pytest.fixture
def catalogue(data: Path) -> Catalogue:
    return Catalogue(data, 10)


def only_file(store: Store) -> Path:
    (path,) = (store.folder / "cells").iterdir()
    return path


def test_what_was_completed_is_found(tmp_path: Path, catalogue: Catalogue) -> None:
    store = Store(tmp_path)
    assert store.find(CELL, catalogue) is None
    store.complete(CELL, catalogue)
    assert store.find(CELL, catalogue) == CELL.compute(catalogue)


def test_results_of_other_data_are_not_found(tmp_path: Path, data: Path) -> None:
    store = Store(tmp_path)
    store.complete(CELL, Catalogue(data, 10))
    assert store.find(CELL, Catalogue(data, 11)) is None


@pytest.mark.parametrize("content", ["", "{", "[]", '{"identity": {}, "result": {}}', "null"])
def test_a_file_that_says_something_else_is_computed_again(
    tmp_path: Path, catalogue: Catalogue, content: str
) -> None:
    store = Store(tmp_path)
    store.complete(CELL, catalogue)
    only_file(store).write_text(content)
    assert store.find(CELL, catalogue) is None
    store.complete(CELL, catalogue)
    assert store.find(CELL, catalogue) is not None


def test_a_record_repeats_the_identity_of_its_work(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    store = Store(tmp_path)
    store.complete(CELL, catalogue)
    record = json.loads(only_file(store).read_text())
    assert record["identity"] == json.loads(json.dumps(CELL.identity(catalogue)))
    assert record["seconds"] >= 0


def test_only_parts_of_a_run_that_ended_are_removed(tmp_path: Path) -> None:
    store = Store(tmp_path)
    (tmp_path / "cells").mkdir()
    old, new = tmp_path / "cells/.part-1-a.json", tmp_path / "cells/.part-2-b.json"
    for part in (old, new):
        part.touch()
    long_ago = time.time() - ABANDONED_S - 1
    os.utime(old, (long_ago, long_ago))
    store.remove_abandoned_parts()
    assert [path.name for path in (tmp_path / "cells").iterdir()] == [new.name]
