"""Geolife's folders of .plt files."""

import pytest
from refusals import refused

from nomadp.errors import SchemaError
from nomadp.formats.columns import ReadOptions
from nomadp.formats.point_files import read_points
from nomadp.formats.presets import Reading

HEADER = "Geolife trajectory\r\nWGS 84\r\nAltitude is in Feet\r\nReserved 3\r\n0,2,255\r\n0\r\n"
ROWS = (
    "39.75,116.25,0,492,39744.12,1970-01-01,00:00:05\r\n"
    "39.50,116.50,0,492,39744.12,1970-01-01,00:00:01\r\n"
)


@pytest.fixture
def folder(tmp_path):
    for user, name in (("000", "20081023025304"), ("001", "20081023055305")):
        file = tmp_path / "Data" / user / "Trajectory" / f"{name}.plt"
        file.parent.mkdir(parents=True)
        file.write_bytes((HEADER + ROWS).encode())
    return tmp_path / "Data"


def test_a_file_is_a_trajectory_and_a_folder_a_user(folder):
    seen = []
    options = ReadOptions(progress=lambda done, total: seen.append((done, total)))
    points = read_points(folder, Reading("geolife", options=options))
    assert points.uids == ("000", "001")
    assert points.tids == ("1", "2")  # the name of a file is the moment it starts
    assert points.lat.tolist() == [39.5, 39.75] * 2
    assert points.moment_us.tolist() == [1_000_000, 5_000_000] * 2
    assert seen == [(1, 2), (2, 2)]


def test_one_file_is_read_too(folder):
    path = folder / "000" / "Trajectory" / "20081023025304.plt"
    points = read_points(path, Reading("geolife"))
    assert (points.uids, points.tids) == (("000",), ("1",))


@pytest.mark.parametrize(
    ("row", "code", "facts"),
    [
        ("SECRET", "wrong_field_count", {"line": 9, "fields": 1, "expected": 7}),
        ("SECRET,1,0,0,0,2000-01-01,00:00:00", "not_a_number", {"line": 9}),
        ("99.9,1,0,0,0,2000-01-01,00:00:00", "not_degrees", {"line": 9}),
        ("9.9,1,0,0,0,2000-13-01,00:00:00", "not_a_moment", {"line": 9}),
    ],
)
def test_refuses_a_broken_row_by_its_line(folder, row, code, facts):
    path = folder / "001" / "Trajectory" / "20081023055305.plt"
    path.write_bytes((HEADER + ROWS + row + "\r\n").encode())
    with refused(SchemaError, code, **facts) as refusal:
        read_points(folder, Reading("geolife"))
    assert "SECRET" not in str(refusal.value)


def test_refuses_an_empty_file_and_an_empty_folder(folder, tmp_path):
    path = folder / "001" / "Trajectory" / "20081023055305.plt"
    path.write_bytes(HEADER.encode())
    with refused(SchemaError, "no_points"):
        read_points(folder, Reading("geolife"))
    (tmp_path / "none").mkdir()
    with refused(SchemaError, "no_readable_files"):
        read_points(tmp_path / "none", Reading("geolife"))
