"""Tracks become fewer points by rules that can be checked by hand."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from imports_maker import FOLDER
from refusals import refused

from nomadp.errors import DomainError
from nomadp.formats.point_files import read_points
from nomadp.formats.points import Points, number_names
from nomadp.formats.presets import Reading
from nomadp.formats.stops import StopRule, stops
from nomadp.formats.thinning import Thinning, evenly_spaced, first_in_intervals

MINUTE = 60_000_000
METRE = 1 / 111_195  # degrees of latitude


def track(*journeys, timed=True):
    """Of (minutes, metres north) on a meridian."""
    flat = np.array([row for journey in journeys for row in journey], dtype=float)
    lengths = [len(journey) for journey in journeys]
    return Points(
        np.concatenate([[0], np.cumsum(lengths)]),
        flat[:, 1] * METRE,
        np.full(len(flat), 10.0),
        number_names(len(journeys)),
        moment_us=np.round(flat[:, 0] * MINUTE).astype(np.int64) if timed else None,
    )


def rows(points):
    minutes = (points.moment_us / MINUTE).round(3).tolist()
    return list(zip(minutes, (points.lat / METRE).round().tolist(), strict=True))


def test_of_each_stretch_the_first_point_is_kept_and_the_last_of_all():
    walk = track([(0, 0), (1, 10), (4.9, 20), (5, 30), (9, 40), (21, 50), (22, 60)], [(3, 0)])
    thin = first_in_intervals(walk, 300)
    assert rows(thin) == [(0, 0), (5, 30), (21, 50), (22, 60), (3, 0)]
    assert thin.lengths.tolist() == [4, 1]


def test_points_stand_evenly_along_the_way_with_their_times():
    walk = track([(0, 0), (10, 100), (20, 400)], [(5, 7)])
    thin = evenly_spaced(walk, 5)
    assert rows(thin)[:5] == [(0, 0), (10, 100), (13.333, 200), (16.667, 300), (20, 400)]
    assert rows(thin)[5:] == [(5, 7)] * 5
    assert thin.tids == ("1", "2")


def test_untimed_tracks_can_be_spaced_but_not_timed():
    walk = track([(0, 0), (1, 100)], timed=False)
    assert evenly_spaced(walk, 3).moment_us is None
    with refused(DomainError, "times_required"):
        first_in_intervals(walk, 60)
    with refused(DomainError, "times_required"):
        stops(walk, StopRule())


def test_the_way_across_the_date_line_is_the_short_one():
    lat, lng = np.zeros(2), np.array([179.0, -179.0])
    spaced = evenly_spaced(Points(np.array([0, 2]), lat, lng, ("1",)), 5).lng
    assert spaced.tolist() == [179.0, 179.5, 180.0, -179.5, -179.0]


@settings(deadline=None)
@given(
    metres=st.lists(
        st.lists(st.integers(0, 5000), min_size=1, max_size=9), min_size=1, max_size=4
    ),
    count=st.integers(2, 12),
)
def test_ends_are_kept_to_the_bit_and_spaces_are_equal(metres, count):
    walk = track(*([(k, m) for k, m in enumerate(journey)] for journey in metres))
    thin = evenly_spaced(walk, count)
    assert thin.lengths.tolist() == [count] * len(metres)
    for k in range(len(metres)):
        mine = slice(thin.offsets[k], thin.offsets[k + 1])
        first, last = walk.offsets[k], walk.offsets[k + 1] - 1
        assert thin.lat[mine][0] == walk.lat[first]
        assert thin.lat[mine][-1] == walk.lat[last]
        whole = np.abs(np.diff(walk.lat[first : last + 1])).sum()
        steps = np.abs(np.diff(thin.lat[mine]))
        assert (steps <= whole / (count - 1) + 1e-9).all()
        assert (np.diff(thin.moment_us[mine]) >= 0).all()


STAY = [(0, 0), (10, 50), (25, 100), (30, 1000), (35, 2000), (36, 2100), (60, 2000), (70, 5000)]


def test_a_stop_is_the_mean_of_what_stays_near_its_first_point_long_enough():
    stop_points = stops(track(STAY), StopRule(200, 20))
    assert rows(stop_points) == [(0, 50), (35, 2033)]
    assert stops(track(STAY), StopRule(200, 26)) is None  # one stop is no journey
    assert stops(track(STAY), StopRule(40_000, 20)) is None


def test_the_radius_is_that_of_the_first_point_borders_included():
    walk = [(0, 0), (30, 200), (40, 900), (70, 900)]
    assert rows(stops(track(walk), StopRule(200.5, 20)))[0] == (0, 100)
    assert stops(track(walk), StopRule(199, 20)) is None


def test_long_stays_end_a_journey_and_begin_the_next():
    day = [
        (0, 0),
        (480, 0),
        (500, 5000),
        (540, 5000),
        (560, 9000),
        (900, 9000),
        (930, 0),
        (960, 0),
    ]
    stop_points = stops(track(day), StopRule(200, 20), split_hours=3)
    assert stop_points.lengths.tolist() == [3, 2]
    assert rows(stop_points) == [(480, 0), (500, 5000), (560, 9000), (900, 9000), (930, 0)]
    whole = stops(track(day), StopRule(200, 20))
    assert rows(whole) == [(0, 0), (500, 5000), (560, 9000), (930, 0)]


def test_what_is_unknown_for_long_ends_a_journey_too():
    days = [
        (0, 0),
        (30, 0),
        (40, 900),
        (70, 900),
        (1000, 0),
        (1030, 0),
        (1050, 900),
        (1090, 900),
    ]
    stop_points = stops(track(days), StopRule(), split_hours=3)
    assert rows(stop_points) == [(0, 0), (40, 900), (1000, 0), (1050, 900)]
    assert stop_points.lengths.tolist() == [2, 2]


def test_rules_say_what_they_depend_on(wording):
    rules = [Thinning(stops=StopRule()), Thinning(every_s=300), Thinning(every_s=300, points=8)]
    wording("formats", "rules of thinning", "\n".join(map(str, rules)))
    assert not Thinning()
    for code, wrong in (
        ("thinning_rules_conflict", {"stops": StopRule(), "every_s": 1}),
        ("interval_out_of_range", {"every_s": 0}),
        ("point_count_out_of_range", {"points": 1}),
    ):
        with refused(DomainError, code):
            Thinning(**wrong)
    with refused(DomainError, "stop_out_of_range"):
        StopRule(0, 20)


def test_files_are_thinned_as_they_are_read_whatever_they_are():
    paths = [FOLDER / "timeline-ios.json", FOLDER / "tracks.kml"]
    points = read_points(paths, Reading(thinning=Thinning(points=4)))
    assert points.lengths.tolist() == [4, 4, 4]
    stays = Reading(thinning=Thinning(stops=StopRule()))
    assert read_points(paths, stays).lengths.tolist() == [2]  # the tracks have none
    with refused(DomainError, "no_stops"):
        read_points(paths[1], stays)


def test_stops_do_not_depend_on_how_many_distances_are_taken_at_once(monkeypatch):
    from nomadp.formats import stops as module

    rng = np.random.default_rng(3)
    walk = track([(k, m) for k, m in enumerate(np.cumsum(rng.normal(0, 60, 700)))])
    whole = rows(stops(walk, StopRule()))
    monkeypatch.setattr(module, "BLOCK_POINTS", 3)
    assert rows(stops(walk, StopRule())) == whole
