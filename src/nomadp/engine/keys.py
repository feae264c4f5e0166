"""The secret key of a job, in a file that only its owner may read; never printed or logged.

With the key, anyone can draw a report again, and so test a guess of the trajectory behind it.
"""

import os
import stat
from os import PathLike, fspath
from pathlib import Path

from nomadp.errors import SchemaError
from nomadp.randomness import KeyedRandom, RandomSource, new_key

__all__ = ["create_key", "fingerprint", "is_owner_only", "read_key", "key_source"]

KEY_BYTES = 32


def create_key(path: Path) -> None:
    """Create a file with a new key and mode 0600, and flush it before anything is drawn.

    After a crash that lost the key, the job could only start again with another one, which
    would use epsilon twice for the same trajectories.
    """
    key = new_key()
    # O_EXCL never opens a file, or follows a link, that somebody else put there.
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(key.hex().encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def read_key(path: str | PathLike[str]) -> bytes:
    """The key in a file: 32 bytes, or 64 hexadecimal digits."""
    path = Path(fspath(path))
    try:
        if not is_owner_only(path):
            raise SchemaError(
                f"{path} must be readable only by its owner, but is not; chmod 600 it, or "
                "make a new key if others may have seen this one",
                code="key_file_not_private",
            )
        with path.open("rb") as file:
            content = file.read(4 * KEY_BYTES)
    except OSError as error:
        raise SchemaError(
            f"{path} cannot be read: {error.strerror or error}", code="file_unreadable"
        ) from error
    key = content if len(content) == KEY_BYTES else _decode_hex(content)
    if key is None:
        raise SchemaError(
            f"{path} must hold a key of {KEY_BYTES} bytes, or {2 * KEY_BYTES} hexadecimal "
            "digits, but does not; its content is withheld",
            code="key_file_invalid",
            length=KEY_BYTES,
        )
    return key


def fingerprint(randomness: RandomSource) -> str:
    """128 bits that identify a key without revealing it.

    They come from a context of their own, so no mechanism ever draws these words.
    """
    words = randomness.bound_to("fingerprint of a job's key").stream(0).take(2)
    return "".join(f"{word:016x}" for word in words.tolist())


def is_owner_only(path: Path) -> bool:
    """Whether only this user may open the path. Always true on systems without file modes."""
    if os.name != "posix":
        return True
    status = path.stat()
    others = stat.S_IRWXG | stat.S_IRWXO
    return status.st_uid == os.getuid() and not status.st_mode & others


def key_source(path: str | PathLike[str]) -> KeyedRandom:
    """The random source of the key in a file."""
    return KeyedRandom(read_key(path))


def _decode_hex(content: bytes) -> bytes | None:
    try:
        key = bytes.fromhex(content.decode("ascii"))
    except ValueError:
        return None
    return key if len(key) == KEY_BYTES else None
