"""From check-ins to trajectories: each stage by hand, by property, and in its counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from nomadp.datasets.checkins import (
    PRESETS,
    CheckInRecipe,
    build_checkins,
    thinned,
)
from nomadp.errors import DomainError, InvalidArgument
from nomadp.formats.box import Box
from nomadp.formats.points import split_at_gaps

MINUTE = 60_000_000


def rng(seed=1):
    return np.random.default_rng(seed)


def columns(user, minutes):
    return np.array(user), np.array(minutes) * MINUTE


DIARIES = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 120)), min_size=1, max_size=40
).map(sorted)


@given(DIARIES, st.integers(0, 5))
def test_after_thinning_no_two_points_of_a_user_are_within_ten_minutes(diary, seed):
    user, moment = columns(*zip(*diary, strict=True))
    selected = thinned(user, moment, 10 * MINUTE, rng(seed))
    assert np.all(np.diff(selected) > 0)
    same = np.diff(user[selected]) == 0
    assert np.all(np.diff(moment[selected])[same] > 10 * MINUTE)


@given(DIARIES, st.integers(0, 5))
def test_every_point_that_was_deleted_was_within_ten_minutes_of_a_kept_or_first_one(
    diary, seed
):
    user, moment = columns(*zip(*diary, strict=True))
    selected = thinned(user, moment, 10 * MINUTE, rng(seed))
    for k in range(len(user)):
        near = np.abs(moment[selected] - moment[k]) <= 10 * MINUTE
        assert np.any(near & (user[selected] == user[k]))


def test_a_window_keeps_each_of_its_points_equally_often():
    user, moment = columns([0] * 4 + [1] * 2, [0, 3, 6, 9, 0, 500])
    counts = np.zeros(6)
    for seed in range(2000):
        counts[thinned(user, moment, 10 * MINUTE, rng(seed))] += 1
    assert counts[4:].tolist() == [2000, 2000]
    assert counts[:4].sum() == 2000
    # Five standard deviations of a binomial share of a quarter.
    assert np.all(np.abs(counts[:4] - 500) < 5 * np.sqrt(2000 * 3 / 16))


def test_what_follows_a_kept_point_too_soon_is_deleted_before_a_new_window_opens():
    # Kept at minute 0 or 8 of the first window; minute 12 survives only after minute 0.
    user, moment = columns([0, 0, 0], [0, 8, 12])
    outcomes = {
        tuple(thinned(user, moment, 10 * MINUTE, rng(seed)).tolist()) for seed in range(50)
    }
    assert outcomes == {(0, 2), (1,)}


def test_points_exactly_ten_minutes_apart_are_too_close_and_a_second_more_is_not():
    user = np.zeros(2, dtype=int)
    assert len(thinned(user, np.array([0, 10 * MINUTE]), 10 * MINUTE, rng())) == 1
    assert len(thinned(user, np.array([0, 10 * MINUTE + 1]), 10 * MINUTE, rng())) == 2


def test_no_points_are_thinned_to_no_points():
    empty = np.empty(0, dtype=np.int64)
    assert len(thinned(empty, empty, MINUTE, rng())) == 0


def test_a_trajectory_ends_at_a_new_user_and_after_more_than_the_gap():
    user, moment = columns([0, 0, 0, 1, 1], [0, 180, 361, 362, 363])
    assert split_at_gaps(user, moment, 180 * MINUTE).tolist() == [0, 2, 3]


# The whole recipe

PLACES = {"a": (41.9, -87.6), "b": (41.8, -87.7), "c": (41.7, -87.5), "far": (30.0, -97.0)}


def line(user, minute, place):
    moment = np.datetime64("2010-06-01T00:00:00") + np.timedelta64(minute, "m")
    lat, lng = PLACES[place]
    return f"{user}\t{moment}Z\t{lat}\t{lng}\t{place}"


CHECK_INS = [
    line("ann", 0, "a"),
    line("ann", 30, "b"),
    line("ann", 31, "b"),  # within ten minutes of the one before: one of the two is kept
    line("ann", 300, "a"),  # after more than three hours: a piece of its own
    "not a check-in",
    line("bob", 0, "far"),
    line("bob", 20, "b"),
    line("bob", 40, "a"),
    line("bob", 60, "c"),  # the least visited place: not among the two kept
    line("bob", 90, "a"),
]
RECIPE = CheckInRecipe("gowalla", Box(-88, 41.6, -87.4, 42), places=2)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "gowalla.txt"
    path.write_text("\n".join(CHECK_INS) + "\n", encoding="utf-8")
    return path


def test_the_recipe_by_hand(file):
    built = build_checkins(file, RECIPE)
    assert built.locations.ids == ("a", "b")
    walks = [built.trajectories[k].tolist() for k in range(len(built.trajectories))]
    assert walks == [[0, 1], [1, 0, 0]]
    assert built.recipe["counts"] == {
        "rows": 10,
        "malformed": 1,
        "malformed_lines": [5],
        "outside_box": 1,
        "places_found": 3,
        "places_kept": 2,
        "at_other_places": 1,
        "at_other_coordinates": 0,
        "thinned": 1,
        "pieces": 3,
        "in_pieces_too_short": 1,
        "beyond_longest": 0,
        "trajectories": 2,
        "points": 5,
    }
    assert built.recipe["parameters"]["box"] == "-88,41.6,-87.4,42"


def test_every_row_is_accounted_for(file):
    counts = build_checkins(
        file, CheckInRecipe("gowalla", RECIPE.box, places=2, longest=2)
    ).recipe["counts"]
    dropped = ("malformed", "outside_box", "at_other_places", "thinned")
    dropped += ("in_pieces_too_short", "beyond_longest")
    assert counts["beyond_longest"] == 1
    assert counts["rows"] == counts["points"] + sum(counts[name] for name in dropped)


def test_the_seed_decides_and_nothing_else_does(file):
    def minutes(seed):
        recipe = CheckInRecipe("gowalla", RECIPE.box, places=2, seed=seed)
        moments = build_checkins(file, recipe).moment_us
        return (moments // MINUTE - moments[0] // MINUTE).tolist()

    assert minutes(3) == minutes(3)
    assert {minutes(seed)[1] for seed in range(20)} == {30, 31}


def test_a_place_that_moves_stays_where_it_was_first_and_is_counted(tmp_path):
    moved = line("ann", 60, "b").replace("41.8", "41.81")
    path = tmp_path / "g.txt"
    path.write_text("\n".join([*CHECK_INS, moved]), encoding="utf-8")
    built = build_checkins(path, RECIPE)
    assert built.recipe["counts"]["at_other_coordinates"] == 1
    assert built.locations.lat[1] == 41.8


def test_fewer_places_than_asked_for_are_all_kept_and_said(file):
    counts = build_checkins(file, CheckInRecipe("gowalla", RECIPE.box, 1000)).recipe["counts"]
    assert (counts["places_found"], counts["places_kept"]) == (3, 3)


def test_refuses_a_box_without_check_ins_and_one_with_a_single_place(file):
    with refused(DomainError, "no_points_in_box", rows=9):
        build_checkins(file, CheckInRecipe("gowalla", Box(0, 0, 1, 1), 2))
    with refused(DomainError, "too_few_locations", locations=1):
        build_checkins(file, CheckInRecipe("gowalla", Box(-98, 29, -96, 31), 2))


def test_refuses_when_no_trajectory_is_left(file):
    with refused(DomainError, "no_trajectories"):
        build_checkins(file, CheckInRecipe("gowalla", RECIPE.box, 2, gap_hours=0.01))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"places": 1}, "too_few_places"),
        ({"window_minutes": -1}, "thinning_out_of_range"),
        ({"gap_hours": 0}, "thinning_out_of_range"),
        ({"longest": 1}, "longest_out_of_range"),
    ],
)
def test_refuses_a_recipe_that_makes_no_sense(change, code):
    with refused(InvalidArgument, code):
        CheckInRecipe(**{"source": "gowalla", "box": None, "places": 5, **change})


def test_the_presets_are_the_papers():
    assert {name: (p.source, p.places) for name, p in PRESETS.items()} == {
        "nyc": ("foursquare", 2000),
        "chi": ("gowalla", 1000),
        "cle": ("gowalla", 1000),
    }
    portland = (45.52, -122.68)
    assert PRESETS["cle"].box.contains(*portland)
    assert PRESETS["nyc"].box.contains(40.7128, -74.0060)
    assert PRESETS["chi"].box.contains(41.8781, -87.6298)


def test_the_papers_own_sets_lie_in_the_boxes_and_obey_the_recipe(paper_data):
    from nomadp.formats.location_files import read_locations
    from nomadp.formats.point_files import read_trajectories

    for name, preset in PRESETS.items():
        locations = read_locations(paper_data / name / "locations.csv")
        read, _ = read_trajectories(paper_data / name / "trajectories.csv", locations)
        assert len(locations) == preset.places
        assert preset.box.contains(locations.lat, locations.lng).all()
        assert read.lengths.min() == 2
        assert read.lengths.max() == preset.longest
