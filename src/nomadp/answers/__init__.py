"""Questions to what was learned from reports, answered in tables that every tool reads.

All of it is post-processing of released values, and costs nothing more.
"""

from nomadp.answers.facts import Terms
from nomadp.answers.flow import flows
from nomadp.answers.journey import journeys, lengths
from nomadp.answers.place import density, hotspots
from nomadp.answers.query import ask
from nomadp.answers.shapes import Shapes
from nomadp.answers.synthetic import synthesize
from nomadp.answers.table import Table

__all__ = [
    "Shapes",
    "Table",
    "Terms",
    "ask",
    "density",
    "flows",
    "hotspots",
    "journeys",
    "lengths",
    "synthesize",
]
