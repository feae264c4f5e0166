import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from nomadp.demo.experiment import Findings
from nomadp.demo.payload import payload
from nomadp.geometry import haversine_km


@pytest.fixture(scope="module")
def sent(findings: Findings) -> dict[str, Any]:
    """What the page's scripts see: through JSON and back, as there."""
    read: dict[str, Any] = json.loads(json.dumps(payload(findings), allow_nan=False))
    return read


def test_reported_errors_are_distances_between_true_and_reported_places(
    findings: Findings, sent: dict[str, Any]
) -> None:
    locations = findings.study.city.locations
    for by_epsilon in sent["reports"].values():
        for by_journey in by_epsilon.values():
            for journey, draws in zip(sent["journeys"], by_journey, strict=True):
                assert len(draws) == findings.study.plan.draws
                for reported, error_km in draws:
                    true = journey["places"]
                    expected = haversine_km(
                        locations.lat[true],
                        locations.lng[true],
                        locations.lat[reported],
                        locations.lng[reported],
                    )
                    assert error_km == pytest.approx(expected.tolist(), abs=0.0006)


@pytest.mark.parametrize("name", ["exp", "tp", "atp", "atlas"])
def test_shares_of_every_length_add_up_to_epsilon(sent: dict[str, Any], name: str) -> None:
    longest = max(len(journey["places"]) for journey in sent["journeys"])
    assert {str(n) for n in range(1, longest + 1)} <= set(sent["budget"][name])
    for steps in sent["budget"][name].values():
        assert sum(step["count"] * Fraction(*step["share"]) for step in steps) == 1


def test_the_flat_map_keeps_distances(findings: Findings, sent: dict[str, Any]) -> None:
    x, y = np.array(sent["places"]["x"]), np.array(sent["places"]["y"])
    flat_km = np.hypot(x - x[0], y - y[0])
    true_km = findings.study.city.locations.distances_km(0)
    assert np.abs(flat_km - true_km).max() < 0.02


def test_curves_are_the_evaluations(findings: Findings, sent: dict[str, Any]) -> None:
    plan = findings.study.plan
    for name in plan.mechanisms:
        for k, epsilon in enumerate(plan.epsilons):
            measured = findings.runs[name, epsilon].evaluation.measured
            assert sent["curves"]["error"][name][k] == round(measured.normalised_error, 5)
            for radius, percent in enumerate(measured.range_query):
                assert sent["curves"]["range"][name][radius][k] == round(percent, 3)


def test_floors_are_those_of_the_evaluation(findings: Findings, sent: dict[str, Any]) -> None:
    baselines = sent["curves"]["floors"]
    assert baselines["error"] == {
        "constant": round(findings.baselines.constant.normalised_error, 5),
        "uniform": round(findings.baselines.uniform.normalised_error, 5),
    }
    assert baselines["range"]["uniform"] == [
        round(percent, 3) for percent in findings.baselines.uniform.range_query
    ]


def test_the_central_place_is_the_constant_floor(
    findings: Findings, sent: dict[str, Any]
) -> None:
    locations = findings.study.city.locations
    for journey, central_km in zip(sent["journeys"], sent["central_km"], strict=True):
        expected = locations.distances_between_km(locations.medoid, journey["places"])
        assert central_km == pytest.approx(expected.tolist(), abs=0.0006)
