"""A question as data: strict, the same for the same, answered with all that is to be said."""

import json

import geopandas
import numpy as np
import pytest
from refusals import refused
from shapely.geometry import box
from worlds import scattered

import nomadp
from nomadp.answers import run_query
from nomadp.answers.query import checked_query, shortest_query
from nomadp.engine import perturb_set
from nomadp.errors import DomainError, SchemaError
from nomadp.inference import decode, fit_prior
from nomadp.inference import shares as shares_module
from nomadp.inference.hotspots import flow_shares, visit_shares
from nomadp.inference.model import fit
from nomadp.mechanisms import make_mechanism
from nomadp.mechanisms.atlas import Atlas
from nomadp.randomness import SeededRandom
from nomadp.reports import Counts
from nomadp.trajectory import TrajectorySet
from nomadp.zones import polygon_zones, zones_of

LOCATIONS = scattered(40)
EVERY = ("hotspots", "density", "flows", "trajectories", "lengths", "synthesize")
FACTS = {"epsilon", "mechanism", "mechanism_version", "reports", "task", "suppression"}
FACTS |= {"invalid_reports_at_least", "refused", "counts_sha256", "location_set_sha256"}


@pytest.fixture(autouse=True)
def fewer_repeats(monkeypatch):
    monkeypatch.setattr(shares_module, "REPEATS", 3)


def made(name, epsilon=6, **options):
    if name == "atlas":
        return Atlas(locations=LOCATIONS, epsilon=epsilon, size=128)
    options |= {"zones": "grid:3"} if name in ("trips", "visits", "starts") else {}
    return make_mechanism(name, LOCATIONS, epsilon, **options)


def reports_of(mechanism, count=300, lengths=(2, 3), hours=None):
    rng = np.random.default_rng(1)
    near = np.argsort(LOCATIONS.distances_km(3))[:6]
    rows = [rng.choice(near, lengths[k % len(lengths)]) for k in range(count)]
    true = TrajectorySet.from_lists(rows, size=40)
    if hours is not None:
        true = TrajectorySet(true.offsets, true.locations, true.tids, np.full(count, hours))
    return perturb_set(mechanism, true, SeededRandom(1))


@pytest.fixture(scope="module")
def journeys():
    mechanism = made("atlas")
    return mechanism, reports_of(mechanism)


