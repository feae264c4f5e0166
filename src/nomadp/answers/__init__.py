"""Queries to a fitted model. Each returns an `Estimate`, a table that every tool reads.

All of it is post-processing of released values, which costs no further privacy.
"""

from nomadp.answers.decoded import lengths, trajectories
from nomadp.answers.estimate import Estimate
from nomadp.answers.facts import Terms
from nomadp.answers.flow import flows
from nomadp.answers.place import density, hotspots
from nomadp.answers.query import run_query
from nomadp.answers.shapes import Shapes
from nomadp.answers.synthetic import synthesize

__all__ = [
    "Shapes",
    "Estimate",
    "Terms",
    "density",
    "flows",
    "hotspots",
    "lengths",
    "run_query",
    "synthesize",
    "trajectories",
]
