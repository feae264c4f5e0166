"""A task as a record of the OpenDP deployments registry: a draft of its YAML.

It follows the registry's schema of 2026. Facts that are not in a task are arguments.
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
    """The collecting organisation; complete it before you submit the record."""

    name: str = "To be named"
    kind: str = "Nonprofit"
    region: str = "To be named"


def registry_record(bundle: TaskBundle, curator: Curator) -> dict[str, Any]:
    """The fields of the record."""
    task, guarantee = bundle.task, Guarantee(bundle)
    start, end = guarantee.dates
    basic = {
        "name": f"NomaDP task {task.id}",
        "data_curators": [
            {"data_curator_name": curator.name, "data_curator_type": curator.kind}
        ],
        "description": "Perturbed reports of journeys under local differential privacy. Each "
        f"report describes, with noise, {guarantee.asks}.",
        "intended_use": task.purpose,
        "data_product_type": "Summary statistics",
        "data_product_region": curator.region,
        "publication_date": start[:10],
    }
    variant = {
        "variant_name": "Pure DP",
        "data_domain": "All journeys of any length over a public set of locations.",
        "unprotected_quantities": "; ".join(guarantee.not_covered) + ".",
    }
    status = {"status": "Draft", "registry_authors": [curator.name], "tier": 3}
    return {
        "url_slug": f"nomadp-{task.id.lower().replace('_', '-').strip('-')}",
        "deployment": {
            "basic": basic,
            "dp_variant": variant,
            "privacy_loss": _loss(bundle, guarantee),
            "deployment_model": _model(guarantee, start, end),
            "implementation": _implementation(bundle, guarantee),
            "administrative": status,
        },
    }


def _loss(bundle: TaskBundle, guarantee: Guarantee) -> dict[str, Any]:
    task = bundle.task
    return {
        "privacy_unit": "One journey (one report)",
        "privacy_unit_details": "Any two journeys of any lengths are neighbours: "
        f"{guarantee.guaranteed}.",
        "privacy_parameters": {"epsilon": float(format_epsilon(task.epsilon, _DIGITS))},
        "privacy_parameters_details": f"Exactly {task.epsilon} for a report: "
        f"{guarantee.adds_up}.",
    }


def _model(guarantee: Guarantee, start: str, end: str) -> dict[str, Any]:
    return {
        "model_name": "Local",
        "model_name_details": "Each device perturbs its data before anything is sent, "
        "and refuses tasks that exceed limits in its code.",
        "trust_assumptions": "Contributors trust only their own device, not the collector or "
        "the author of the task.",
        "actors": "; ".join(guarantee.seen) + ".",
        "release_type": "Many releases",
        "release_type_details": f"Reports from {start} until {end} UTC; the privacy budget of "
        "a device is never renewed.",
        "data_source_type": "Dynamic",
        "access_type": "Non-interactive",
    }


def _implementation(bundle: TaskBundle, guarantee: Guarantee) -> dict[str, Any]:
    task, mechanism = bundle.task, bundle.mechanism
    return {
        "preprocessing_and_hyperparameter_tuning": "None on private data: locations, "
        "codebook and zones are public, and the task contains their hashes.",
        "mechanisms": f"{mechanism.name}, version {mechanism.version}, of NomaDP: a finite law "
        "with integer weights, drawn with 64-bit words of the operating system's randomness. "
        "Its privacy loss is bounded in rational arithmetic; the largest ratio is "
        f"{format_epsilon(guarantee.largest_ratio, digits=9)}.",
        "composition": "Sequential: a ledger on the device adds up the reports of a person.",
        "post_processing": f"Estimates from batches of at least {task.min_batch_size} reports.",
        "additional_information": f"Task id {task.id}, which is the hash of the task; "
        "`nomadp task verify` checks all of this.",
    }


def registry_yaml(bundle: TaskBundle, curator: Curator) -> str:
    """The record as YAML; every string is in double quotes, as in JSON."""
    return "\n".join(_lines(registry_record(bundle, curator), 0)) + "\n"


def _lines(value: dict[str, Any], depth: int) -> list[str]:
    lines, margin = [], "  " * depth
    for name, inner in value.items():
        if isinstance(inner, dict):
            lines += [f"{margin}{name}:", *_lines(inner, depth + 1)]
        elif isinstance(inner, list):
            lines.append(f"{margin}{name}:")
            for item in inner:
                block = _lines(item, depth + 2) if isinstance(item, dict) else [_scalar(item)]
                lines.append(f"{margin}  - {block[0].strip()}")
                lines += block[1:]
        else:
            lines.append(f"{margin}{name}: {_scalar(inner)}")
    return lines


def _scalar(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
