"""Keys in files: for their owner alone, and shown to nobody."""

import os
from pathlib import Path

import pytest
from refusals import refused

from nomadp.engine.keys import create_key, fingerprint, is_owner_only, key_source, read_key
from nomadp.errors import SchemaError
from nomadp.randomness import KeyedRandom, SeededRandom

KEY = bytes(range(100, 132))


def kept(path: Path, content: bytes, mode: int = 0o600) -> Path:
    path.write_bytes(content)
    path.chmod(mode)
    return path


def test_a_new_key_is_random_and_readable_by_its_owner_alone(tmp_path: Path) -> None:
    for name in ("one", "two"):
        create_key(tmp_path / name)
    assert (tmp_path / "one").stat().st_mode & 0o777 == 0o600
    keys = {read_key(tmp_path / name) for name in ("one", "two")}
    assert [len(key) for key in keys] == [32, 32]


def test_a_key_is_never_written_over(tmp_path: Path) -> None:
    create_key(tmp_path / "key")
    with pytest.raises(FileExistsError):
        create_key(tmp_path / "key")


@pytest.mark.parametrize(
    "content", [KEY, KEY.hex().encode(), KEY.hex().upper().encode() + b"\r\n"]
)
def test_a_key_is_bytes_or_hexadecimal_digits(content: bytes, tmp_path: Path) -> None:
    assert read_key(kept(tmp_path / "key", content)) == KEY
    assert fingerprint(key_source(tmp_path / "key")) == fingerprint(KeyedRandom(KEY))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        KEY[:31],
        KEY + b"\n",
        KEY.hex().encode()[:-1],
        KEY.hex().encode() + b"ab",
        b"Z" * 64,
    ],
)
def test_anything_else_is_refused_and_withheld(content: bytes, tmp_path: Path) -> None:
    with refused(SchemaError, "key_file_invalid", length=32) as refusal:
        read_key(kept(tmp_path / "key", content))
    assert KEY.hex()[:20] not in str(refusal.value)
    assert refusal.value.__cause__ is None


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o601])
def test_a_key_that_others_may_read_is_refused(mode: int, tmp_path: Path) -> None:
    with refused(SchemaError, "key_file_not_private"):
        read_key(kept(tmp_path / "key", KEY, mode))


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only root gives files away")
def test_a_key_of_another_user_is_refused(tmp_path: Path) -> None:
    os.chown(kept(tmp_path / "key", KEY), 12345, 12345)
    assert not is_owner_only(tmp_path / "key")


def test_a_missing_key_is_said_to_be_missing(tmp_path: Path) -> None:
    with refused(SchemaError, "file_unreadable"):
        read_key(tmp_path / "key")


def test_a_fingerprint_tells_keys_apart_and_repeats() -> None:
    marks = [
        fingerprint(words) for words in (KeyedRandom(KEY), SeededRandom(1), SeededRandom(2))
    ]
    assert len(set(marks)) == 3
    assert marks[1] == fingerprint(SeededRandom(1))
    assert all(len(bytes.fromhex(mark)) == 16 for mark in marks)
    assert KEY.hex() not in marks[0]
