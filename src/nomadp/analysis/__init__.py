"""Utility: errors of reported trajectories, next to no-information baselines."""

from nomadp.analysis.guarantee import explain
from nomadp.analysis.metrics import (
    Evaluation,
    Scores,
    constant_answer,
    error_km_each,
    evaluate,
    matched_by_tid,
    scores,
    uniform_answer,
    within_percent_each,
)
from nomadp.analysis.utility import simulate_utility

__all__ = [
    "Evaluation",
    "Scores",
    "simulate_utility",
    "constant_answer",
    "error_km_each",
    "evaluate",
    "explain",
    "matched_by_tid",
    "scores",
    "uniform_answer",
    "within_percent_each",
]
