"""Public walks: the same for everybody, on several scales, from the location set alone."""

import numpy as np
from worlds import scattered

from nomadp import walks as recipe
from nomadp.locations import LocationSet
from nomadp.walks import public_walks


def test_walks_of_a_finer_scale_take_shorter_steps():
    locations = scattered(400)
    walks = public_walks(locations, 2, 4000, "here")
    step = locations.distances_between_km(walks[:, 0], walks[:, 1])
    by_scale = [step[part::4].mean() for part in range(4)]
    assert by_scale == sorted(by_scale, reverse=True)
    assert by_scale[3] < by_scale[0] / 2


def test_walks_of_a_large_set_visit_some_of_its_locations_all_over(monkeypatch):
    monkeypatch.setattr(recipe, "_WALKED", 100)
    locations = scattered(500, seed=9)
    walks = public_walks(locations, 3, 2000, "here")
    assert len(np.unique(walks)) == 100
    assert len(np.unique(walks // 5)) == 100  # one of every five in their order
    step = locations.distances_between_km(walks[:, 0], walks[:, 1])
    by_scale = [step[part::4].mean() for part in range(4)]
    assert by_scale == sorted(by_scale, reverse=True)


def test_walks_of_a_set_that_is_hardly_too_large_visit_each_location_once_at_most():
    assert len(np.unique(public_walks(scattered(5000), 1, 20000, "here"))) > 3000


def test_first_locations_are_uniform():
    walks = public_walks(scattered(10), 5, 8000, "here")
    counts = np.bincount(walks[:, 0], minlength=10)
    assert np.abs(counts - 800).max() < 5 * np.sqrt(800 * 0.9)


def test_walks_of_another_purpose_are_other_walks():
    here, there = (public_walks(scattered(200), 4, 500, purpose) for purpose in ("a", "b"))
    assert (here != there).any(axis=1).mean() > 0.99


def test_walks_where_all_locations_are_one_place_go_anywhere():
    here = LocationSet.from_columns(["a", "b"], [1.0, 1.0], [2.0, 2.0])
    assert np.unique(public_walks(here, 3, 100, "here")).tolist() == [0, 1]
