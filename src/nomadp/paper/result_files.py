"""Result files: a CSV with a row per cell, and a JSON with everything that determines it."""

import csv
import io
import json
from dataclasses import asdict
from typing import Any, TypeVar

import nomadp
from nomadp.paper.cells import Baselines, Cell
from nomadp.paper.datasets import load
from nomadp.paper.reference import direction_rows
from nomadp.paper.results import Results
from nomadp.paper.specs import Experiment
from nomadp.paper.style import BASELINE_LABELS

__all__ = ["as_csv", "as_json"]

W = TypeVar("W", Cell, Baselines)


def as_csv(experiment: Experiment, results: Results) -> str:
    """One row per repetition, then the baselines; the same columns in every experiment."""
    rows = [
        *_table_rows(experiment),
        *_cell_rows(experiment, results),
        *_baseline_rows(experiment, results),
        *_audit_rows(experiment, results),
    ]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def as_json(experiment: Experiment, results: Results) -> str:
    """Configuration, data sets, baselines, every repetition, and means over repetitions."""
    catalogue, plan = results.catalogue, results.plan
    content = {
        "experiment": experiment.name,
        "title": experiment.title,
        "paper": experiment.paper,
        "nomadp": nomadp.__version__,
        "plan": asdict(plan),
        "datasets": [
            {**work.identity(catalogue), "floors": results.of(work)}
            for work in _works(experiment, results, Baselines)
        ],
        "summary": _summary(experiment, results),
        "cells": [
            {**cell.identity(catalogue), "scores": results.of(cell)}
            for cell in _works(experiment, results, Cell)
        ],
        "audits": [
            {**audit.identity(catalogue), **results.of(audit)}
            for audit in experiment.audits(plan)
        ],
        "directions": _table_rows(experiment),
    }
    return json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def _table_rows(experiment: Experiment) -> list[dict[str, Any]]:
    return list(direction_rows()) if experiment.name == "table1" else []


def _cell_rows(experiment: Experiment, results: Results) -> list[dict[str, Any]]:
    rows = []
    for cell in _works(experiment, results, Cell):
        identity = cell.identity(results.catalogue)
        options = json.dumps(identity["options"], sort_keys=True)
        del identity["yardstick"]
        rows.append(identity | {"options": options} | results.of(cell))
    return rows


def _baseline_rows(experiment: Experiment, results: Results) -> list[dict[str, Any]]:
    return [
        {
            "dataset": str(work.dataset),
            "dataset_sha256": load(results.catalogue, work.dataset).sha256,
            "mechanism": BASELINE_LABELS[baseline],
            "nomadp": nomadp.__version__,
            **scores,
        }
        for work in _works(experiment, results, Baselines)
        for baseline, scores in results.of(work).items()
    ]


def _audit_rows(experiment: Experiment, results: Results) -> list[dict[str, Any]]:
    return [
        {
            **audit.identity(results.catalogue),
            **{name: results.of(audit)[name] for name in ("transcript_loss", "final_loss")},
        }
        for audit in experiment.audits(results.plan)
    ]


def _summary(experiment: Experiment, results: Results) -> list[dict[str, Any]]:
    """The numbers of the figure: mean and standard deviation over the repetitions."""
    return [
        {
            "dataset": str(point.setting.dataset),
            "mechanism": point.setting.mechanism,
            "options": dict(point.setting.options),
            "epsilon": point.setting.epsilon,
            "decoded": point.setting.decoded,
            "x": point.x,
            "metric": metric,
            "mean": value.mean,
            "sd": value.sd,
            "runs": results.plan.runs,
        }
        for point in results.placed(experiment)
        for metric in results.metrics(experiment, point.base)
        for value in [results.value(point.setting, metric)]
    ]


def _works(experiment: Experiment, results: Results, kind: type[W]) -> list[W]:
    works = experiment.works(results.catalogue, results.plan)
    return [work for work in works if isinstance(work, kind)]
