"""Public walks: the same for everybody, on several scales, from the location set alone."""

import numpy as np
from worlds import scattered

from nomadp import walks as recipe
from nomadp.locations import LocationSet
from nomadp.walks import public_walks


def test_walks_of_a_finer_scale_take_shorter_steps():
    by_scale = steps_km(scattered(400))
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


def test_walks_go_anywhere_where_a_scale_is_hardly_a_way_to_go():
    anywhere, half, eighth, finest = steps_km(shrunk(scattered(400), 0.02))
    assert eighth < half / 2 < anywhere / 2  # 130 m, and half a kilometre
    assert finest > 0.95 * anywhere  # 30 m


def test_a_scale_that_is_a_way_to_go_is_the_same_in_any_set():
    city = scattered(400)
    np.testing.assert_allclose(
        steps_km(shrunk(city, 0.1)), np.multiply(steps_km(city), 0.1), rtol=0.1
    )


def steps_km(locations):
    """The mean step of walks, by their scale."""
    walks = public_walks(locations, 2, 4000, "here")
    step = locations.distances_between_km(walks[:, 0], walks[:, 1])
    return [step[part::4].mean() for part in range(4)]


def shrunk(locations, share):
    lat, lng = 41.5 + share * (locations.lat - 41.5), -87.5 + share * (locations.lng + 87.5)
    return LocationSet.from_columns([str(k) for k in range(len(locations))], lat, lng)
