"""What a page elsewhere draws: the same marks, in degrees."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from nomadp.answers.drawing import drawing_of
from nomadp.answers.estimate import Estimate
from nomadp.answers.scene import scene_of
from nomadp.answers.sections import html_table, text_table
from nomadp.answers.sentences import filter_text
from nomadp.answers.steps import HATCHED, steps_of
from nomadp.answers.summary import Finding, finding
from nomadp.locations import LocationSet
from nomadp.theme import theme


def test_dots_are_where_their_rows_are_in_the_colour_of_the_palette(
    hotspots: Estimate, places: LocationSet
) -> None:
    column = hotspots.columns
    drawn = drawing_of(hotspots, places)
    names = ("ci_low", "ci_high", "significant")
    steps = steps_of(column["share"], *(column[name] for name in names)).names
    assert len(drawn["dots"]) == len(hotspots)
    for dot in drawn["dots"]:
        row = dot["row"]
        assert dot["at"] == pytest.approx([column["lng"][row], column["lat"][row]], abs=2e-6)
        assert dot["step"] == steps[row]
        assert str(column["location_id"][row]) in dot["name"]
    assert {dot["step"] for dot in drawn["dots"]} <= {*theme()["light"], HATCHED}


def test_areas_have_their_outlines(density: Estimate, places: LocationSet) -> None:
    assert density.shapes is not None
    drawn = drawing_of(density, places)
    assert len(drawn["areas"]) == len(density)
    for area in drawn["areas"]:
        name = density["zone"][area["row"]]
        (ring,) = area["rings"]
        assert np.allclose(ring, density.shapes.outlines[name][0][0], atol=2e-6)


def test_flows_lead_from_their_origin_to_their_destination(
    flows: Estimate, places: LocationSet
) -> None:
    assert flows.shapes is not None
    drawn = drawing_of(flows, places)
    assert drawn["curves"]
    for curve in drawn["curves"]:
        ends = [flows[name][curve["row"]] for name in ("origin", "destination")]
        for end, at in zip(ends, (curve["line"][0], curve["line"][-1]), strict=True):
            assert at[::-1] == pytest.approx(flows.shapes.places[end], abs=2e-6)
        middle = np.mean([curve["line"][0], curve["line"][-1]], axis=0)
        assert not np.allclose(curve["line"][len(curve["line"]) // 2], middle, atol=1e-4)


def test_arrow_heads_do_not_hide_short_lines(flows: Estimate, places: LocationSet) -> None:
    assert flows.shapes is not None
    wide = scene_of(flows, places)
    assert wide is not None
    shapes = flows.shapes.places
    (lat, lng), share = np.mean(list(shapes.values()), axis=0), 0.3
    near = {
        name: (lat + share * (a - lat), lng + share * (b - lng))
        for name, (a, b) in shapes.items()
    }
    scene = scene_of(replace(flows, shapes=replace(flows.shapes, places=near)), places)
    assert scene is not None
    least, by_width = theme()["flow_head"]
    lengths = [np.hypot(*np.subtract(*each.ends)) for each in scene.curves]
    widths = [each.width for each in scene.curves]
    room = max(min(lengths) / 2, least + by_width * theme()["flow_crowded_px"])
    assert least + by_width * max(widths) == pytest.approx(room)
    before = [each.width for each in wide.curves]
    assert (
        np.argsort(widths, kind="stable").tolist() == np.argsort(before, kind="stable").tolist()
    )


@pytest.fixture
def journeys(places: LocationSet) -> Estimate:
    at = [0, 1, 2, 3]
    columns = {
        "tid": ["2-0", "2-0", "2-7", "2-7"],
        "seq": [0, 1, 0, 1],
        "location_id": [places.ids[k] for k in at],
        "lat": places.lat[at],
        "lng": places.lng[at],
        "radius_km": [0.5, 1.5, 2.0, 2.01],
        "reports": [3, 3, 40, 40],
    }
    return Estimate("trajectories", columns, {"level": 0.9})


def test_distinct_trajectories_are_listed_once_the_most_frequent_first(
    journeys: Estimate, places: LocationSet
) -> None:
    drawn = drawing_of(journeys, places)
    assert [each["row"] for each in drawn["tracks"]] == [2, 0]
    assert drawn["tracks"][1]["radius_km"] == [0.5, 1.5]
    assert drawn["tracks"][1]["line"][1] == pytest.approx(
        [places.lng[1], places.lat[1]], abs=2e-6
    )
    cells = [each["cells"] for each in drawn["rows"]]
    assert [each[2:] for each in cells] == [
        ["2", "40", "2.0 km"],
        ["2", "3", "0.5 to 1.5 km"],
    ]


def test_it_is_json_and_its_rows_are_those_of_the_offline_page(
    answer: Estimate, places: LocationSet
) -> None:
    drawn = json.loads(json.dumps(drawing_of(answer, places), allow_nan=False))
    assert len(drawn["head"]) == len(drawn["rows"][0]["cells"])
    markup = html_table(answer, scene_of(answer, places))
    assert all(f'data-row="{each["row"]}"' in markup for each in drawn["rows"])


def test_an_estimate_without_rows_says_how_many_reports_are_missing(
    places: LocationSet,
) -> None:
    names = ("location_id", "lat", "lng", "share", "ci_low", "ci_high", "significant")
    none = Estimate("hotspots", {name: [] for name in names}, {"missing": 12})
    drawn = drawing_of(none, places)
    assert (drawn["rows"], "marks" in drawn) == ([], False)
    assert re.findall(r"\d+", drawn["summary"]) == ["12"]


def test_polygons_have_labels_and_cells_have_none(
    density: Estimate, places: LocationSet
) -> None:
    assert drawing_of(density, places)["labels"] == []
    named = replace(density, about={**density.about, "areas": "polygons:0"})
    labels = drawing_of(named, places)["labels"]
    assert [each["name"] for each in labels] == list(density["zone"])
    assert density.shapes is not None
    for each in labels:
        lng, lat = each["at"]
        assert (lat, lng) == pytest.approx(density.shapes.places[each["name"]], abs=2e-6)


def test_points_of_trajectories_are_listed_with_titles_and_units(
    journeys: Estimate, places: LocationSet
) -> None:
    text = text_table(journeys, scene_of(journeys, places))
    assert {each["name"] for each in text["head"]}.isdisjoint(journeys.columns)
    assert text["rows"][0]["cells"] == ["2-0", "1", places.ids[0], "0.5\u00a0km"]
    assert finding(journeys, None) == Finding("trajectories", None, 2)


def test_the_name_of_a_cell_is_explained(density: Estimate, places: LocationSet) -> None:
    words = filter_text(density, scene_of(density, places))
    named = replace(density, about={**density.about, "zones": "polygons:0"})
    without = filter_text(named, scene_of(named, places))
    assert words.startswith(without)
    assert density["zone"][0] in words.removeprefix(without)
    assert density["zone"][0] not in without
