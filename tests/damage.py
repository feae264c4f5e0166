"""Stores that are damaged as a bad disk damages them."""

import os
from pathlib import Path

PAGE = 4096


def overwrite_pages(path: Path, ids: list[bytes]) -> None:
    """The pages of a file in SQLite's format that hold these ids; the file is not open."""
    content = path.read_bytes()
    with path.open("r+b") as file:
        for name in ids:
            place = content.index(name) // PAGE * PAGE
            assert place > 0  # the first has the names of the tables
            file.seek(place)
            file.write(os.urandom(PAGE))