@pytest.fixture(scope="module")
def learned(journeys):
    """From the journeys, once for all who do not ask how."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shares_module, "REPEATS", 3)
        return fit(*journeys)


@pytest.mark.parametrize("kind", EVERY)
def test_every_answer_says_what_it_is_worth(kind, journeys, learned):
    mechanism, reports = journeys
    counts = Counts.of(mechanism, reports)
    told = {"task": "a-task", "min_batch_size": 300, "model": learned}
    table = run_query(mechanism, counts, {"kind": kind}, **told)
    assert table.about.keys() >= FACTS
    said = json.loads(json.dumps(dict(table.about)))
    assert (said["reports"], said["task"], said["epsilon"]) == (300, "a-task", "6")
    assert said["suppression"]["min_batch_size"] == 300
    assert len(table) > 0
    assert 0 <= said["poisoning_1pct"]["increase"] <= 1
    if kind in ("hotspots", "density", "flows", "lengths"):
        assert {
            "std_error",
            "ci_low",
            "ci_high",
            "baseline",
            "p_value",
            "significant",
        } <= table.columns.keys()
        assert said["significance"]["false_discovery_rate"] == 0.1
        assert said["significance"]["significant"] == table["significant"].sum()
        assert ((table["p_value"] <= 1 - 0.9) == table["significant"]).all()


@pytest.mark.parametrize(("kind", "value"), [("hotspots", "share"), ("flows", "flow")])
def test_no_estimate_lies_beyond_its_interval(kind, value):
    mechanism = made("trips", epsilon=2)
    counts = Counts.of(mechanism, reports_of(mechanism, 40))
    beyond = visit_shares(fit(mechanism, counts), mechanism.partition, None)
    assert (beyond.values > beyond.interval(0.5)[1]).any()  # so that there is something to see
    table = run_query(mechanism, counts, {"kind": kind, "level": 0.5})
    assert (table["ci_low"] <= table[value]).all()
    assert (table[value] <= table["ci_high"]).all()
    if kind == "hotspots":
        beyond_flat = (table["baseline"] < table["ci_low"]) | (
            table["ci_high"] < table["baseline"]
        )
        assert not (table["significant"] & ~beyond_flat).any()


@pytest.mark.parametrize("kind", EVERY)
def test_of_too_few_reports_nothing_is_said_but_how_many_are_missing(kind, journeys):
    mechanism, reports = journeys
    counts = Counts.of(mechanism, reports)
    table = run_query(mechanism, counts, {"kind": kind}, min_batch_size=301, task="t")
    assert (len(table), table.about["missing"], table.about["task"]) == (0, 1, "t")
    assert {
        "reports",
        "refused",
        "counts_sha256",
        "poisoning_1pct",
        "shrinkage_weight",
    }.isdisjoint(table.about)


def test_hotspots_are_the_shares_that_were_learned(journeys, learned):
    mechanism, reports = journeys
    table = run_query(mechanism, reports, {"kind": "hotspots"}, model=learned)
    wanted = visit_shares(learned)
    assert (
        table["location_id"] == list(LOCATIONS.ids)
        or tuple(table["location_id"]) == LOCATIONS.ids
    )
    assert np.array_equal(table["share"], wanted.values)
    assert np.array_equal(table["std_error"], wanted.std_error)
    low, high = wanted.interval(0.9)
    assert np.array_equal(table["ci_low"], low)
    assert np.array_equal(table["baseline"], wanted.baseline)
    assert not table["significant"][(low <= wanted.baseline) & (wanted.baseline <= high)].any()
    order = np.argsort(table["rank"])
    assert (np.diff(np.asarray(table["share"])[order]) <= 0).all()


def test_a_zone_is_where_its_locations_are_on_average(journeys, learned):
    table = run_query(*journeys, {"kind": "density", "areas": "grid:2"}, model=learned)
    zones = zones_of(LOCATIONS, "grid:2")
    assert tuple(table["zone"]) == zones.names
    for k in range(len(zones)):
        assert table["lat"][k] == pytest.approx(LOCATIONS.lat[zones.of == k].mean())
        assert table["lng"][k] == pytest.approx(LOCATIONS.lng[zones.of == k].mean())


def test_flows_go_from_every_area_to_every_area(journeys, learned):
    mechanism, reports = journeys
    table = run_query(mechanism, reports, {"kind": "flows", "areas": "grid:2"}, model=learned)
    names = zones_of(LOCATIONS, "grid:2").names
    pairs = list(zip(table["origin"], table["destination"], strict=True))
    assert pairs == [(one, two) for one in names for two in names]
    assert np.array_equal(table["flow"], flow_shares(learned, "grid:2").values)


@pytest.mark.slow
def test_journeys_are_what_decoding_with_the_learned_prior_gives(journeys):
    mechanism, reports = journeys
    wanted = decode(mechanism, reports, fit_prior(mechanism, reports))
    table = run_query(mechanism, reports, {"kind": "trajectories"})
    assert list(table["location_id"]) == [LOCATIONS.ids[k] for k in wanted.locations]
    assert np.array_equal(table["radius_km"], wanted.radius_km)
    distinct = run_query(mechanism, Counts.of(mechanism, reports), {"kind": "trajectories"})
    told = {}
    for tid, place in zip(distinct["tid"], distinct["location_id"], strict=True):
        told.setdefault(tid, []).append(place)
    start = 0
    for row, number in zip(range(len(reports)), reports.numbers.tolist(), strict=True):
        length = int(reports.lengths[row])
        ours = list(table["location_id"])[start : start + length]
        assert told[f"{length}-{number}"] == ours
        start += length
    count = dict(zip(distinct["tid"], np.asarray(distinct["reports"]).tolist(), strict=True))
    assert sum(count.values()) == 300


def test_counts_of_points_tell_of_no_journeys():
    mechanism = made("brr")
    counts = Counts.of(mechanism, reports_of(mechanism))
    with refused(DomainError, "counts_of_points", mechanism="brr"):
        run_query(mechanism, counts, {"kind": "trajectories"})


def test_lengths_are_told_as_they_are(journeys):
    table = run_query(*journeys, {"kind": "lengths"})
    assert list(table["length"]) == [2, 3]
    assert list(table["share"]) == [0.5, 0.5]
    assert (np.asarray(table["ci_low"]) < 0.5).all()
    assert (np.asarray(table["ci_high"]) > 0.5).all()


def test_lengths_are_refused_where_nobody_tells_them():
    question, one = made("trips"), made("atlas")
    with refused(DomainError, "frequency_oracle_unsupported", mechanism="trips"):
        run_query(question, reports_of(question), {"kind": "lengths"})
    with refused(DomainError, "single_length"):
        run_query(one, reports_of(one, lengths=(2,)), {"kind": "lengths"})


@pytest.mark.parametrize("name", ["atlas", "trips"])
def test_synthetic_journeys_have_the_shares_that_are_told(name):
    mechanism = made(name, 8)
    reports = reports_of(mechanism, 600)
    learned = fit(mechanism, reports)
    question = {"kind": "synthesize", "count": 5000, "start": "2026-01-01T00:00:00Z"}
    table = run_query(mechanism, reports, question, model=learned)
    assert table.about["synthetic"] is True
    assert list(table["uid"])[:1] == ["synthetic-0"]
    assert len(set(table["tid"])) == 5000
    assert set(table["datetime"]) == {f"2026-01-01T00:0{k}:00Z" for k in range(3)} - (
        {"2026-01-01T00:02:00Z"} if name == "trips" else set()
    )
    zones = zones_of(LOCATIONS, "grid:3")
    place = zones.of[LOCATIONS.find(list(table["location_id"]))]
    if name == "trips":
        place = place[np.asarray(table["seq"]) == 0]
    drawn = np.bincount(place, minlength=len(zones)) / len(place)
    told = visit_shares(learned, "grid:3").values
    assert drawn == pytest.approx(told, abs=0.04)


def test_single_points_and_single_zones_make_no_journeys():
    for name, code in (("brr", "reports_of_points"), ("starts", "pairs_not_queried")):
        mechanism = made(name)
        with refused(DomainError, code, mechanism=name):
            run_query(mechanism, reports_of(mechanism), {"kind": "synthesize"})


def test_times_are_told_together_and_each():
    mechanism = made("starts", when="day-part")
    table = run_query(mechanism, reports_of(mechanism, hours=7), {"kind": "hotspots"})
    zones = len(mechanism.partition)
    assert len(table) == zones * 5
    when, share = np.array(table["when"]), np.asarray(table["share"])
    assert share[when == "any"].sum() == pytest.approx(1)
    assert share[when != "any"].sum() == pytest.approx(1)
    assert share[when == "6-12 h"].sum() == max(
        share[when == slot].sum() for slot in mechanism.slots.names
    )
    assert list(table["zone"])[zones : zones + 4] == [mechanism.partition.names[0]] * 4


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ({}, "unknown_query"),
        ([], "unknown_query"),
        ({"kind": "everything"}, "unknown_query"),
        ({"kind": ["hotspots"]}, "unknown_query"),
        ({"kind": "hotspots", "seed": 1}, "unknown_query_options"),
        ({"kind": "flows", "at": "ends"}, "unknown_query_options"),
        ({"kind": "hotspots", "areas": 5}, "invalid_query_option"),
        ({"kind": "hotspots", "areas": "x" * 201}, "invalid_query_option"),
        ({"kind": "hotspots", "at": "noon"}, "invalid_query_option"),
        ({"kind": "hotspots", "level": "1.5"}, "invalid_query_option"),
        ({"kind": "hotspots", "level": "nan"}, "invalid_query_option"),
        ({"kind": "hotspots", "level": True}, "invalid_query_option"),
        ({"kind": "hotspots", "level": 0}, "invalid_query_option"),
        ({"kind": "hotspots", "level": 10**400}, "invalid_query_option"),
        ({"kind": "synthesize", "count": 0}, "invalid_query_option"),
        ({"kind": "synthesize", "count": 10**9}, "invalid_query_option"),
        ({"kind": "synthesize", "seed": -1}, "invalid_query_option"),
        ({"kind": "synthesize", "seed": 1.0}, "invalid_query_option"),
    ],
)
def test_a_question_that_is_none_is_refused(question, code, journeys):
    with refused(SchemaError, code):
        checked_query(question)
    with refused(SchemaError, code):
        run_query(*journeys, question)


def test_the_same_question_is_the_same_however_it_is_written():
    one = checked_query({"kind": "hotspots", "areas": "grid:16", "level": "0.90"})
    two = checked_query({"level": 0.9, "areas": "grid:16", "kind": "hotspots", "at": None})
    assert one == two == {"kind": "hotspots", "areas": "grid:16", "level": 0.9}
    assert checked_query({"kind": "hotspots"}) == {"kind": "hotspots", "level": 0.9}


PLAIN = [
    ("atlas", "hotspots", {"areas": "locations", "at": "visits", "level": "0.9"}),
    ("atlas", "density", {"areas": "grid:16", "at": "visits", "level": 0.9}),
    ("atlas", "flows", {"areas": "grid:4", "level": 0.9}),
    ("atlas", "trajectories", {"level": 0.9}),
    ("atlas", "lengths", {"level": 0.9}),
    ("atlas", "synthesize", {"count": 1000, "seed": 0}),
    ("starts", "density", {"areas": "grid:3", "at": "starts", "level": 0.9}),
    ("trips", "flows", {"areas": "grid:3"}),
    ("trips", "hotspots", {"at": "starts"}),
]


@pytest.mark.parametrize(("name", "kind", "said"), PLAIN)
def test_what_goes_without_saying_is_the_same_question_and_answer(name, kind, said):
    mechanism, plain = made(name), {"kind": kind}
    assert shortest_query(mechanism, plain) == plain
    assert shortest_query(mechanism, {**plain, **said}) == plain
    reports = reports_of(mechanism, 100)
    one, two = (run_query(mechanism, reports, each) for each in (plain, {**plain, **said}))
    for column in one.columns.keys() | two.columns.keys():
        assert list(one[column]) == list(two[column])


def test_what_changes_an_answer_is_another_question():
    starts, atlas = made("starts"), made("atlas")
    assert shortest_query(starts, {"kind": "density", "areas": "grid:16"})["areas"]
    assert shortest_query(atlas, {"kind": "density", "areas": "grid:3"})["areas"]
    assert shortest_query(atlas, {"kind": "hotspots", "level": "0.5"})["level"] == 0.5
    for none in ({"kind": "who", "level": 0.9}, {"kind": "hotspots", "level": 10**400}):
        assert shortest_query(atlas, none) == none


@pytest.mark.parametrize(
    ("name", "question", "code"),
    [
        ("visits", {"kind": "hotspots", "areas": "locations"}, "locations_not_queried"),
        ("visits", {"kind": "hotspots", "areas": "grid:2"}, "zones_not_nested"),
        ("visits", {"kind": "flows"}, "pairs_not_queried"),
        ("brr", {"kind": "density", "areas": "locations"}, "zones_required"),
        ("brr", {"kind": "flows"}, "reports_of_points"),
        ("brr", {"kind": "flows", "areas": "locations"}, "zones_required"),
        ("brr", {"kind": "hotspots", "areas": "grid:0"}, "unknown_zone_rule"),
        ("atlas", {"kind": "synthesize", "start": "noon"}, "invalid_start_time"),
    ],
)
def test_what_reports_do_not_tell_is_refused(name, question, code):
    mechanism = made(name)
    with refused(DomainError, code):
        run_query(mechanism, reports_of(mechanism), question)


@pytest.mark.parametrize("question", [nomadp.hotspots, nomadp.density, nomadp.flows])
def test_a_frame_of_polygons_is_taken_as_areas(question, learned):
    west, south, east, north = (
        *(LOCATIONS.lng.min() - 1, LOCATIONS.lat.min() - 1),
        *(LOCATIONS.lng.max() + 1, LOCATIONS.lat.max() + 1),
    )
    middle = (west + east) / 2
    shapes = [box(west, south, middle, north), box(middle, south, east, north)]
    frame = geopandas.GeoDataFrame({"name": ["W", "E"]}, geometry=shapes, crs=4326)
    rings = [[list(each.exterior.coords)] for each in shapes]
    zones = polygon_zones(LOCATIONS, rings, ["W", "E"])
    one, two = question(learned, frame), question(learned, zones)
    assert one["ci_low"].tolist() == two["ci_low"].tolist()
    assert one.about["areas"] == two.about["areas"]
    with refused(DomainError, "areas_of_wrong_type", type="DataFrame"):
        question(learned, frame.drop(columns="geometry"))
    with refused(SchemaError, "geometry_unreadable"):
        question(learned, geopandas.GeoDataFrame({"name": ["W", "E"]}))


def test_what_was_learned_of_other_reports_is_refused(journeys):
    mechanism, reports = journeys
    learned = fit(mechanism, reports.between(0, 100))
    with refused(DomainError, "model_of_other_reports", reports=100):
        run_query(mechanism, reports, {"kind": "hotspots"}, model=learned)


def test_a_batch_has_at_least_one_report(journeys):
    with refused(DomainError, "min_batch_size_out_of_range", min_batch_size=0):
        run_query(*journeys, {"kind": "hotspots"}, min_batch_size=0)


def test_a_level_written_at_length_is_refused():
    with refused(SchemaError, "invalid_query_option", option="level"):
        checked_query({"kind": "hotspots", "level": "0." + "9" * 30})


def test_what_a_question_does_not_take_is_named_if_it_is_ours():
    with refused(SchemaError, "unknown_query_options", query="trajectories", known=("areas",)):
        checked_query({"kind": "trajectories", "areas": "grid:4"})
    with refused(SchemaError, "unknown_query_options", known=(), unknown=1) as caught:
        checked_query({"kind": "trajectories", "secret": 1})
    assert "secret" not in repr(vars(caught.value)) + str(caught.value)
