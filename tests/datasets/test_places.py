"""Location sets from what is public: grids, zones and points of interest."""

import json

import numpy as np
import pytest
from refusals import refused

from nomadp.datasets.places import box_grid, centroid, read_pois, zone_centres
from nomadp.errors import DomainError, SchemaError
from nomadp.formats.box import Box

SQUARE = [[0, 0], [2, 0], [2, 2], [0, 2], [0, 0]]
HOLE = [[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]


def collection(path, *geometries):
    made = [
        {"type": "Feature", "id": k, "geometry": geometry, "properties": properties}
        for k, (geometry, properties) in enumerate(geometries)
    ]
    path.write_text(json.dumps({"type": "FeatureCollection", "features": made}))
    return path


def polygon(*rings):
    return {"type": "Polygon", "coordinates": list(rings)}


def point(lng, lat):
    return {"type": "Point", "coordinates": [lng, lat]}


def test_a_grid_has_the_centres_of_all_its_cells():
    made = box_grid(Box(0, 10, 4, 12), 2)
    assert made.ids == ("r0_c0", "r0_c1", "r1_c0", "r1_c1")
    assert made.lat.tolist() == [10.5, 10.5, 11.5, 11.5]
    assert made.lng.tolist() == [1, 3, 1, 3]


def test_a_grid_may_cross_the_date_line():
    assert box_grid(Box(178, 0, -178, 2), 2).lng.tolist() == [179, -179, 179, -179]


@pytest.mark.parametrize("order", [1, -1])
def test_a_centroid_is_that_of_the_area_without_its_holes(order):
    ring, hole = np.array(SQUARE[::order], float), np.array(HOLE[::-order], float)
    assert centroid([[ring]]) == pytest.approx((1, 1))
    # 4 squares less the south-western one: the mean of the three others.
    assert centroid([[ring, hole]]) == pytest.approx((7 / 6, 7 / 6))
    assert centroid([[ring], [ring + np.array([4, 0])]]) == pytest.approx((3, 1))


def test_zones_of_one_name_have_one_centre(tmp_path):
    east = [[lng + 10, lat] for lng, lat in SQUARE]
    north = [[lng, lat + 10] for lng, lat in SQUARE]
    path = collection(
        tmp_path / "zones.geojson",
        (polygon(SQUARE), {"name": "a", "kind": "x"}),
        (polygon(east), {"name": "b", "kind": "y"}),
        (polygon(north), {"name": "a", "kind": "z"}),
    )
    made = zone_centres(path)
    assert made.ids == ("a", "b")
    assert made.lat.tolist() == pytest.approx([6, 1])
    assert made.lng.tolist() == pytest.approx([1, 11])
    assert zone_centres(path, "kind").ids == ("x", "y", "z")


def test_a_zone_without_an_area_or_a_neighbour_is_refused(tmp_path):
    flat = [[0, 0], [1, 1], [2, 2], [0, 0]]
    path = tmp_path / "zones.geojson"
    with refused(DomainError, "too_few_zones", zones=1):
        zone_centres(collection(path, (polygon(SQUARE), {"name": "a"})))
    pair = ((polygon(SQUARE), {"name": "a"}), (polygon(flat), {"name": "b"}))
    with refused(DomainError, "no_area"):
        zone_centres(collection(path, *pair))


def test_points_of_interest_are_read_once_and_inside_the_box(tmp_path):
    path = collection(
        tmp_path / "pois.geojson",
        (point(1, 2), {"location_id": "here"}),
        (point(1, 2), {"location_id": "again"}),
        (point(50, 2), {"location_id": "far"}),
        (polygon(SQUARE), {"location_id": "a shape"}),
        (point(2, 1), {"location_id": "there"}),
    )
    made, left_out = read_pois(path, Box(0, 0, 10, 10))
    assert made.ids == ("here", "there")
    assert made.lat.tolist() == [2, 1]
    assert left_out == 3


def test_points_without_ids_of_their_own_are_numbered(tmp_path):
    path = tmp_path / "stations.csv"
    path.write_text("stop_lat,stop_lon,name\n2,1,x\n1,2,x\n")
    with refused(SchemaError, "columns_missing", missing=("lat", "lng")):
        read_pois(path)
    columns = {"stop_lat": "lat", "stop_lon": "lng"}
    assert read_pois(path, columns=columns)[0].ids == ("p1", "p2")
    twice = read_pois(path, columns={**columns, "name": "location_id"})[0]
    assert twice.ids == ("p1", "p2")


def test_no_point_in_the_box_is_refused(tmp_path):
    path = collection(tmp_path / "pois.geojson", (point(1, 2), {}), (point(2, 2), {}))
    with refused(DomainError, "too_few_locations", locations=0):
        read_pois(path, Box(50, 50, 60, 60))
