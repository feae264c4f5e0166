"""Results as tables: a CSV with a row per cell, and a JSON with all that fixed them."""

import csv
import io
import json
from typing import Any

import nomadp
from nomadp.paper.cells import Cell, Floors
from nomadp.paper.datasets import SetKey, load
from nomadp.paper.reference import direction_rows
from nomadp.paper.results import Results
from nomadp.paper.specs import Experiment
from nomadp.paper.style import FLOOR_LABELS

__all__ = ["as_csv", "as_json"]


def as_csv(experiment: Experiment, results: Results) -> str:
    """One row per repetition, then the floors; the same columns in every experiment."""
    rows = [
        *_table_rows(experiment),
        *_cell_rows(experiment, results),
        *_floor_rows(experiment, results),
        *_audit_rows(experiment, results),
    ]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def as_json(experiment: Experiment, results: Results) -> str:
    """Configuration, data sets, floors, every repetition, and means over repetitions."""
    catalogue, plan = results.catalogue, results.plan
    content = {
        "experiment": experiment.name,
        "title": experiment.title,
        "paper": experiment.paper,
        "nomadp": nomadp.__version__,
        "plan": plan.as_dict(),
        "datasets": [
            {**Floors(key).identity(catalogue), "floors": results.floors(key)}
            for key in _keys(experiment, results)
        ],
        "summary": _summary(experiment, results),
        "cells": [
            {**cell.identity(catalogue), "scores": results.of(cell)}
            for cell in _cells(experiment, results)
        ],
        "audits": [
            {**audit.identity(catalogue), **results.loss(audit)}
            for audit in experiment.audits(plan)
        ],
        "directions": _table_rows(experiment),
    }
    return json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def _table_rows(experiment: Experiment) -> list[dict[str, Any]]:
    return list(direction_rows()) if experiment.name == "table1" else []


def _cell_rows(experiment: Experiment, results: Results) -> list[dict[str, Any]]:
    rows = []
    for cell in _cells(experiment, results):
        identity = cell.identity(results.catalogue)
        options = json.dumps(identity["options"], sort_keys=True)
        del identity["yardstick"]
        rows.append(identity | {"options": options} | results.of(cell))
    return rows


def _floor_rows(experiment: Experiment, results: Results) -> list[dict[str, Any]]:
    return [
        {
            "dataset": str(key),
            "dataset_sha256": load(results.catalogue, key).sha256,
            "mechanism": FLOOR_LABELS[floor],
            "nomadp": nomadp.__version__,
            **scores,
        }
        for key in _keys(experiment, results)
        for floor, scores in results.floors(key).items()
    ]


def _audit_rows(experiment: Experiment, results: Results) -> list[dict[str, Any]]:
    return [
        {
            **audit.identity(results.catalogue),
            **{name: results.loss(audit)[name] for name in ("transcript_loss", "final_loss")},
        }
        for audit in experiment.audits(results.plan)
    ]


def _summary(experiment: Experiment, results: Results) -> list[dict[str, Any]]:
    """What the figure shows: mean and standard deviation over the repetitions."""
    return [
        {
            "dataset": str(each.setting.dataset),
            "mechanism": each.setting.mechanism,
            "options": dict(each.setting.options),
            "epsilon": each.setting.epsilon,
            "decoded": each.setting.decoded,
            "x": each.x,
            "metric": metric,
            "mean": value.mean,
            "sd": value.sd,
            "runs": results.plan.runs,
        }
        for each in results.placed(experiment)
        for metric in results.metrics(experiment, each.base)
        for value in [results.value(each.setting, metric)]
    ]


def _cells(experiment: Experiment, results: Results) -> list[Cell]:
    works = experiment.works(results.catalogue, results.plan)
    return [work for work in works if isinstance(work, Cell)]


def _keys(experiment: Experiment, results: Results) -> list[SetKey]:
    works = experiment.works(results.catalogue, results.plan)
    return [work.dataset for work in works if isinstance(work, Floors)]
