"""A table is frozen, checked, and says what it is."""

import re

import numpy as np
import pytest
from refusals import refused

from nomadp.answers import Estimate, Shapes
from nomadp.errors import SchemaError

TWO = {"location_id": ["a", "b"], "share": [0.25, 0.75]}


def test_columns_are_arrays_and_tuples_of_text_of_one_length() -> None:
    table = Estimate("hotspots", {**TWO, "rank": [2, 1], "told": [True, False]})
    assert len(table) == 2
    assert table["location_id"] == ("a", "b")
    kinds = [table[name].dtype for name in ("share", "rank", "told")]
    assert kinds == [np.float64, np.int64, np.bool_]


def test_nothing_about_it_can_be_changed() -> None:
    share, about = np.array([0.25, 0.75]), {"epsilon": "4", "refused": {"late": 1}}
    table = Estimate("hotspots", {"share": share}, about)
    share[0] = 9
    about["refused"] = {}
    assert table["share"].tolist() == [0.25, 0.75]
    assert table.about["refused"] == {"late": 1}
    with pytest.raises(ValueError, match="read-only"):
        table["share"][0] = 1
    with pytest.raises(TypeError):
        table.columns["share"] = 1  # type: ignore[index]
    with pytest.raises(TypeError):
        table.about["epsilon"] = "1"  # type: ignore[index]


@pytest.mark.parametrize(
    ("columns", "code"),
    [
        ({}, "no_columns"),
        ({"a": [1, 2], "b": [1]}, "columns_of_unequal_length"),
        ({"geometry": ["x"]}, "invalid_column_name"),
        ({"": ["x"]}, "invalid_column_name"),
        ({"a": [[1, 2]]}, "unsupported_column_type"),
        ({"a": [1j]}, "unsupported_column_type"),
        ({"a": ["x", None]}, "wrong_column_type"),
        ({"a": ["\ud800"]}, "wrong_column_type"),
        ({"a": [1.0, np.inf]}, "column_not_finite"),
    ],
)
def test_what_is_no_column_is_refused(columns: dict[str, object], code: str) -> None:
    with refused(SchemaError, code):
        Estimate("hotspots", columns)


@pytest.mark.parametrize("about", [{"x": np.nan}, {"x": object()}, {"table": 1}, {"x": {1, 2}}])
def test_facts_must_be_what_json_can_say(about: dict[str, object]) -> None:
    with refused(SchemaError, "about_not_json"):
        Estimate("hotspots", TWO, about)


def test_an_unknown_kind_or_column_is_refused_by_name() -> None:
    with refused(SchemaError, "unknown_answer_kind"):
        Estimate("weather", TWO)
    with pytest.raises(KeyError) as caught:
        Estimate("hotspots", TWO)["shares"]
    assert {*TWO, "shares"} <= set(re.findall(r"\w+", str(caught.value)))


def test_its_repr_tells_kind_size_and_promise(hotspots: Estimate) -> None:
    told = "Estimate(hotspots, 60 rows, epsilon=4, mechanism=atlas, reports=5000)"
    assert repr(hotspots) == told


def test_some_rows_keep_the_rest(density: Estimate) -> None:
    some = density.rows([3, 1])
    assert some["zone"] == (density["zone"][3], density["zone"][1])
    assert some["share"].tolist() == density["share"][[3, 1]].tolist()
    assert (some.about, some.shapes) == (density.about, density.shapes)


@pytest.mark.parametrize(
    ("outlines", "places", "code"),
    [
        ({"a": [[[[0, 0], [1, 1]]]]}, {}, "outline_ring_too_short"),
        ({"a": [[[[0, 0], [1, 1], [0, 99]]]]}, {}, "outline_out_of_range"),
        ({}, {"a": (91, 0)}, "place_out_of_range"),
    ],
)
def test_shapes_off_the_earth_are_refused(outlines: object, places: object, code: str) -> None:
    with refused(SchemaError, code, area="a"):
        Shapes(outlines, places)  # type: ignore[arg-type]


def test_rings_are_closed_once() -> None:
    open_ring = [[0, 0], [1, 0], [1, 1]]
    closed = [*open_ring, open_ring[0]]
    for ring in (open_ring, closed):
        made = Shapes({"a": [[ring]]})  # type: ignore[dict-item]
        assert made.outlines["a"][0][0].tolist() == closed
