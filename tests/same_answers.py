"""Compare two estimates exactly, to the last digit."""

import numpy as np

from nomadp.answers import Estimate


def assert_same(found: Estimate, wanted: Estimate, *, outlines: bool = True) -> None:
    assert found.kind == wanted.kind
    assert dict(found.about) == dict(wanted.about)
    assert list(found.columns) == list(wanted.columns)
    for name, column in wanted.columns.items():
        assert type(found[name]) is type(column)
        if isinstance(column, tuple):
            assert found[name] == column
        else:
            assert found[name].dtype == column.dtype
            assert np.array_equal(found[name], column, equal_nan=column.dtype == np.float64)
    places = [dict(each.shapes.places) if each.shapes else {} for each in (found, wanted)]
    assert places[0] == places[1]
    if outlines:
        drawn = [
            {
                name: [[ring.tolist() for ring in polygon] for polygon in outline]
                for name, outline in (each.shapes.outlines.items() if each.shapes else ())
            }
            for each in (found, wanted)
        ]
        assert drawn[0] == drawn[1]
