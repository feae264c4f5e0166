"""A file that is hashed while it is read."""

import gzip
import hashlib

import pytest

from nomadp.formats.measured_file import MeasuredFile, file_sha256

CONTENT = b"line\n" * 100_000


@pytest.mark.parametrize("gzipped", [False, True])
def test_hashes_what_is_on_the_disk_however_little_was_read(tmp_path, gzipped):
    path = tmp_path / "file"
    path.write_bytes(gzip.compress(CONTENT) if gzipped else CONTENT)
    expected = hashlib.sha256(path.read_bytes()).hexdigest()
    with MeasuredFile(path) as file:
        stream = file.decoded(gzipped=gzipped)
        assert stream.read(7) == CONTENT[:7]
        stream.close()
        assert file.sha256() == expected
    assert file_sha256(path) == expected


def test_progress_ends_at_the_size(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(CONTENT)
    seen = []
    with MeasuredFile(path, lambda done, total: seen.append((done, total))) as file:
        assert file.decoded(gzipped=False).read() == CONTENT
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
