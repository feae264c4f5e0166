"""Outlines of zones: a public file for maps, believed only where it agrees with the zones."""

import json

import numpy as np
import pytest
from refusals import check, refused
from worlds import scattered

from nomadp.errors import TaskRefused
from nomadp.protocol import TaskBundle
from nomadp.protocol.create import create_task
from nomadp.protocol.folder import read_task_folder, write_task_folder
from nomadp.protocol.outlines import (
    OUTLINES_BYTES_MAX,
    checked_outlines,
    outlines_bytes,
    read_outlines,
    with_outlines,
)
from nomadp.zones import polygon_zones

SAID = {"epsilon": 4, "purpose": "Where buses are missing.", "start": 100, "end": 130}
FILE = "outlines.geojson"


def halves(cut: float = 0.0) -> list[list[list[list[float]]]]:
    """West and east of a meridian near the middle of the set."""
    places = scattered(40)
    middle = float(np.median(places.lng)) + cut
    west, east = float(places.lng.min()) - 1, float(places.lng.max()) + 1
    south, north = float(places.lat.min()) - 1, float(places.lat.max()) + 1

    def box(left: float, right: float) -> list[list[list[float]]]:
        return [[[left, south], [right, south], [right, north], [left, north], [left, south]]]

    return [box(west, middle), box(middle, east)]


def bundle_of(polygons: list[list[list[list[float]]]], names: list[str]) -> TaskBundle:
    places = scattered(40)
    zones = polygon_zones(places, polygons, names)
    return create_task(places, "trips", zones=zones, salt=bytes(16), **SAID)


@pytest.fixture
def bundle() -> TaskBundle:
    return bundle_of(halves(), ["West", "East"])


def test_a_folder_has_the_outlines_and_the_task_is_the_same_without(tmp_path, bundle):
    write_task_folder(tmp_path, bundle)
    plain = read_task_folder(tmp_path)
    assert plain.task.id == bundle.task.id
    assert not plain.domain.polygons  # a device does not read them
    drawn = read_outlines(tmp_path, plain)
    assert drawn.task.id == bundle.task.id
    assert drawn.domain.sha256 == bundle.domain.sha256
    assert set(drawn.domain.polygons) == {"West", "East"}
    (tmp_path / FILE).unlink()
    assert read_outlines(tmp_path, plain) is plain


def test_zones_of_a_grid_have_no_such_file(tmp_path):
    grid = create_task(scattered(40), "trips", zones="grid:2", **SAID)
    write_task_folder(tmp_path, bundle_of(halves(), ["West", "East"]))
    write_task_folder(tmp_path, grid)
    assert not (tmp_path / FILE).exists()
    assert outlines_bytes(grid) is None


def test_outlines_that_move_a_location_are_refused(bundle):
    wrong = outlines_bytes(bundle_of(halves(0.02), ["West", "East"]))
    with refused(TaskRefused, "outlines_mismatch", locations=40) as caught:
        with_outlines(bundle, wrong)
    assert 0 < caught.value.elsewhere < 40
    names = outlines_bytes(bundle_of(halves(), ["East", "West"]))
    with refused(TaskRefused, "outlines_mismatch", locations=40, elsewhere=40):
        with_outlines(bundle, names)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "outlines_malformed"),
        (b"[1]", "outlines_malformed"),
        (b"\xff", "outlines_malformed"),
        pytest.param(b" " * (OUTLINES_BYTES_MAX + 1), "task_file_too_large", id="too large"),
    ],
)
def test_what_is_no_geojson_of_polygons_is_refused(bundle, content, code):
    with refused(TaskRefused, code) as caught:
        with_outlines(bundle, content)
    assert FILE in str(caught.value)


def test_an_empty_collection_of_outlines_is_refused(bundle):
    with pytest.raises(TaskRefused) as caught:
        with_outlines(bundle, b'{"type": "FeatureCollection", "features": []}')
    assert FILE in str(caught.value)
    check(caught.value.__cause__, caught.value.code)


def test_an_atlas_has_no_outlines():
    atlas = create_task(scattered(40), "atlas", length=3, size=8, **SAID)
    assert outlines_bytes(atlas) is None
    with refused(TaskRefused, "outlines_without_zones"):
        with_outlines(atlas, b"{}")


def test_polygons_that_lie_over_each_other_are_left_out_where_they_would_tell_another_story(
    tmp_path, caplog, wording
):
    west, east = halves()
    _, everything = halves(-0.5)
    # A, then B, then A again beneath B: by name the second A would come before B.
    bundle = bundle_of([east, west, everything], ["A", "B", "A"])
    assert checked_outlines(bundle) is None
    write_task_folder(tmp_path, bundle)
    assert not (tmp_path / FILE).exists()
    logged = [each for each in caplog.records if each.name == "nomadp.protocol.outlines"]
    assert {each.levelname for each in logged} == {"WARNING"}
    wording("protocol", "outlines that are left out", logged[0].getMessage())


def test_the_file_is_geojson_that_other_tools_read(bundle):
    said = json.loads(outlines_bytes(bundle))
    assert said["type"] == "FeatureCollection"
    assert [each["properties"]["name"] for each in said["features"]] == ["West", "East"]
    assert said["features"][0]["geometry"]["type"] == "Polygon"


def test_outlines_that_say_something_twice_are_refused(bundle: TaskBundle) -> None:
    content = outlines_bytes(bundle)
    assert content is not None
    assert with_outlines(bundle, content)
    with refused(TaskRefused, "outlines_malformed"):
        with_outlines(bundle, b'{"features": [], ' + content[1:])
