"""Many trajectories on one machine: the result depends on the words and on nothing else."""

import multiprocessing
from collections.abc import Sequence

import numpy as np
import pytest
from refusals import refused
from reported import lists

from nomadp.engine import local, perturb_set
from nomadp.engine.local import CHUNK
from nomadp.errors import DomainError, InvalidArgument, RandomnessUnavailable, SchemaError
from nomadp.locations import LocationSet
from nomadp.mechanisms import MECHANISMS, Mechanism, make_mechanism, perturb_one
from nomadp.randomness import KeyedRandom, RandomSource, SeededRandom, new_key
from nomadp.reports import Reports, SimulatedReports
from nomadp.reports.table import report_ids
from nomadp.trajectory import TrajectorySet

COUNT = 2 * CHUNK + 3  # three pieces of work, the last one short


@pytest.fixture(scope="module")
def grid() -> LocationSet:
    lat, lng = np.divmod(np.arange(36), 6)
    return LocationSet.from_columns([f"p{k}" for k in range(36)], lat / 100, lng / 100)


@pytest.fixture(scope="module")
def journeys(grid: LocationSet) -> TrajectorySet:
    rng = np.random.default_rng(2)
    lists = [rng.integers(len(grid), size=rng.integers(1, 6)) for _ in range(COUNT)]
    return TrajectorySet.from_lists(
        lists, tids=[f"journey {k}" for k in range(COUNT)], size=len(grid)
    )


@pytest.fixture(scope="module")
def mechanism(grid: LocationSet) -> Mechanism:
    return make_mechanism("ngram", grid, 1)


@pytest.fixture(autouse=True)
def few_are_worth_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "KERNEL_MIN", 1)


