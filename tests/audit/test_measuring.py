"""The audit as a function: exact where it can be, refused where it cannot."""

import pytest
from refusals import refused
from worlds import scattered

from nomadp.audit import measure, measure_loss
from nomadp.errors import DomainError
from nomadp.mechanisms import make_mechanism


def test_it_is_the_loss_that_the_audit_measures():
    mechanism = make_mechanism("l-srr", scattered(4), 1)
    assert measure_loss(mechanism, 2) == measure(mechanism, 2)


def test_a_form_that_is_not_private_is_flagged():
    mechanism = make_mechanism("tp-as-published-not-private", scattered(4), 1, granularity=2)
    assert not measure_loss(mechanism, 2).ok


@pytest.mark.parametrize(("size", "length"), [(33, 2), (4, 6), (2000, 1), (4, 0)])
def test_refuses_what_cannot_be_walked(size, length):
    with refused(DomainError, "audit_too_large", locations=size, length=length):
        measure_loss(make_mechanism("exp", scattered(size), 1), length)


def test_refuses_what_is_drawn_from_floats():
    with refused(DomainError, "no_finite_laws", mechanism="cgm"):
        measure_loss(make_mechanism("cgm", scattered(4), 1), 2)
