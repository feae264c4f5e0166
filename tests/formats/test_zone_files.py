"""Zones from GeoJSON: polygons with names, and clear refusals of anything else."""

import json
from pathlib import Path
from typing import Any

import geopandas
import pytest
from refusals import refused
from shapely.geometry import Polygon

from nomadp.errors import DomainError, SchemaError
from nomadp.formats import zone_files
from nomadp.formats.zone_files import is_geo, read_zones, zones_from
from nomadp.locations import LocationSet
from nomadp.zones import polygon_zones, zones_of

WORLD = LocationSet.from_columns(list("abcd"), [1, 2, 6, 8], [1, 2, 6, 8])
SQUARE = [[0, 0], [4, 0], [4, 4], [0, 4], [0, 0]]
HOLE = [[1.5, 1.5], [1.5, 2.5], [2.5, 2.5], [2.5, 1.5], [1.5, 1.5]]
FAR = [[5, 5], [9, 5], [9, 9], [5, 9], [5, 5]]


def area(kind: str, coordinates: Any, **properties: Any) -> dict[str, Any]:
    geometry = {"type": kind, "coordinates": coordinates}
    return {"type": "Feature", "geometry": geometry, "properties": properties}


def written(folder: Path, *features: Any, **more: Any) -> Path:
    path = folder / "areas.geojson"
    content = {"type": "FeatureCollection", "features": features, **more}
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_polygons_are_zones_by_their_names(tmp_path):
    path = written(
        tmp_path, area("Polygon", [SQUARE, HOLE], name="north"), area("Polygon", [FAR], id=7)
    )
    zones = read_zones(path, WORLD)
    assert [zones.names[k] for k in zones.of] == ["north", "elsewhere", "7", "7"]
    expected = polygon_zones(WORLD, [[SQUARE, HOLE], [FAR]], ["north", "7"])
    assert (zones, zones.rule) == (expected, expected.rule)


def test_the_parts_of_a_multipolygon_are_one_zone(tmp_path):
    both = area("MultiPolygon", [[SQUARE, HOLE], [FAR]], name="both")
    zones = read_zones(written(tmp_path, both), WORLD)
    assert [zones.names[k] for k in zones.of] == ["both", "elsewhere", "both", "both"]


def test_another_property_can_be_the_name_and_a_feature_has_an_id_of_its_own(tmp_path):
    feature = area("Polygon", [SQUARE], name="x", borough="Queens")
    assert read_zones(written(tmp_path, feature), WORLD, "borough").names[0] == "Queens"
    plain = {**area("Polygon", [SQUARE]), "id": 12}
    assert read_zones(written(tmp_path, plain), WORLD).names[0] == "12"


def test_heights_are_left_behind(tmp_path):
    high = [[*position, 100.0] for position in SQUARE]
    zones = read_zones(written(tmp_path, area("Polygon", [high], name="a")), WORLD)
    assert zones.of.tolist() == [0, 0, 1, 1]


def test_what_is_no_polygon_is_left_out_and_counted(tmp_path, caplog, wording):
    label = area("Point", [1, 1], name="label")
    path = written(tmp_path, label, area("Polygon", [SQUARE], name="a"))
    with caplog.at_level("INFO", logger="nomadp"):
        assert read_zones(path, WORLD).names == ("a", "elsewhere")
    wording(
        "formats", "log of zones", "\n".join(caplog.messages), hide={str(tmp_path): "FOLDER"}
    )


