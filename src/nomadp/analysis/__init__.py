"""What reports are worth: scores of reported against true trajectories."""

from nomadp.analysis.measures import Yardstick, measure_all, zero_information
from nomadp.analysis.metrics import (
    Evaluation,
    Scores,
    constant_answer,
    error_km_each,
    evaluate,
    matched_by_tid,
    normalised_error,
    range_query,
    uniform_answer,
    within_percent_each,
)
from nomadp.analysis.promise import explain
from nomadp.analysis.worth import calibrate

__all__ = [
    "Evaluation",
    "Scores",
    "Yardstick",
    "calibrate",
    "constant_answer",
    "error_km_each",
    "evaluate",
    "explain",
    "matched_by_tid",
    "measure_all",
    "normalised_error",
    "range_query",
    "uniform_answer",
    "within_percent_each",
    "zero_information",
]
