"""Options have stated ranges: at both ends everything adds up, one step beyond is refused."""

import math
from contextlib import contextmanager
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import get_args

import numpy as np
import pytest
from refusals import refused
from worlds import JOURNEYS, scattered, triangle

from nomadp.audit import measure
from nomadp.budget import MIN_SHARE, exp_lower
from nomadp.errors import BudgetError, DomainError
from nomadp.laws import LabelLaw
from nomadp.locations import LocationSet
from nomadp.mechanisms import EXPERIMENTAL, MECHANISMS, PUBLISHED, make_mechanism
from nomadp.mechanisms.points.exp import IndependentPoints

NOT_OPTIONS = ("epsilon", "locations", "length")
OPTIONS = [
    (name, option)
    for name in sorted(MECHANISMS)
    for option in sorted(MECHANISMS[name].ranges.keys() - {*NOT_OPTIONS})
]
SMALL = {"resolution": 2, "grid": 2, "zones": "grid:2"}


class Listening:
    """A Choose that takes the first output, and remembers every law it meets."""

    def __init__(self):
        self.channels = []

    def __call__(self, step, channel, secret):
        self.channels.append((channel, secret))
        return channel.first_output

    def each(self, tasks):
        return [program(secret, self) for program, secret in tasks]


def laws_met(mechanism, trajectory):
    listening = Listening()
    mechanism.perturb(np.asarray(trajectory), listening)
    return listening.channels


def assert_laws_hold(mechanism, trajectory):
    """Sums stay in 63 bits, and no draw loses more than its share, in words."""
    for channel, secret in laws_met(mechanism, trajectory):
        if not isinstance(channel, LabelLaw) or channel.size < 20:
            weight = channel.weights(secret)
            assert sum(weight.ravel().tolist()) == int(weight.sum()) < 2**63
        if channel.share:
            assert channel.word_ratio <= exp_lower(channel.share)


def small(name, **options):
    few = {o: n for o, n in SMALL.items() if hasattr(MECHANISMS[name], o)}
    return make_mechanism(name, triangle(), options.pop("epsilon", 2), **(few | options))


@contextmanager
def option_refused(name):
    """For its kind or its range: which of them depends on the mechanism."""
    with pytest.raises(ValueError) as refusal:  # noqa: PT011 - the codes are compared
        yield
    codes = {"parameter_out_of_range", "parameter_not_whole_number", "unknown_choice"}
    assert (refusal.value.code in codes, refusal.value.parameter) == (True, name)


@pytest.mark.parametrize(("name", "option"), OPTIONS)
@pytest.mark.parametrize("end", [0, 1])
def test_at_both_ends_of_an_option_the_audit_holds_and_one_beyond_is_refused(name, option, end):
    value = MECHANISMS[name].ranges[option][end]
    step = value / 1000 if isinstance(value, float) else 1
    inside = min(value, 3) if option == "near_count" else value  # no more than there are
    assert measure(small(name, **{option: inside}), 1 + (option != "granularity")).ok
    assert_laws_hold(small(name, **{option: inside}), [0, 2, 1])
    with refused(DomainError, "parameter_out_of_range", parameter=option):
        small(name, **{option: value - step if end == 0 else value + step})


@pytest.mark.parametrize(("name", "option"), OPTIONS)
@pytest.mark.parametrize("value", [True, "3", math.nan, 2.5, [2], np.float64(3)])
def test_refuses_an_option_of_another_type(name, option, value):
    if option == "max_step_km" and value in (2.5, 3):
        pytest.skip("a number of kilometres")
    with option_refused(option):
        small(name, **{option: value})


@pytest.mark.parametrize("name", sorted(MECHANISMS))
def test_at_both_ends_of_epsilon_the_audit_holds_and_beyond_it_is_refused(name):
    for epsilon in MECHANISMS[name].ranges["epsilon"]:
        assert measure(small(name, epsilon=epsilon), 2).flags == ()
        assert_laws_hold(small(name, epsilon=epsilon), [0, 2, 1])
    for epsilon in (Fraction(1, 10**6 + 1), Fraction(2001, 100), True, math.nan, "many"):
        with refused(BudgetError, "epsilon_out_of_range"):
            small(name, epsilon=epsilon)


@pytest.mark.parametrize("name", sorted(MECHANISMS))
@pytest.mark.parametrize("length", [0, -1, 2**20 + 1, 2.0, True, "2"])
def test_refuses_a_length_out_of_range(name, length):
    with refused(
        DomainError, "parameter_out_of_range", parameter="length", least=1, most=2**20
    ):
        small(name).split(length)


