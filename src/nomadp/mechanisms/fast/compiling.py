"""Compile a loop where numba is installed; without it the same lines run as they are.

That is far too slow: whoever has many trajectories asks `has_numba`, and without it runs the
reference program (paths.py).

Numba keeps compiled code beside the source and looks only at a loop's own file to see whether
it is still current. A loop calls loops of other files, so here the code of the whole package
is forgotten as soon as any of its files changes: what runs must be what was audited.
"""

import hashlib
import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

__all__ = ["has_numba", "kernel", "part"]

_FOLDER = Path(__file__).parent.parent  # of every mechanism: loops lie beside programs


def has_numba() -> bool:
    """Whether numba is there, and loops run as machine code."""
    return find_spec("numba") is not None


def kernel(loop: Any) -> Any:
    """The loop, compiled and free of the interpreter's lock, if numba is there."""
    if not has_numba():
        return loop
    from numba import njit

    return njit(cache=_may_keep_code(_FOLDER), nogil=True)(loop)


def part(loop: Any) -> Any:
    """What loops call, and what makes no arrays of its own.

    Its arrays belong to whoever calls it, so their owners are not counted: counting them at
    every call takes longer than such a part does.
    """
    if not has_numba():
        return loop
    from numba import njit

    options: dict[str, Any] = {"_nrt": False}  # numba's own parts use it; its types hide it
    return njit(cache=_may_keep_code(_FOLDER), nogil=True, **options)(loop)


@cache
def _may_keep_code(folder: Path) -> bool:
    """Forget compiled code of other sources; False where that cannot be made sure."""
    kept = folder / "__pycache__"
    try:
        kept.mkdir(exist_ok=True)
        stamp = kept / "kernels.sha256"
        current = _sources(folder)
        if not stamp.is_file() or stamp.read_text(encoding="ascii") != current:
            for code in folder.rglob("__pycache__/*.nb[ic]"):
                code.unlink(missing_ok=True)
            stamp.write_text(current, encoding="ascii")
    except (OSError, UnicodeError):
        return False
    return os.access(kept, os.W_OK)


def _sources(folder: Path) -> str:
    digest = hashlib.sha256()
    beside = folder.parent  # numbers that loops read are the laws' own
    read = *folder.rglob("*.py"), *beside.glob("laws/*.py"), *beside.glob("geometry.py")
    for path in sorted(read):
        name = path.relative_to(beside).as_posix()
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
