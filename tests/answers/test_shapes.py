"""Areas have the outlines that their rule or their file gives them."""

import json
from pathlib import Path

import numpy as np
import pytest

from nomadp.answers import Estimate
from nomadp.answers.geometry import geometries
from nomadp.answers.picture import render
from nomadp.answers.shapes import shapes_of
from nomadp.formats.zone_files import read_zones
from nomadp.locations import LocationSet
from nomadp.zones import Zones, polygon_zones, zones_of


def holds(zones: Zones, name: str, ring: np.ndarray) -> bool:
    """Whether the box around a ring holds all locations of its zone."""
    inside = zones.of == zones.names.index(name)
    at = np.stack([zones.locations.lng[inside], zones.locations.lat[inside]], axis=-1)
    return bool(((at >= ring.min(axis=0) - 1e-9) & (at <= ring.max(axis=0) + 1e-9)).all())


@pytest.mark.parametrize("rule", ["grid:1", "grid:5", "h3:7"])
def test_cells_hold_their_locations_and_have_their_middle(
    rule: str, places: LocationSet
) -> None:
    zones = zones_of(places, rule)
    shapes = shapes_of(zones)
    assert list(shapes.outlines) == list(shapes.places) == list(zones.names)
    for name, ((ring,),) in shapes.outlines.items():
        assert holds(zones, name, ring)
        inside = zones.of == zones.names.index(name)
        assert shapes.places[name] == pytest.approx(
            (places.lat[inside].mean(), places.lng[inside].mean())
        )


def test_the_middle_of_a_zone_across_the_date_line_is_on_it() -> None:
    across = LocationSet.from_columns(["a", "b"], [0.0, 0.0], [179.0, -178.0])
    shapes = shapes_of(zones_of(across, "grid:1"))
    assert shapes.places["r0_c0"] == pytest.approx((0.0, -179.5))


def test_zones_of_a_file_are_drawn_with_its_polygons(
    places: LocationSet, tmp_path: Path
) -> None:
    west, east = (
        [[[13, 52], [13.4, 52], [13.4, 53], [13, 53], [13, 52]]],
        [[[13.4, 52], [14, 52], [14, 53], [13.4, 53], [13.4, 52]]],
    )
    listed = [
        {
            "type": "Feature",
            "geometry": {"type": kind, "coordinates": place},
            "properties": named,
        }
        for kind, place, named in (
            ("Polygon", west, {"name": "west"}),
            ("MultiPolygon", [east], {"name": "east"}),
        )
    ]
    path = tmp_path / "zones.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": listed}))
    zones = read_zones(path, places)
    shapes = shapes_of(zones)
    assert shapes.outlines["west"][0][0].tolist() == west[0]
    lat, lng = zip(*shapes.places.values(), strict=True)
    column = {"zone": zones.names, "lat": lat, "lng": lng, "share": [0.4, 0.6]}
    text = render(Estimate("density", column, {}, shapes), places)
    assert text.count('<path class="mark') == 2


def test_the_parts_of_one_zone_are_drawn_together_and_elsewhere_is_not() -> None:
    three = LocationSet.from_columns(["a", "b", "c"], [0.5, 0.5, 9.0], [0.5, 5.5, 9.0])
    parts = [[[(x, 0), (x + 1, 0), (x + 1, 1), (x, 1)]] for x in (0, 5)]
    column = {"lat": [0.5, 9.0], "lng": [3.0, 9.0], "share": [0.6, 0.4]}
    zones = polygon_zones(three, parts, ["both", "both"])
    table = Estimate("density", {"zone": zones.names, **column}, {}, shapes_of(zones))
    whole, rest = geometries(table)
    assert whole is not None
    assert (whole.kind, len(whole.coordinates), rest) == ("MultiPolygon", 2, None)
