"""A task as a record of the OpenDP deployments registry: a draft of its YAML.

After the registry's schema of 2026. Whatever a task cannot know, such as who runs it, is given.
"""

import json
from dataclasses import dataclass
from typing import Any

from nomadp.budget import format_epsilon
from nomadp.protocol.bundle import TaskBundle
from nomadp.protocol.guarantee import Guarantee

__all__ = ["Curator", "registry_record", "registry_yaml"]

_DIGITS = 12


@dataclass(frozen=True)
class Curator:
    """Who collects, and where: to be completed before a record is submitted."""

    name: str = "To be named"
    kind: str = "Nonprofit"
    region: str = "To be named"


def registry_record(bundle: TaskBundle, curator: Curator) -> dict[str, Any]:
    """The fields of the record."""
    task, promise = bundle.task, Guarantee(bundle)
    start, end = promise.dates
    basic = {
        "name": f"NomaDP task {task.id}",
        "data_curators": [
            {"data_curator_name": curator.name, "data_curator_type": curator.kind}
        ],
        "description": f"Reports of journeys under local differential privacy: {promise.asks}.",
        "intended_use": task.purpose,
        "data_product_type": "Summary statistics",
        "data_product_region": curator.region,
        "publication_date": start[:10],
    }
    variant = {
        "variant_name": "Pure DP",
        "data_domain": "All journeys of any length over a public set of locations.",
        "unprotected_quantities": "; ".join(promise.not_covered) + ".",
    }
    status = {"status": "Draft", "registry_authors": [curator.name], "tier": 3}
    return {
        "url_slug": f"nomadp-{task.id.lower().replace('_', '-').strip('-')}",
        "deployment": {
            "basic": basic,
            "dp_variant": variant,
            "privacy_loss": _loss(bundle, promise),
            "deployment_model": _model(promise, start, end),
            "implementation": _implementation(bundle, promise),
            "administrative": status,
        },
    }


def _loss(bundle: TaskBundle, promise: Guarantee) -> dict[str, Any]:
    task = bundle.task
    return {
        "privacy_unit": "One journey (one report)",
        "privacy_unit_details": "Any two journeys of any lengths are neighbours: "
        f"{promise.guaranteed}.",
        "privacy_parameters": {"epsilon": float(format_epsilon(task.epsilon, _DIGITS))},
        "privacy_parameters_details": f"Exactly {task.epsilon} for a report; "
        f"{promise.adds_up}.",
    }


def _model(promise: Guarantee, start: str, end: str) -> dict[str, Any]:
    return {
        "model_name": "Local",
        "model_name_details": "Each device perturbs before anything is sent, and refuses tasks "
        "beyond ceilings that are part of its code.",
        "trust_assumptions": "Only the own device is trusted; the collector and the author of "
        "the task are not.",
        "actors": "; ".join(promise.seen) + ".",
        "release_type": "Many releases",
        "release_type_details": f"Reports from {start} until {end} UTC; what a person spends "
        "never renews itself.",
        "data_source_type": "Dynamic",
        "access_type": "Non-interactive",
    }


def _implementation(bundle: TaskBundle, promise: Guarantee) -> dict[str, Any]:
    task, mechanism = bundle.task, bundle.mechanism
    return {
        "preprocessing_and_hyperparameter_tuning": "None on private data: locations and "
        "atlas or zones are public and named by their hashes.",
        "mechanisms": f"{mechanism.name}, version {mechanism.version}, of NomaDP: a finite law "
        "with whole weights, drawn by 64-bit words of the system; what is lost is bounded in "
        "rational arithmetic. Its largest ratio is "
        f"{format_epsilon(promise.largest_ratio, digits=9)}.",
        "composition": "Sequential: the reports of a person add up, in a ledger on the device.",
        "post_processing": f"Estimates from counts of at least {task.min_batch_size} reports.",
        "additional_information": f"Task id {task.id}, which is the hash of the task: "
        "`nomadp task verify` derives all of this again.",
    }


def registry_yaml(bundle: TaskBundle, curator: Curator) -> str:
    """The record as text: every string in double quotes, as JSON has them."""
    return "\n".join(_lines(registry_record(bundle, curator), 0)) + "\n"


def _lines(value: dict[str, Any], depth: int) -> list[str]:
    found, margin = [], "  " * depth
    for name, inner in value.items():
        if isinstance(inner, dict):
            found += [f"{margin}{name}:", *_lines(inner, depth + 1)]
        elif isinstance(inner, list):
            found.append(f"{margin}{name}:")
            for each in inner:
                some = _lines(each, depth + 2) if isinstance(each, dict) else [_scalar(each)]
                found.append(f"{margin}  - {some[0].strip()}")
                found += some[1:]
        else:
            found.append(f"{margin}{name}: {_scalar(inner)}")
    return found


def _scalar(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
