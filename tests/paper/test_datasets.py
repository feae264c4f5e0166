from pathlib import Path

import numpy as np
import pytest
from refusals import refused

from nomadp.errors import InvalidArgument, SchemaError
from nomadp.paper.datasets import CAMPUS, CITY, Catalogue, SetKey, load


def test_every_folder_with_both_files_is_a_set(data: Path) -> None:
    assert Catalogue(data).names == ("north", "south")


def test_a_folder_may_itself_be_the_set(data: Path) -> None:
    catalogue = Catalogue(data / "north")
    assert catalogue.names == ("north",)
    assert len(load(catalogue, SetKey("north")).locations) == 40


def test_without_data_a_city_and_a_campus_stand_in() -> None:
    catalogue = Catalogue()
    assert catalogue.simulated
    assert catalogue.names == catalogue.pair == (CITY, CAMPUS)
    assert catalogue.campus == CAMPUS


def test_the_papers_sets_come_first_and_in_its_order(tmp_path: Path) -> None:
    for name in ("cps", "aarhus", "cle", "nyc"):
        (tmp_path / name).mkdir()
        for file in ("locations.csv", "trajectories.csv"):
            (tmp_path / name / file).touch()
    catalogue = Catalogue(tmp_path)
    assert catalogue.names == ("nyc", "cle", "cps", "aarhus")
    assert catalogue.pair == ("nyc", "cle")
    assert catalogue.campus == "cps"


def test_refuses_a_folder_without_sets(tmp_path: Path) -> None:
    with refused(SchemaError, "no_data_sets"):
        _ = Catalogue(tmp_path).names
    with refused(SchemaError, "not_a_folder"):
        _ = Catalogue(tmp_path / "absent").names


def test_few_trajectories_are_taken_evenly(data: Path) -> None:
    everything = load(Catalogue(data), SetKey("north")).trajectories
    few = load(Catalogue(data, 8), SetKey("north")).trajectories
    assert few == everything.select(np.arange(0, 80, 10))


def test_a_share_keeps_the_most_visited_locations(data: Path) -> None:
    whole = load(Catalogue(data), SetKey("north"))
    half = load(Catalogue(data), SetKey("north", "share", 0.5))
    assert len(half.locations) == 20
    assert set(half.locations.ids) < set(whole.locations.ids)


def test_walks_have_the_length_asked_for(data: Path) -> None:
    walks = load(Catalogue(data, 20), SetKey(CAMPUS, "length", 5.0))
    assert set(walks.trajectories.lengths.tolist()) == {5}


def test_without_a_reach_any_building_may_be_next() -> None:
    near = load(Catalogue(None, 400), SetKey(CAMPUS, "speed", 1.0))
    anywhere = load(Catalogue(None, 400), SetKey(CAMPUS, "speed", None))
    assert near.locations == anywhere.locations
    assert near.sha256 != anywhere.sha256


def test_a_small_set_is_measured_with_small_radii(data: Path) -> None:
    assert load(Catalogue(data), SetKey("north")).yardstick.radii_km == (1.0, 2.0, 4.0)
    assert load(Catalogue(data), SetKey(CAMPUS)).yardstick.radii_km == (0.25, 0.5, 1.0)


def test_the_hash_covers_trajectories_as_well_as_locations(data: Path) -> None:
    keys = SetKey("north"), SetKey("south")
    hashes = {load(Catalogue(data, most), key).sha256 for most in (None, 8) for key in keys}
    assert len(hashes) == 4


def test_refuses_a_variation_nobody_defined(data: Path) -> None:
    with refused(InvalidArgument, "unknown_variation", variation="altitude"):
        load(Catalogue(data), SetKey("north", "altitude", 1.0))


@pytest.mark.parametrize(
    ("key", "name"),
    [
        (SetKey("nyc"), "nyc"),
        (SetKey("nyc", "share", 0.25), "nyc/share=0.25"),
        (SetKey("cps", "speed", None), "cps/speed=none"),
    ],
)
def test_a_key_reads_as_a_name(key: SetKey, name: str) -> None:
    assert str(key) == name
