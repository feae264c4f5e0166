"""Mechanisms of other packages: offered like ours, and never able to harm ours."""

import sys
from fractions import Fraction
from functools import partial

import pytest
from plugin import install, written_in_contributing
from worlds import scattered

from nomadp.audit import AuditRequest, run_audit
from nomadp.conformance import check_conformance
from nomadp.errors import DomainError
from nomadp.mechanisms import (
    MECHANISMS,
    kind_of,
    make_mechanism,
    mechanism_names,
    plugin_problems,
)
from nomadp.mechanisms.points.exp import IndependentPoints

LEAKY = """
from dataclasses import dataclass
from typing import ClassVar
import numpy as np
from nomadp.laws import Exponential
from nomadp.mechanisms import PointByPoint

@dataclass(frozen=True, kw_only=True)
class Leaky(PointByPoint):
    name: ClassVar[str] = "leaky"

    def channel(self, share):
        everywhere = np.arange(len(self.locations))
        return Exponential(self.locations, everywhere, self.locations.diameter_km, 2 * share)
"""


def request(name):
    return AuditRequest((name,), (Fraction(1),), (1, 2), published=(), gallery=(), draws=0)


@pytest.fixture
def offered(tmp_path, monkeypatch):
    """Makes a package offer mechanisms, until the test is over."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def offer(package, source, **mechanisms):
        install(tmp_path, package, source, mechanisms)

    yield offer
    for path in tmp_path.glob("*.py"):
        sys.modules.pop(path.stem, None)


@pytest.fixture
def nearby(offered):
    source, mechanisms = written_in_contributing()
    offered("nearby", source, **mechanisms)


def test_without_other_packages_there_are_ours():
    assert mechanism_names() == tuple(MECHANISMS)
    assert plugin_problems() == ()


@pytest.mark.usefixtures("nearby")
def test_another_package_can_register_a_mechanism():
    assert mechanism_names() == (*MECHANISMS, "nearby")
    mechanism = make_mechanism("nearby", scattered(9), 2, reach_km=3)
    assert mechanism.get_params() == {"epsilon": "2", "reach_km": 3}
    assert len(mechanism.report([1, 2, 3]).locations) == 3
    with pytest.raises(DomainError, match="reach_km must be from"):
        make_mechanism("nearby", scattered(9), 2, reach_km=-1)


@pytest.mark.usefixtures("nearby")
def test_it_is_tested_for_conformance_and_audited_like_ours():
    check_conformance(partial(make_mechanism, "nearby"))
    assert "nearby" in AuditRequest().mechanisms
    assert run_audit(request("nearby")).ok


def test_a_leak_of_another_package_is_found(offered):
    offered("leaky", LEAKY, leaky="Leaky")
    with pytest.raises(AssertionError, match="the audit flags"):
        check_conformance(partial(make_mechanism, "leaky"))
    assert not run_audit(request("leaky")).ok


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("raise RuntimeError('out of order')", "RuntimeError: out of order"),
        ("import there_is_no_such_module", "ModuleNotFoundError"),
        ("not python!", "SyntaxError"),
        ("", "AttributeError"),
        ("Toy = 3", "must lead to a whole subclass"),
        ("class Toy: name = 'toy'", "must lead to a whole subclass"),
        ("from nomadp.mechanisms import PointByPoint as Toy", "must lead to a whole subclass"),
        ("from nomadp.mechanisms import IndependentPoints as Toy", "the name of its entry"),
    ],
)
def test_a_broken_package_is_named_and_breaks_nothing_of_ours(offered, source, problem):
    offered("somebodys", source, toy="Toy")
    assert mechanism_names() == tuple(MECHANISMS)
    assert kind_of("exp") is IndependentPoints
    (said,) = plugin_problems()
    assert "'toy' of the package somebodys" in said
    with pytest.raises(DomainError, match=problem):
        make_mechanism("toy", scattered(9), 1)


@pytest.mark.parametrize("name", ["exp", "cgm", "tp-as-published-not-private"])
def test_a_name_of_ours_stays_ours(offered, name):
    ours = kind_of(name)
    offered("somebodys", LEAKY, **{name: "Leaky"})
    assert kind_of(name) is ours
    (said,) = plugin_problems()
    assert f"'{name}' of the package somebodys must have a name of its own" in said


def test_a_name_of_two_packages_is_nobodys(offered):
    for package in ("one", "other"):
        offered(package, LEAKY, leaky="Leaky")
    assert mechanism_names() == tuple(MECHANISMS)
    with pytest.raises(DomainError, match="2 packages offer it"):
        make_mechanism("leaky", scattered(9), 1)


def test_looking_up_one_of_ours_loads_nothing_of_others(offered):
    offered("somebodys", LEAKY, leaky="Leaky")
    make_mechanism("exp", scattered(9), 1)
    assert "somebodys" not in sys.modules
