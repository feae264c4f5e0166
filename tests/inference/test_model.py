"""What was learned is kept, taken up again, and refused where it does not belong."""

import numpy as np
import pytest
from refusals import refused
from worlds import scattered

from nomadp.engine import perturb_set
from nomadp.errors import DomainError, SchemaError
from nomadp.inference import shares as shares_module
from nomadp.inference.decode import groups_from, groups_of
from nomadp.inference.hotspots import flow_shares, visit_shares
from nomadp.inference.model import Model, fit
from nomadp.mechanisms import make_mechanism
from nomadp.mechanisms.atlas import Atlas
from nomadp.randomness import SeededRandom
from nomadp.reports import Counts
from nomadp.trajectory import TrajectorySet

LOCATIONS = scattered(40)


@pytest.fixture(autouse=True)
def fewer_repeats(monkeypatch):
    monkeypatch.setattr(shares_module, "REPEATS", 3)


def made(name, epsilon=6):
    if name == "atlas":
        return Atlas(locations=LOCATIONS, epsilon=epsilon, size=32)
    options = {"zones": "grid:3"} if name in ("trips", "visits") else {}
    return make_mechanism(name, LOCATIONS, epsilon, **options)


def reports_of(mechanism, count=300, seed=1, lengths=(2, 3)):
    rng = np.random.default_rng(seed)
    near = np.argsort(LOCATIONS.distances_km(3))[:6]
    rows = [rng.choice(near, lengths[k % len(lengths)]) for k in range(count)]
    true = TrajectorySet.from_lists(rows, size=40)
    return perturb_set(mechanism, true, SeededRandom(seed))


@pytest.mark.parametrize("name", ["atlas", "brr", "trips"])
def test_what_was_kept_answers_the_same(name, tmp_path):
    mechanism = made(name)
    counts = Counts.of(mechanism, reports_of(mechanism))
    learned, path = fit(mechanism, counts), tmp_path / "learned.npz"
    learned.write(path)
    again = Model.read(path, mechanism, counts)
    assert (again.counts, again.reports) == (counts, 300)
    for zones in (None, "grid:3"):
        one, two = (visit_shares(each, zones) for each in (learned, again))
        assert np.array_equal(one.values, two.values)
        assert np.array_equal(one.std_error, two.std_error)
    if name != "brr":
        one, two = (flow_shares(each, "grid:3") for each in (learned, again))
        assert np.array_equal(one.values, two.values)


def test_reports_and_their_counts_teach_the_same():
    mechanism = made("brr")
    reports = reports_of(mechanism)
    one, two = fit(mechanism, reports), fit(mechanism, Counts.of(mechanism, reports))
    assert np.array_equal(visit_shares(one).values, visit_shares(two).values)


@pytest.mark.parametrize("name", ["brr", "trips"])
def test_what_is_stale_is_refused(name, tmp_path):
    mechanism, path = made(name), tmp_path / "learned.npz"
    reports = reports_of(mechanism)
    counts = Counts.of(mechanism, reports)
    fit(mechanism, counts).write(path)
    more = counts + Counts.of(mechanism, reports.between(0, 1))
    with refused(DomainError, "model_of_other_reports", reports=300):
        Model.read(path, mechanism, more)
    with refused(DomainError, "model_of_other_mechanism"):
        Model.read(path, made(name, 5))


def test_counts_of_other_mechanisms_beside_make_nothing_stale():
    one, other = made("brr"), made("brr", 2)
    counts = Counts.of(one, reports_of(one))
    both = counts + Counts.of(other, reports_of(other))
    fit(one, counts).check_of(one, both)
    with refused(DomainError, "counts_of_another_mechanism"):
        fit(made("brr", 3), both)


@pytest.mark.parametrize("damage", ["cut", "text", "objects", "short", "counts"])
def test_what_is_damaged_is_refused(damage, tmp_path):
    mechanism, path = made("brr"), tmp_path / "learned.npz"
    fit(mechanism, reports_of(mechanism)).write(path)
    with np.load(path) as file:
        arrays = dict(file)
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-200])
    elif damage == "text":
        path.write_text("learned")
    elif damage == "objects":
        np.savez(path, **arrays, more=np.array([{}], dtype=object))
    elif damage == "short":
        np.savez(path, **arrays | {"scores": arrays["scores"][:, :-1]})
    else:
        np.savez(path, **arrays | {"count": arrays["count"] + 1})
    code = "model_counts_differ" if damage == "counts" else "not_a_model"
    with refused(SchemaError, code):
        Model.read(path, mechanism)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with refused(SchemaError, "file_unreadable"):
        Model.read(tmp_path / "none.npz", made("brr"))


def test_nothing_is_learned_from_no_report():
    with refused(DomainError, "no_reports"):
        fit(made("brr"), Counts())


def test_long_journeys_of_all_lengths_are_one_group():
    mechanism = made("atlas", 4)
    reports = reports_of(mechanism, 40, lengths=(2, 9, 12, 30))
    groups = groups_of(mechanism, reports)
    assert [group.evidence.support.shape[1] for group in groups] == [2, 8]
    assert [group.total for group in groups] == [10, 30]
    counts = Counts.of(mechanism, reports)
    assert len(counts.lengths(mechanism)) == 4
    assert sum(group.total for group in groups_from(mechanism, counts)) == 40


def test_a_file_that_is_too_large_is_refused(tmp_path):
    path = tmp_path / "learned.npz"
    with path.open("wb") as file:
        file.truncate((1 << 31) + 1)  # without a byte on the disk
    with refused(SchemaError, "model_too_large", most=1 << 31):
        Model.read(path, made("brr"))