@pytest.fixture(scope="module")
def plain(grid: LocationSet) -> Mechanism:
    """One that has no kernels, so that processes share its work."""
    return make_mechanism("tracs-c", grid, 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
def test_the_result_does_not_depend_on_the_number_of_processes(
    name: str, grid: LocationSet, journeys: TrajectorySet
) -> None:
    mechanism = make_mechanism(name, grid, 4)
    alone = perturb_set(mechanism, journeys, SeededRandom(5), jobs=1)
    shared = perturb_set(mechanism, journeys, SeededRandom(5), jobs=2)
    assert alone == shared
    assert alone != perturb_set(mechanism, journeys, SeededRandom(6), jobs=1)


def test_a_trajectory_draws_from_the_stream_of_its_tid(
    mechanism: Mechanism, journeys: TrajectorySet
) -> None:
    randomness = SeededRandom(7)
    reported = perturb_set(mechanism, journeys, randomness, keep_tids=True)
    words_of_mechanism = randomness.bound_to(mechanism.identity).named(journeys.tids)
    for k in range(len(journeys)):
        alone = perturb_one(mechanism, journeys[k], words_of_mechanism.stream(k))
        assert tuple(reported[k].tolist()) == alone


def test_for_experiments_reports_keep_order_and_tids(
    mechanism: Mechanism, journeys: TrajectorySet
) -> None:
    reported = perturb_set(mechanism, journeys, KeyedRandom(new_key()), jobs=2, keep_tids=True)
    assert reported.ids == journeys.tids
    assert reported.header.linked
    assert reported.lengths.tolist() == journeys.lengths.tolist()


def test_one_seed_gives_two_mechanisms_independent_words(
    grid: LocationSet, journeys: TrajectorySet
) -> None:
    # At nearly equal epsilons the same words would give nearly the same reports.
    first, second = (
        perturb_set(
            make_mechanism("exp", grid, epsilon), journeys, SeededRandom(1), keep_tids=True
        ).locations
        for epsilon in ("1", "1.000001")
    )
    assert np.mean(first == second) < 0.25


def test_two_runs_without_a_seed_differ(mechanism: Mechanism, journeys: TrajectorySet) -> None:
    first, second = (perturb_set(mechanism, journeys) for _ in range(2))
    assert first != second


@pytest.mark.parametrize("jobs", [1, 2])
def test_progress_counts_every_trajectory_once(
    plain: Mechanism, mechanism: Mechanism, journeys: TrajectorySet, jobs: int
) -> None:
    seen: list[int] = []
    perturb_set(plain, journeys, SeededRandom(1), jobs=jobs, progress=seen.append)
    assert sorted(seen) == [3, CHUNK, CHUNK]
    seen.clear()
    perturb_set(mechanism, journeys, SeededRandom(1), jobs=jobs, progress=seen.append)
    assert sum(seen) == len(journeys)


def test_a_few_trajectories_are_not_shared_out(
    mechanism: Mechanism, journeys: TrajectorySet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "KERNEL_MIN", len(journeys))
    monkeypatch.setattr(local, "worker_pool", None)  # whoever asks for one fails
    assert len(perturb_set(mechanism, journeys, SeededRandom(1), jobs=2)) == len(journeys)


def test_processes_give_the_same_as_this_one(plain: Mechanism, journeys: TrajectorySet) -> None:
    alone, shared = (perturb_set(plain, journeys, SeededRandom(5), jobs=j) for j in (1, 2))
    assert alone == shared


class WordsThatRunOut(SeededRandom):
    """A source that fails in the middle of the second piece of work."""

    def bound_to(self, purpose: str) -> RandomSource:
        return self

    def named(self, names: Sequence[str]) -> RandomSource:
        if f"journey {CHUNK + 6}" in names:
            raise RandomnessUnavailable("the source ran out", code="ran_out")
        return super().named(names)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failing_source_of_words_means_no_output(
    plain: Mechanism, mechanism: Mechanism, journeys: TrajectorySet, jobs: int
) -> None:
    for one in (plain, mechanism):
        with refused(RandomnessUnavailable, "ran_out"):
            perturb_set(one, journeys, WordsThatRunOut(1), jobs=jobs)
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("name", ["exp", "tracs-c"])
def test_a_failure_in_any_worker_is_raised_here(
    name: str, grid: LocationSet, jobs: int
) -> None:
    mechanism = make_mechanism(name, grid, 1)
    lists = [[0, 1] for _ in range(COUNT)]
    lists[CHUNK + 6] = [0, len(mechanism.locations)]  # made for a larger set
    journeys = TrajectorySet.from_lists(lists, size=len(mechanism.locations) + 1)
    with refused(DomainError, "unknown_locations", size=36):
        perturb_set(mechanism, journeys, SeededRandom(1), jobs=jobs)
    assert not multiprocessing.active_children()


def test_an_interruption_leaves_no_process_behind(
    plain: Mechanism, journeys: TrajectorySet
) -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        perturb_set(plain, journeys, SeededRandom(1), jobs=2, progress=interrupt)
    assert not multiprocessing.active_children()


def test_no_trajectories_give_no_reports(mechanism: Mechanism) -> None:
    nobody = TrajectorySet.from_lists([], size=36)
    assert len(perturb_set(mechanism, nobody, SeededRandom(1), jobs=2)) == 0


def test_refuses_less_than_one_process(mechanism: Mechanism, journeys: TrajectorySet) -> None:
    with refused(InvalidArgument, "jobs_out_of_range", jobs=0):
        perturb_set(mechanism, journeys, SeededRandom(1), jobs=0)


def test_reports_have_random_ids_in_whose_order_they_stand(
    mechanism: Mechanism, journeys: TrajectorySet
) -> None:
    reports = perturb_set(mechanism, journeys)
    assert list(reports.ids) == sorted(set(reports.ids))
    assert all(len(bytes.fromhex(each)) == 16 for each in reports.ids)
    assert not set(reports.ids) & set(perturb_set(mechanism, journeys).ids)
    assert not reports.header.linked


def test_the_reports_under_random_ids_are_those_of_the_tids(
    grid: LocationSet, journeys: TrajectorySet
) -> None:
    mechanism = make_mechanism("atlas", grid, 4, size=64)
    randomness = SeededRandom(3)
    linked = perturb_set(mechanism, journeys, randomness, keep_tids=True)
    reports = perturb_set(mechanism, journeys, randomness)
    ids = report_ids(randomness, mechanism, journeys.tids)
    where = [ids.index(each) for each in reports.ids]
    assert lists(linked.select(where)) == lists(reports)
    assert linked.numbers[where].tolist() == reports.numbers.tolist()
    assert where != list(range(COUNT))


def test_an_id_shares_no_word_with_what_its_report_is_drawn_with(
    grid: LocationSet, journeys: TrajectorySet
) -> None:
    mechanism, randomness = make_mechanism("exp", grid, 1), KeyedRandom(new_key())
    ids = report_ids(randomness, mechanism, journeys.tids)
    named = randomness.bound_to(mechanism.identity).named(journeys.tids)
    drawn = named.rows(np.arange(len(journeys)), 64).ravel().tolist()
    told = [int(each[k : k + 16], 16) for each in ids for k in (0, 16)]
    assert not set(told) & set(drawn)


def test_two_mechanisms_give_a_trajectory_two_ids(
    grid: LocationSet, journeys: TrajectorySet
) -> None:
    randomness = KeyedRandom(new_key())
    first, second = (
        report_ids(randomness, make_mechanism("exp", grid, epsilon), journeys.tids)
        for epsilon in (1, 2)
    )
    assert not set(first) & set(second)


def test_the_type_of_a_result_says_whether_it_protects_anybody(
    grid: LocationSet, mechanism: Mechanism, plain: Mechanism, journeys: TrajectorySet
) -> None:
    few = journeys.between(0, 3)
    exposed = make_mechanism("tp-as-published-not-private", grid, 1)
    for randomness in (None, KeyedRandom(new_key())):
        assert type(perturb_set(mechanism, few, randomness)) is Reports
        assert type(perturb_set(exposed, few, randomness)) is SimulatedReports
    assert type(perturb_set(mechanism, few, SeededRandom(1))) is SimulatedReports


@pytest.mark.parametrize(
    ("randomness", "said"),
    [(None, "system"), (KeyedRandom(new_key()), "keyed"), (SeededRandom(1), "simulated")],
)
def test_the_header_says_where_randomness_came_from(
    randomness: RandomSource | None, said: str, mechanism: Mechanism, journeys: TrajectorySet
) -> None:
    header = perturb_set(mechanism, journeys, randomness).header
    assert (header.randomness, header.path) == (said, "numpy")
    header.check_made_by(mechanism)


def test_a_tid_that_repeats_is_refused_unquoted(mechanism: Mechanism) -> None:
    twice = TrajectorySet.from_lists([[0], [1]], ["SECRET", "SECRET"], size=36)
    with refused(SchemaError, "tid_repeated", repeated=1) as told:
        perturb_set(mechanism, twice)
    assert "SECRET" not in str(told.value)
