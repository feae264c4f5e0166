"""Compile loops with numba; without it, the same lines run as plain Python.

Plain Python is far too slow for many trajectories, so without numba the reference program runs
instead (paths.py).

Numba caches compiled code beside the source, and checks only a loop's own file to see whether
the cache is current. But loops call loops in other files. So the cache of the whole package is
deleted as soon as any of its files changes: what runs must be what was audited.
"""

import hashlib
import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

__all__ = ["has_numba", "kernel", "part"]

_FOLDER = Path(__file__).parent.parent  # of all mechanisms: loops are beside the programs


def has_numba() -> bool:
    """Whether numba is installed, so that loops run as machine code."""
    return find_spec("numba") is not None


def kernel(loop: Any) -> Any:
    """Compile a loop, which then runs without the interpreter's lock, if numba is installed."""
    if not has_numba():
        return loop
    from numba import njit

    return njit(cache=_refresh_cache(_FOLDER), nogil=True)(loop)


def part(loop: Any) -> Any:
    """Compile a function that loops call and that creates no arrays, if numba is installed.

    Its arrays belong to the caller, so their references are not counted: counting them at every
    call takes longer than such a function does.
    """
    if not has_numba():
        return loop
    from numba import njit

    options: dict[str, Any] = {"_nrt": False}  # numba's own parts use it; its types hide it
    return njit(cache=_refresh_cache(_FOLDER), nogil=True, **options)(loop)


@cache
def _refresh_cache(folder: Path) -> bool:
    """Delete compiled code of other sources; returns whether code may be cached."""
    cache_folder = folder / "__pycache__"
    try:
        cache_folder.mkdir(exist_ok=True)
        stamp = cache_folder / "kernels.sha256"
        current = _sources(folder)
        if not stamp.is_file() or stamp.read_text(encoding="ascii") != current:
            for code in folder.rglob("__pycache__/*.nb[ic]"):
                code.unlink(missing_ok=True)
            # The stamp is written last: if this is interrupted, the next process deletes again.
            stamp.write_text(current, encoding="ascii")
    except (OSError, UnicodeError):
        return False
    return os.access(cache_folder, os.W_OK)


def _sources(folder: Path) -> str:
    digest = hashlib.sha256()
    package = folder.parent  # loops also read constants of the laws and of geometry.py
    files = *folder.rglob("*.py"), *package.glob("laws/*.py"), *package.glob("geometry.py")
    for path in sorted(files):
        name = path.relative_to(package).as_posix()
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
