"""Damage stores as a faulty disk would."""

import os
from pathlib import Path

PAGE = 4096


def overwrite_pages(path: Path, ids: list[bytes]) -> None:
    """Overwrite the pages of a closed SQLite file that contain these ids."""
    content = path.read_bytes()
    with path.open("r+b") as file:
        for name in ids:
            place = content.index(name) // PAGE * PAGE
            assert place > 0  # the first has the names of the tables
            file.seek(place)
            file.write(os.urandom(PAGE))
