"""Files of estimates read like reports, and say more."""

import json

import pyarrow.parquet as pq
import pytest

from nomadp.formats.location_files import write_estimates
from nomadp.locations import LocationSet
from nomadp.reports.report_files import read_raw_reports
from nomadp.sequences import Sequences

WORLD = LocationSet.from_columns(["a", "b,c"], [1.5, 2], [4, 5])
FOUND = Sequences([0, 2, 3], [1, 0, 1], ("x", "y"))
SAID = {"location_set_sha256": WORLD.sha256, "level": 0.9}


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet"])
def test_whoever_reads_reports_reads_estimates(tmp_path, suffix):
    path = tmp_path / f"where.{suffix}"
    write_estimates(path, WORLD, FOUND, [0.5, 0, 2], SAID)
    found, said = read_raw_reports(path, WORLD)
    assert (found.sequences, said) == (FOUND, SAID)


def test_every_point_has_its_place_and_its_radius(tmp_path):
    write_estimates(tmp_path / "where.csv", WORLD, FOUND, [0.5, 0, 2.25], SAID)
    assert (tmp_path / "where.csv").read_text() == (
        "tid,seq,location_id,lat,lng,radius_km\n"
        'x,0,"b,c",2.0,5.0,0.5\nx,1,a,1.5,4.0,0.0\ny,0,"b,c",2.0,5.0,2.25\n'
    )
    assert json.loads((tmp_path / "where.csv.meta.json").read_text()) == SAID


def test_parquet_has_numbers_and_carries_what_it_says_inside(tmp_path):
    write_estimates(tmp_path / "where.parquet", WORLD, FOUND, [0.5, 0, 2], SAID)
    table = pq.read_table(tmp_path / "where.parquet")
    assert table["radius_km"].to_pylist() == [0.5, 0, 2]
    assert json.loads(table.schema.metadata[b"nomadp"]) == SAID
    assert [each.name for each in tmp_path.iterdir()] == ["where.parquet"]
