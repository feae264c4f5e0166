"""A query as data: strict, the same for the same, answered with all that is to be said."""

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
def survey():
    mechanism = made("atlas")
    return mechanism, reports_of(mechanism)


@pytest.fixture(scope="module")
def model(survey):
    """A model of the trajectories, fitted once for all tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shares_module, "REPEATS", 3)
        return fit(*survey)


@pytest.mark.parametrize("kind", EVERY)
def test_every_estimate_has_its_facts(kind, survey, model):
    mechanism, reports = survey
    counts = Counts.of(mechanism, reports)
    options = {"task": "a-task", "min_batch_size": 300, "model": model}
    table = run_query(mechanism, counts, {"kind": kind}, **options)
    assert table.about.keys() >= FACTS
    about = json.loads(json.dumps(dict(table.about)))
    assert (about["reports"], about["task"], about["epsilon"]) == (300, "a-task", "6")
    assert about["suppression"]["min_batch_size"] == 300
    assert len(table) > 0
    assert 0 <= about["poisoning_1pct"]["increase"] <= 1
    if kind in ("hotspots", "density", "flows", "lengths"):
        assert {
            "std_error",
            "ci_low",
            "ci_high",
            "baseline",
            "p_value",
            "significant",
        } <= table.columns.keys()
        assert about["significance"]["false_discovery_rate"] == 0.1
        assert about["significance"]["significant"] == table["significant"].sum()
        assert ((table["p_value"] <= 1 - 0.9) == table["significant"]).all()


@pytest.mark.parametrize(("kind", "value"), [("hotspots", "share"), ("flows", "flow")])
def test_every_interval_includes_its_estimate(kind, value):
    mechanism = made("trips", epsilon=2)
    counts = Counts.of(mechanism, reports_of(mechanism, 40))
    unbounded = visit_shares(fit(mechanism, counts), mechanism.partition, None)
    assert (unbounded.values > unbounded.interval(0.5)[1]).any()  # before it is extended
    table = run_query(mechanism, counts, {"kind": kind, "level": 0.5})
    assert (table["ci_low"] <= table[value]).all()
    assert (table[value] <= table["ci_high"]).all()
    if kind == "hotspots":
        excludes_baseline = (table["baseline"] < table["ci_low"]) | (
            table["ci_high"] < table["baseline"]
        )
        assert not (table["significant"] & ~excludes_baseline).any()


@pytest.mark.parametrize("kind", EVERY)
def test_too_few_reports_give_only_the_number_of_missing_ones(kind, survey):
    mechanism, reports = survey
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


def test_hotspots_are_the_shares_of_the_fitted_model(survey, model):
    mechanism, reports = survey
    table = run_query(mechanism, reports, {"kind": "hotspots"}, model=model)
    expected = visit_shares(model)
    assert (
        table["location_id"] == list(LOCATIONS.ids)
        or tuple(table["location_id"]) == LOCATIONS.ids
    )
    assert np.array_equal(table["share"], expected.values)
    assert np.array_equal(table["std_error"], expected.std_error)
    low, high = expected.interval(0.9)
    assert np.array_equal(table["ci_low"], low)
    assert np.array_equal(table["baseline"], expected.baseline)
    assert not table["significant"][
        (low <= expected.baseline) & (expected.baseline <= high)
    ].any()
    order = np.argsort(table["rank"])
    assert (np.diff(np.asarray(table["share"])[order]) <= 0).all()


def test_a_zone_is_where_its_locations_are_on_average(survey, model):
    table = run_query(*survey, {"kind": "density", "areas": "grid:2"}, model=model)
    zones = zones_of(LOCATIONS, "grid:2")
    assert tuple(table["zone"]) == zones.names
    for k in range(len(zones)):
        assert table["lat"][k] == pytest.approx(LOCATIONS.lat[zones.of == k].mean())
        assert table["lng"][k] == pytest.approx(LOCATIONS.lng[zones.of == k].mean())


def test_flows_go_from_every_area_to_every_area(survey, model):
    mechanism, reports = survey
    table = run_query(mechanism, reports, {"kind": "flows", "areas": "grid:2"}, model=model)
    names = zones_of(LOCATIONS, "grid:2").names
    pairs = list(zip(table["origin"], table["destination"], strict=True))
    assert pairs == [(one, two) for one in names for two in names]
    assert np.array_equal(table["flow"], flow_shares(model, "grid:2").values)


@pytest.mark.slow
def test_trajectories_are_decoded_with_the_fitted_prior(survey):
    mechanism, reports = survey
    expected = decode(mechanism, reports, fit_prior(mechanism, reports))
    table = run_query(mechanism, reports, {"kind": "trajectories"})
    assert list(table["location_id"]) == [LOCATIONS.ids[k] for k in expected.locations]
    assert np.array_equal(table["radius_km"], expected.radius_km)
    distinct = run_query(mechanism, Counts.of(mechanism, reports), {"kind": "trajectories"})
    decoded = {}
    for tid, place in zip(distinct["tid"], distinct["location_id"], strict=True):
        decoded.setdefault(tid, []).append(place)
    start = 0
    for row, number in zip(range(len(reports)), reports.numbers.tolist(), strict=True):
        length = int(reports.lengths[row])
        ours = list(table["location_id"])[start : start + length]
        assert decoded[f"{length}-{number}"] == ours
        start += length
    count = dict(zip(distinct["tid"], np.asarray(distinct["reports"]).tolist(), strict=True))
    assert sum(count.values()) == 300


def test_counts_of_points_contain_no_trajectories():
    mechanism = made("brr")
    counts = Counts.of(mechanism, reports_of(mechanism))
    with refused(DomainError, "counts_of_points", mechanism="brr"):
        run_query(mechanism, counts, {"kind": "trajectories"})


def test_lengths_are_exact(survey):
    table = run_query(*survey, {"kind": "lengths"})
    assert list(table["length"]) == [2, 3]
    assert list(table["share"]) == [0.5, 0.5]
    assert (np.asarray(table["ci_low"]) < 0.5).all()
    assert (np.asarray(table["ci_high"]) > 0.5).all()


def test_lengths_are_refused_if_reports_do_not_contain_them():
    oracle, atlas = made("trips"), made("atlas")
    with refused(DomainError, "frequency_oracle_unsupported", mechanism="trips"):
        run_query(oracle, reports_of(oracle), {"kind": "lengths"})
    with refused(DomainError, "single_length"):
        run_query(atlas, reports_of(atlas, lengths=(2,)), {"kind": "lengths"})


@pytest.mark.parametrize("name", ["atlas", "trips"])
def test_synthetic_trajectories_have_the_estimated_shares(name):
    mechanism = made(name, 8)
    reports = reports_of(mechanism, 600)
    model = fit(mechanism, reports)
    query = {"kind": "synthesize", "count": 5000, "start": "2026-01-01T00:00:00Z"}
    table = run_query(mechanism, reports, query, model=model)
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
    estimated = visit_shares(model, "grid:3").values
    assert drawn == pytest.approx(estimated, abs=0.04)


def test_reports_of_single_points_or_zones_give_no_trajectories():
    for name, code in (("brr", "reports_of_points"), ("starts", "pairs_not_queried")):
        mechanism = made(name)
        with refused(DomainError, code, mechanism=name):
            run_query(mechanism, reports_of(mechanism), {"kind": "synthesize"})


def test_all_times_combined_come_before_each_time():
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
    ("query", "code"),
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
def test_an_invalid_query_is_refused(query, code, survey):
    with refused(SchemaError, code):
        checked_query(query)
    with refused(SchemaError, code):
        run_query(*survey, query)


def test_equal_queries_are_equal_however_they_are_written():
    one = checked_query({"kind": "hotspots", "areas": "grid:16", "level": "0.90"})
    two = checked_query({"level": 0.9, "areas": "grid:16", "kind": "hotspots", "at": None})
    assert one == two == {"kind": "hotspots", "areas": "grid:16", "level": 0.9}
    assert checked_query({"kind": "hotspots"}) == {"kind": "hotspots", "level": 0.9}


DEFAULTS = [
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


@pytest.mark.parametrize(("name", "kind", "defaults"), DEFAULTS)
def test_defaults_do_not_change_a_query_or_its_estimate(name, kind, defaults):
    mechanism, shortest = made(name), {"kind": kind}
    assert shortest_query(mechanism, shortest) == shortest
    assert shortest_query(mechanism, {**shortest, **defaults}) == shortest
    reports = reports_of(mechanism, 100)
    queries = (shortest, {**shortest, **defaults})
    one, two = (run_query(mechanism, reports, query) for query in queries)
    for column in one.columns.keys() | two.columns.keys():
        assert list(one[column]) == list(two[column])


def test_other_values_than_the_defaults_are_kept():
    starts, atlas = made("starts"), made("atlas")
    assert shortest_query(starts, {"kind": "density", "areas": "grid:16"})["areas"]
    assert shortest_query(atlas, {"kind": "density", "areas": "grid:3"})["areas"]
    assert shortest_query(atlas, {"kind": "hotspots", "level": "0.5"})["level"] == 0.5
    for invalid in ({"kind": "who", "level": 0.9}, {"kind": "hotspots", "level": 10**400}):
        assert shortest_query(atlas, invalid) == invalid


@pytest.mark.parametrize(
    ("name", "query", "code"),
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
def test_queries_that_reports_cannot_answer_are_refused(name, query, code):
    mechanism = made(name)
    with refused(DomainError, code):
        run_query(mechanism, reports_of(mechanism), query)


@pytest.mark.parametrize("query", [nomadp.hotspots, nomadp.density, nomadp.flows])
def test_a_frame_of_polygons_can_be_the_areas(query, model):
    west, south, east, north = (
        *(LOCATIONS.lng.min() - 1, LOCATIONS.lat.min() - 1),
        *(LOCATIONS.lng.max() + 1, LOCATIONS.lat.max() + 1),
    )
    middle = (west + east) / 2
    shapes = [box(west, south, middle, north), box(middle, south, east, north)]
    frame = geopandas.GeoDataFrame({"name": ["W", "E"]}, geometry=shapes, crs=4326)
    rings = [[list(each.exterior.coords)] for each in shapes]
    zones = polygon_zones(LOCATIONS, rings, ["W", "E"])
    one, two = query(model, frame), query(model, zones)
    assert one["ci_low"].tolist() == two["ci_low"].tolist()
    assert one.about["areas"] == two.about["areas"]
    with refused(DomainError, "areas_of_wrong_type", type="DataFrame"):
        query(model, frame.drop(columns="geometry"))
    with refused(SchemaError, "geometry_unreadable"):
        query(model, geopandas.GeoDataFrame({"name": ["W", "E"]}))


def test_a_model_of_other_reports_is_refused(survey):
    mechanism, reports = survey
    model = fit(mechanism, reports.between(0, 100))
    with refused(DomainError, "model_of_other_reports", reports=100):
        run_query(mechanism, reports, {"kind": "hotspots"}, model=model)


def test_a_batch_has_at_least_one_report(survey):
    with refused(DomainError, "min_batch_size_out_of_range", min_batch_size=0):
        run_query(*survey, {"kind": "hotspots"}, min_batch_size=0)


def test_a_long_level_is_refused():
    with refused(SchemaError, "invalid_query_option", option="level"):
        checked_query({"kind": "hotspots", "level": "0." + "9" * 30})


def test_an_unknown_option_is_named_only_if_another_query_has_it():
    with refused(SchemaError, "unknown_query_options", query="trajectories", known=("areas",)):
        checked_query({"kind": "trajectories", "areas": "grid:4"})
    with refused(SchemaError, "unknown_query_options", known=(), unknown=1) as caught:
        checked_query({"kind": "trajectories", "secret": 1})
    assert "secret" not in repr(vars(caught.value)) + str(caught.value)
