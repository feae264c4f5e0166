"""Mechanisms of other packages: offered like ours, and never able to harm ours."""

import sys
from fractions import Fraction
from functools import partial

import pytest
from plugin import install, written_in_contributing
from refusals import check, refused
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
from nomadp.mechanisms.plugins import load_plugins
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
    with refused(DomainError, "domain"):  # it states no code of its own
        make_mechanism("nearby", scattered(9), 2, reach_km=-1)


@pytest.mark.usefixtures("nearby")
def test_it_is_tested_for_conformance_and_audited_like_ours():
    check_conformance(partial(make_mechanism, "nearby"))
    assert "nearby" in AuditRequest().mechanisms
    assert run_audit(request("nearby")).ok


def test_a_leak_of_another_package_is_found(offered):
    offered("leaky", LEAKY, leaky="Leaky")
    with pytest.raises(AssertionError, match="transcript"):
        check_conformance(partial(make_mechanism, "leaky"))
    assert not run_audit(request("leaky")).ok


@pytest.mark.parametrize(
    ("source", "code", "reason"),
    [
        ("raise RuntimeError('out of order')", "mechanism_not_loadable", "RuntimeError"),
        ("import there_is_no_such_module", "mechanism_not_loadable", "ModuleNotFoundError"),
        ("not python!", "mechanism_not_loadable", "SyntaxError"),
        ("", "mechanism_not_loadable", "AttributeError"),
        ("Toy = 3", "not_a_mechanism", None),
        ("class Toy: name = 'toy'", "not_a_mechanism", None),
        ("from nomadp.mechanisms import PointByPoint as Toy", "not_a_mechanism", None),
        ("from nomadp.mechanisms import IndependentPoints as Toy", "mechanism_misnamed", None),
    ],
)
def test_a_broken_package_is_named_and_breaks_nothing_of_ours(offered, source, code, reason):
    offered("somebodys", source, toy="Toy")
    assert mechanism_names() == tuple(MECHANISMS)
    assert kind_of("exp") is IndependentPoints
    facts = {"mechanism": "toy", "package": "somebodys", "reason": reason}
    with refused(DomainError, code, **facts) as refusal:
        make_mechanism("toy", scattered(9), 1)
    assert plugin_problems() == (str(refusal.value),)


@pytest.mark.parametrize("name", ["exp", "cgm", "tp-as-published-not-private"])
def test_a_name_of_ours_stays_ours(offered, name):
    ours = kind_of(name)
    offered("somebodys", LEAKY, **{name: "Leaky"})
    assert kind_of(name) is ours
    problem = load_plugins({name}).problems[name]
    check(problem, "mechanism_name_taken", mechanism=name, package="somebodys")
    assert plugin_problems() == (str(problem),)


def test_a_name_of_two_packages_is_nobodys(offered):
    for package in ("one", "other"):
        offered(package, LEAKY, leaky="Leaky")
    assert mechanism_names() == tuple(MECHANISMS)
    with refused(DomainError, "mechanism_offered_twice", mechanism="leaky", packages=2):
        make_mechanism("leaky", scattered(9), 1)


def test_looking_up_one_of_ours_loads_nothing_of_others(offered):
    offered("somebodys", LEAKY, leaky="Leaky")
    make_mechanism("exp", scattered(9), 1)
    assert "somebodys" not in sys.modules
