"""Every figure and table of the paper, computed anew: nomadp paper."""

from nomadp.experiments.paper import ALL, Paper, reopened
from nomadp.experiments.specs import EXPERIMENTS

__all__ = ["ALL", "EXPERIMENTS", "Paper", "reopened"]
