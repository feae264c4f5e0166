"""Every figure and table of the paper, computed anew: nomadp paper."""

from nomadp.paper.specs import EXPERIMENTS
from nomadp.paper.tasks import Paper, reopened

__all__ = ["EXPERIMENTS", "Paper", "reopened"]
