"""Reports written before headers had a format number, byte for byte as they were written."""

from pathlib import Path

import pytest
from refusals import refused

from nomadp.errors import DomainError
from nomadp.formats.location_files import read_locations
from nomadp.formats.point_files import read_trajectories
from nomadp.inference import decode
from nomadp.reports import Counts, read_reports

OLD = Path(__file__).parent / "old"
EVERY = {
    "points.csv": ("exp", True),
    "lists.parquet": ("brr", True),
    "folder.parquet": ("brr", True),
}


@pytest.fixture(scope="module")
def world():
    return read_locations(OLD / "places.csv")


@pytest.mark.parametrize("name", EVERY)
def test_old_files_are_read_decoded_and_counted(name, world):
    reports = read_reports(OLD / name, world)
    mechanism = reports.header.mechanism_for(world)
    assert (mechanism.name, reports.header.private) == EVERY[name]
    assert reports.header.linked
    assert reports.ids == tuple(f"t{k}" for k in range(6))
    assert reports.lengths.tolist() == [2, 3, 4, 2, 3, 4]
    assert len(decode(mechanism, reports)) == 18
    assert Counts.of(mechanism, reports).refused == 0


def test_reports_of_the_first_atlas_are_refused_by_their_version(world):
    header = read_reports(OLD / "points.parquet", world).header
    with refused(DomainError, "reports_of_another_mechanism", differs=("mechanism_version",)):
        header.mechanism_for(world)


def test_a_folder_holds_what_its_file_held(world):
    one, two = (read_reports(OLD / name, world) for name in ("lists.parquet", "folder.parquet"))
    assert one == two


def test_old_reports_belong_to_their_trajectories(world):
    true, _ = read_trajectories(OLD / "trips.csv", world)
    for name in EVERY:
        assert read_reports(OLD / name, world).ids == true.tids
