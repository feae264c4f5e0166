"""Every figure and table of the paper, computed anew: nomadp paper."""

from nomadp.paper.specs import EXPERIMENTS
from nomadp.paper.tasks import ALL, Paper, reopened

__all__ = ["ALL", "EXPERIMENTS", "Paper", "reopened"]
