"""What reports are worth: scores of reported against true trajectories."""

from nomadp.analysis.metrics import (
    Evaluation,
    Scores,
    constant_answer,
    evaluate,
    matched_by_tid,
    normalised_error,
    uniform_answer,
)

__all__ = [
    "Evaluation",
    "Scores",
    "constant_answer",
    "evaluate",
    "matched_by_tid",
    "normalised_error",
    "uniform_answer",
]