@pytest.mark.parametrize("name", sorted(MECHANISMS))
def test_the_longest_trajectories_have_shares_that_laws_can_keep(name):
    assert all(step.share >= MIN_SHARE for step in small(name).split(2**20).steps)


@pytest.mark.parametrize("name", sorted({*JOURNEYS} - {"atlas"}))
def test_refuses_a_length_that_leaves_a_draw_next_to_nothing(name):
    with refused(BudgetError, "share_too_small"):
        small(name, epsilon="0.000001").split(1000)


@pytest.fixture(scope="module")
def too_many():
    size = 2**20 + 1
    ids, places = [str(k) for k in range(size)], np.linspace(40, 41, size)
    return LocationSet.from_columns(ids, places, places)


@pytest.mark.parametrize("name", sorted(MECHANISMS))
def test_refuses_more_locations_than_weights_add_up_for(name, too_many):
    with refused(DomainError, "parameter_out_of_range", parameter="locations", most=2**20):
        make_mechanism(name, too_many, 1)


@pytest.mark.parametrize("name", sorted(MECHANISMS))
def test_a_city_of_thousands_keeps_its_loss_in_words(name):
    epsilon = 15 if name == "l-srr" else 20
    options = {"size": 64} if name == "atlas" else {}  # to make the best book takes long
    mechanism = make_mechanism(name, scattered(1500), epsilon, **options)
    for length in (1, 3):
        assert_laws_hold(mechanism, np.arange(length))


@pytest.mark.parametrize(("size", "epsilon"), [(4000, 20), (4000, 16), (36, 20)])
def test_l_srr_refuses_a_share_that_words_cannot_keep_before_anything_is_drawn(size, epsilon):
    mechanism = make_mechanism("l-srr", scattered(size), epsilon)
    with refused(BudgetError, "word_precision_exceeded"):
        mechanism.split(1)
    assert mechanism.split(2).epsilon == epsilon


def test_atlas_refuses_so_many_near_journeys_that_words_cannot_keep_them_apart():
    mechanism = make_mechanism("atlas", scattered(100), 20, size=64, near_count=32)
    with refused(BudgetError, "word_precision_exceeded"):
        mechanism.channel(2)


EVERY = {**MECHANISMS, **PUBLISHED, **EXPERIMENTAL}
WHOLE = [
    (name, field.name)
    for name, kind in sorted(EVERY.items())
    for field in fields(kind)
    if field.type is int or int in get_args(field.type)
]


def made(name, **options):
    few = {o: n for o, n in SMALL.items() if hasattr(EVERY[name], o)}
    return make_mechanism(name, triangle(), 2, **(few | options))


def test_whole_numbers_among_options_are_known():
    assert {("atp", "resolution"), ("atp", "granularity"), ("atlas", "size")} <= set(WHOLE)
    assert {("ngram", "grid"), ("brr", "near_count"), ("l-srr", "groups")} <= set(WHOLE)


@pytest.mark.parametrize(("name", "option"), WHOLE)
@pytest.mark.parametrize("value", [2.5, 2.0, Fraction(2), True, np.True_, np.float64(2), [2]])
def test_refuses_what_is_no_whole_number_where_one_is_needed(name, option, value):
    with option_refused(option):
        made(name, **{option: value})


@pytest.mark.parametrize(("name", "option"), WHOLE)
@pytest.mark.parametrize("kind", [np.int64, np.uint8])
def test_whole_numbers_of_numpy_are_those_of_python(name, option, kind):
    mechanism = made(name, **{option: kind(2)})
    assert mechanism == made(name, **{option: 2})
    assert type(getattr(mechanism, option)) is int
    assert mechanism.identity == made(name, **{option: 2}).identity


@dataclass(frozen=True, kw_only=True)
class Described(IndependentPoints):
    """As another package might write it, where types are text."""

    some: "int | None" = None
    several: "tuple[int, ...]" = ()
    amount: "float | int" = 0.5


def test_types_that_are_text_are_read_and_other_numbers_left_alone():
    given = {"locations": triangle(), "epsilon": 1}
    assert Described(**given, several=(1, 2), amount=2.5).some is None
    with refused(DomainError, "parameter_not_whole_number", parameter="some"):
        Described(**given, some=2.5)
