"""Small files that unpack to far too much end early: in every format, in little memory."""

import gzip
import io
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusals import refused

import nomadp
from nomadp.answers import Estimate
from nomadp.formats import bounded
from nomadp.formats.bounded import gunzipped
from nomadp.formats.checkin_files import read_checkins
from nomadp.formats.codebook_files import read_codebooks
from nomadp.formats.point_files import read_points
from nomadp.formats.unreadable import Unreadable
from nomadp.inference.model import Model

MB = 1_000_000
UNPACKED_BYTES = 64 * MB
PEAK_BYTES = 100 * MB
"""As lists of Python, rows take ten times as much as in a file: 64 MB would be 700."""
KML = b'<?xml version="1.0"?><kml xmlns="http://www.opengis.net/kml/2.2"><Document>'
HEAD = {
    "csv": (b"tid,seq,location_id,lat,lng\n", b"a,1,a,40.7,-74.0\n"),
    "json": (b"[", b" "),
    "kml": (KML, b"<a></a>"),
    "gpx": (b'<?xml version="1.0"?><gpx>', b"<a></a>"),
    "geojson": (b'{"type":"FeatureCollection","features":[', b" "),
    "txt": (b"", b"1\tx\t40.7\t-74.0\n"),
}


@pytest.fixture(autouse=True)
def sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of it at an eighth, so that the tests take no longer."""
    monkeypatch.setattr(bounded, "ALWAYS_ALLOWED_BYTES", 2 * MB)
    monkeypatch.setattr(bounded, "CHUNK_BYTES", 1 << 13)


def pieces(kind: str):
    """So much of it that the whole is never in memory, not even of who makes the bomb."""
    head, row = HEAD[kind]
    yield head
    yield from [row * (MB // len(row))] * (UNPACKED_BYTES // MB)


def gz_bomb(path: Path, kind: str) -> Path:
    with gzip.open(path, "wb", compresslevel=9) as file:
        for piece in pieces(kind):
            file.write(piece)
    assert path.stat().st_size < UNPACKED_BYTES / 150
    return path


def zip_bomb(path: Path, kind: str) -> Path:
    """What it says of itself is a lie, so that only what comes out can tell."""
    name = f"doc.{kind}"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open(name, "w") as file,
    ):
        for piece in pieces(kind):
            file.write(piece)
    return path


def refused_early(read: Callable[[], object]) -> None:
    tracemalloc.start()
    try:
        with refused(Unreadable, "bomb"):
            read()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < PEAK_BYTES


@pytest.mark.parametrize("kind", ["csv", "json", "kml", "gpx", "geojson"])
def test_gzip_bombs_end_early(kind: str, tmp_path: Path) -> None:
    path = gz_bomb(tmp_path / f"bomb.{kind}.gz", kind)
    refused_early(lambda: read_points(path))


@pytest.mark.parametrize("name", ["bomb.zip", "bomb.kmz"])
def test_zip_bombs_end_early(name: str, tmp_path: Path) -> None:
    path = zip_bomb(tmp_path / name, "kml")
    refused_early(lambda: read_points(path))


def test_location_files_end_early(tmp_path: Path) -> None:
    path = gz_bomb(tmp_path / "places.csv.gz", "csv")
    refused_early(lambda: nomadp.read_locations(path))


def test_checkin_files_end_early(tmp_path: Path) -> None:
    path = gz_bomb(tmp_path / "checkins.txt.gz", "txt")
    refused_early(lambda: read_checkins(path, "gowalla"))


def test_answers_end_early(tmp_path: Path) -> None:
    path = tmp_path / "answer.csv.gz"
    Estimate("hotspots", {name: [name] for name in ("tid", "seq", "location_id")}).write(path)
    gz_bomb(path, "csv")
    refused_early(lambda: Estimate.read(path))


def parquet_bomb(path: Path, **columns: object) -> Path:
    """One row, again and again: by runs, so that hardly a byte is needed for all of them."""
    count = 8 * MB
    none = pa.array(np.zeros(count, dtype=np.int64))
    table = {name: pa.array([value]).take(none) for name, value in columns.items()}
    pq.write_table(pa.table(table), path, compression="zstd")
    assert path.stat().st_size < UNPACKED_BYTES / 150
    return path


def test_parquet_bombs_end_early(tmp_path: Path) -> None:
    path = parquet_bomb(tmp_path / "bomb.parquet", tid="a", seq=1, lat=4.5, lng=4.5)
    refused_early(lambda: read_points(path))


def test_answers_and_codebooks_in_parquet_end_early(tmp_path: Path) -> None:
    path = parquet_bomb(tmp_path / "bomb.parquet", length=2, journey=0)
    refused_early(lambda: Estimate.read(path))
    refused_early(lambda: read_codebooks(path))


def test_well_packed_parquet_that_is_none_is_read(tmp_path: Path) -> None:
    path = tmp_path / "same.parquet"
    columns = {"tid": ["a"] * 50_000, "seq": range(50_000), "location_id": ["a"] * 50_000}
    pq.write_table(pa.table(columns), path, compression="zstd")
    world = nomadp.LocationSet.from_columns(["a", "b"], [0.0, 1.0], [0.0, 1.0])
    assert len(nomadp.read_trajectories(path, world)[0]) == 1


def test_what_was_learned_ends_early(tmp_path: Path) -> None:
    path = tmp_path / "learned.npz"
    content = io.BytesIO()
    np.save(content, np.zeros(1))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("facts.npy", content.getvalue() + bytes(UNPACKED_BYTES))
    world = nomadp.LocationSet.from_columns(["a", "b"], [0.0, 1.0], [0.0, 1.0])
    brr = nomadp.make_mechanism("brr", world, epsilon=1)
    refused_early(lambda: Model.read(path, brr))


def test_well_packed_files_that_are_none_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    content = b"tid,seq,location_id\n" + b"1,1,a\n" * (2 * MB)  # 12 MB of one row
    path = tmp_path / "same.csv.gz"
    path.write_bytes(gzip.compress(content))
    with path.open("rb") as packed, gunzipped(packed, "same") as stream:
        assert stream.read() == content


def test_a_bomb_behind_an_honest_beginning_ends_by_its_part_of_the_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    honest = gzip.compress(rng.bytes(MB))
    packed = io.BytesIO(honest + gzip.compress(bytes(250 * MB)))
    with gunzipped(packed, "two members") as stream, pytest.raises(Unreadable) as refusal:
        stream.read()
    assert refusal.value.reason == "bomb"


def test_members_behind_each_other_are_one_file() -> None:
    packed = io.BytesIO(gzip.compress(b"one") + gzip.compress(b"two") + b"\0" * 8)
    with gunzipped(packed, "two members") as stream:
        assert stream.read() == b"onetwo"
