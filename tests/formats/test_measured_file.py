"""A file that tells how much of it was read."""

import gzip
import hashlib

import pytest

from nomadp.formats.measured_file import MeasuredFile, file_sha256

CONTENT = b"line\n" * 100_000


@pytest.mark.parametrize("gzipped", [False, True])
def test_what_is_read_is_the_content_and_what_is_hashed_is_the_file(tmp_path, gzipped):
    path = tmp_path / "file"
    path.write_bytes(gzip.compress(CONTENT) if gzipped else CONTENT)
    with MeasuredFile(path) as file:
        assert file.decoded(gzipped=gzipped).read() == CONTENT
    assert file_sha256(path) == hashlib.sha256(path.read_bytes()).hexdigest()


def test_progress_ends_at_the_size(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(CONTENT)
    seen = []
    with MeasuredFile(path, lambda done, total: seen.append((done, total))) as file:
        assert file.decoded(gzipped=False).read() == CONTENT
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
