"""Recompute every figure and table of the paper: `nomadp paper`."""

from nomadp.paper.specs import EXPERIMENTS
from nomadp.paper.tasks import Paper, reopen

__all__ = ["EXPERIMENTS", "Paper", "reopen"]
