"""A journey of any length becomes one of the public length."""

from fractions import Fraction
from math import floor

from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from nomadp.errors import DomainError
from nomadp.protocol import resample


@given(count=st.integers(1, 2000), length=st.integers(1, 8))
def test_every_journey_gets_the_length(count, length):
    found = resample(range(count), length)
    assert len(found) == length
    assert found == sorted(found)
    assert found[0] == 0
    assert length == 1 or found[-1] == count - 1


@given(count=st.integers(2, 500), length=st.integers(2, 8))
def test_a_longer_one_is_read_at_even_places(count, length):
    exact = [Fraction(k * (count - 1), length - 1) for k in range(length)]
    if count > length:
        rounded = [floor(each + Fraction(1, 2)) for each in exact]
        assert resample(range(count), length) == rounded


def test_a_shorter_one_repeats_its_last_point():
    assert resample("ab", 5) == list("abbbb")
    assert resample("abc", 3) == list("abc")


def test_halves_are_rounded_up():
    assert resample(range(6), 3) == [0, 3, 5]


def test_of_length_one_it_is_where_it_begins():
    assert resample("abc", 1) == ["a"]


def test_a_journey_without_points_is_refused():
    with refused(DomainError, "empty_trajectories"):
        resample([], 3)