@pytest.mark.parametrize(
    ("feature", "code", "facts"),
    [
        (area("Point", [1, 1], name="a"), "no_polygons", {"features": 1}),
        (area("Polygon", [SQUARE]), "name_missing", {"feature": 1}),
        (area("Polygon", [SQUARE], name=True), "name_missing", {"feature": 1}),
        (area("Polygon", [SQUARE], name=""), "name_missing", {"feature": 1}),
        (area("Polygon", [], name="a"), "coordinates_missing", {"feature": 1}),
        (area("MultiPolygon", [[]], name="a"), "coordinates_missing", {"feature": 1}),
        (area("Polygon", None, name="a"), "coordinates_missing", {"feature": 1}),
        (area("Polygon", SQUARE, name="a"), "not_a_ring", {"feature": 1}),
        (area("Polygon", [["0", "0"]] * 4, name="a"), "not_a_ring", {"feature": 1}),
        (
            area("Polygon", [SQUARE[:3]], name="a"),
            "ring_too_short",
            {"feature": 1, "positions": 3},
        ),
        (area("Polygon", [[[583960, 4507523]] * 4], name="a"), "not_degrees", {"feature": 1}),
        (area("Polygon", [[[float("nan"), 0]] * 4], name="a"), "not_degrees", {"feature": 1}),
    ],
)
def test_refuses_what_is_no_zone(tmp_path, feature, code, facts):
    with refused(SchemaError, code, **facts):
        read_zones(written(tmp_path, feature), WORLD)


def test_refuses_other_coordinates_and_areas_beyond_the_map(tmp_path):
    crs = {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::2263"}}
    feature = area("Polygon", [SQUARE], name="a")
    with refused(SchemaError, "not_wgs84"):
        read_zones(written(tmp_path, feature, crs=crs), WORLD)
    beyond = [[50, 50], [51, 50], [51, 51], [50, 50]]
    with refused(DomainError, "polygons_without_locations"):
        read_zones(written(tmp_path, area("Polygon", [beyond], name="a")), WORLD)


def test_refuses_a_file_that_is_too_large(tmp_path, monkeypatch):
    path = written(tmp_path, area("Polygon", [SQUARE], name="a"))
    monkeypatch.setattr(zone_files, "CORNERS_MAX", 4)
    with refused(SchemaError, "polygons_too_large", unit="corners", most=4):
        read_zones(path, WORLD)
    monkeypatch.setattr(zone_files, "MEGABYTES_MAX", 0)
    with refused(SchemaError, "polygons_too_large", unit="MB", most=0):
        read_zones(path, WORLD)


def test_zones_are_asked_for_by_a_rule_or_a_file(tmp_path):
    path = written(tmp_path, area("Polygon", [SQUARE], name="a"))
    assert zones_from(path, WORLD) == read_zones(path, WORLD)
    assert zones_from("grid:2", WORLD) == zones_of(WORLD, "grid:2")


@pytest.mark.parametrize("crs", [None, 4326, 3857])
def test_a_frame_of_polygons_is_read_as_its_file(tmp_path, crs):
    shapes = [Polygon(SQUARE, [HOLE]), Polygon(FAR)]
    frame = geopandas.GeoDataFrame({"name": ["north", "far"], "of": 1}, geometry=shapes)
    if crs is not None:
        frame = frame.set_crs(4326).to_crs(crs)
    features = area("Polygon", [SQUARE, HOLE], name="north"), area("Polygon", [FAR], name="far")
    assert read_zones(frame, WORLD) == read_zones(written(tmp_path, *features), WORLD)
    points = frame.set_geometry(frame.representative_point())
    with refused(SchemaError, "no_polygons"):
        read_zones(points, WORLD)


class Asked:
    """Counts how often it is asked for its features."""

    asked = 0

    @property
    def __geo_interface__(self) -> dict[str, Any]:
        self.asked += 1
        return {"type": "FeatureCollection", "features": [area("Polygon", [SQUARE], name="a")]}


def test_a_frame_is_asked_for_its_polygons_once():
    areas = Asked()
    assert is_geo(areas)
    assert areas.asked == 0
    assert read_zones(areas, WORLD).names
    assert areas.asked == 1


SHAPES = [Polygon(SQUARE)]


@pytest.mark.parametrize(
    ("frame", "why"),
    [
        (geopandas.GeoDataFrame({"name": ["a"]}), "AttributeError"),
        (geopandas.GeoDataFrame(geometry=SHAPES, crs='LOCAL_CS["a map"]'), "ProjError"),
        (SHAPES, "AttributeError"),
    ],
    ids=["no geometry", "a crs of its own", "a list"],
)
def test_what_tells_no_polygons_is_refused_in_a_sentence(frame, why):
    with refused(SchemaError, "geometry_unreadable", cause=why):
        read_zones(frame, WORLD)
