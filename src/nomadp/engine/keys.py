"""The secret key of a job: kept in a file that nobody else may read, and never shown.

Whoever holds the key can draw a report again, and so test a guess of the trajectory behind it.
"""

import os
import stat
from os import PathLike, fspath
from pathlib import Path

from nomadp.errors import SchemaError
from nomadp.randomness import KeyedRandom, RandomSource, new_key

__all__ = ["create_key", "fingerprint", "only_mine", "read_key", "key_source"]

KEY_BYTES = 32


def create_key(path: Path) -> None:
    """A new key in a new file with mode 0600, on the disk before anything is drawn with it."""
    key = new_key()
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(key.hex().encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def read_key(path: str | PathLike[str]) -> bytes:
    """The key in a file: 32 bytes, or 64 hexadecimal digits."""
    found = Path(fspath(path))
    try:
        if not only_mine(found):
            raise SchemaError(
                f"{found} must be readable by its owner alone, and is not; chmod 600 it, or "
                "make a new key if others may have seen this one",
                code="key_file_not_private",
            )
        with found.open("rb") as file:
            content = file.read(4 * KEY_BYTES)
    except OSError as error:
        raise SchemaError(
            f"{found} cannot be read: {error.strerror or error}", code="file_unreadable"
        ) from error
    key = content if len(content) == KEY_BYTES else _decoded(content)
    if key is None:
        raise SchemaError(
            f"{found} must hold a key of {KEY_BYTES} bytes, or {2 * KEY_BYTES} hexadecimal "
            "digits, and does not; its content is withheld",
            code="key_file_invalid",
            length=KEY_BYTES,
        )
    return key


def fingerprint(randomness: RandomSource) -> str:
    """Tells keys apart and gives none away: words that no mechanism ever draws."""
    drawn = randomness.bound_to("fingerprint of a job's key").stream(0).take(2)
    return "".join(f"{word:016x}" for word in drawn.tolist())


def only_mine(path: Path) -> bool:
    """Whether nobody but this user may open it; always so where modes mean nothing."""
    if os.name != "posix":
        return True
    found = path.stat()
    others = stat.S_IRWXG | stat.S_IRWXO
    return found.st_uid == os.getuid() and not found.st_mode & others


def key_source(path: str | PathLike[str]) -> KeyedRandom:
    """The words of the key in a file."""
    return KeyedRandom(read_key(path))


def _decoded(content: bytes) -> bytes | None:
    try:
        key = bytes.fromhex(content.decode("ascii"))
    except ValueError:
        return None
    return key if len(key) == KEY_BYTES else None
