"""Counts of parts are the counts of the whole, however the parts are cut."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from refusals import refused
from reported import reported
from worlds import scattered

from nomadp.engine import perturb_set
from nomadp.errors import DomainError, SchemaError
from nomadp.mechanisms import make_mechanism
from nomadp.randomness import SeededRandom
from nomadp.reports import Counts
from nomadp.reports.counts import counts_of
from nomadp.trajectory import TrajectorySet

WORLD = scattered(9)


@pytest.fixture(params=["exp", "atlas"])
def mechanism(request):
    options = {"size": 16} if request.param == "atlas" else {}
    return make_mechanism(request.param, WORLD, Fraction(7, 2), **options)


@pytest.fixture
def reports(mechanism):
    rng = np.random.default_rng(1)
    rows = [rng.integers(0, 9, 1 + k % 3) for k in range(60)]
    return perturb_set(mechanism, TrajectorySet.from_lists(rows, size=9), SeededRandom(1))


def test_parts_add_up_to_the_whole_in_any_order(mechanism, reports):
    a, b, c = (
        Counts.of(mechanism, reports.between(start, stop))
        for start, stop in ((0, 7), (7, 31), (31, 60))
    )
    whole = Counts.of(mechanism, reports)
    assert a + b == b + a
    assert (a + b) + c == a + (b + c) == whole
    assert whole + Counts() == whole


def test_every_report_is_counted_once(mechanism, reports):
    found = Counts.of(mechanism, reports)
    values = len(reports) if mechanism.name == "atlas" else len(reports.locations)
    assert sum(int(often.sum()) for _, _, often in found.by_length(mechanism)) == values
    assert [length for length, _, _ in found.by_length(mechanism)] == [1, 2, 3]
    for _, distinct, _ in found.by_length(mechanism):
        assert distinct.tolist() == sorted(set(distinct.tolist()))


def test_laws_are_kept_apart(mechanism, reports):
    other = mechanism.with_params(epsilon=1)
    found = Counts.of(mechanism, reports)
    assert list(found.by_length(other)) == []


def test_counts_survive_arrow_and_add_up_there(mechanism, reports):
    found = Counts.of(mechanism, reports)
    assert Counts.from_arrow(found.to_arrow()) == found
    twice = pa.Table.from_batches([found.to_arrow(), found.to_arrow()])
    assert Counts.from_arrow(twice) == found + found
    assert Counts.from_arrow(Counts().to_arrow()) == Counts()
    with refused(SchemaError, "columns_missing", missing=("law",)):
        Counts.from_arrow(twice.drop_columns(["law"]))


def test_forged_reports_are_counted_apart():
    mechanism = make_mechanism("atlas", WORLD, 4, size=16)
    book = mechanism.atlas(2).codewords.tolist()
    absent = next([a, b] for a in range(9) for b in range(9) if [a, b] not in book)
    found = Counts.of(mechanism, reported(mechanism, [book[2], absent, book[2], [0]]))
    assert found.refused == 1
    assert (found + found).refused == 2
    two = dict(
        (length, (v.tolist(), n.tolist())) for length, v, n in found.by_length(mechanism)
    )
    assert two[2] == ([2], [2])


@pytest.mark.parametrize("cell", [(2, 10**7), (2, -1), (-1, 0)])
@pytest.mark.parametrize("name", ["exp", "atlas", "trips"])
def test_counts_made_elsewhere_of_what_is_never_reported_are_refused(name, cell):
    made = make_mechanism(name, WORLD, 4, **({"zones": "grid:2"} if name == "trips" else {}))
    counts = Counts({(made.identity, 2, 0): 5, (made.identity, *cell): 1})
    with refused(DomainError, "impossible_counts"):
        counts_of(made, counts)
    with refused(DomainError, "impossible_counts", length=2):
        counts_of(made, Counts({(made.identity, 2, 0): -5}))
