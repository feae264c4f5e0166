"""Where what a law is made of lives: the one file of these tests that knows the tree."""

from nomadp import budget, geometry, locations, randomness
from nomadp.laws import channel, response, square_wave
from nomadp.mechanisms import (
    MECHANISMS,
    anchor,
    bipartite,
    calibration,
    granularity,
    merge,
    ngram,
    pivot,
)
from nomadp.mechanisms import bulk as tables
from nomadp.mechanisms.atlas import PinnedAtlases, book, near_count
from nomadp.mechanisms.atlas import mechanism as atlas

__all__ = [
    "MECHANISMS",
    "PinnedAtlases",
    "anchor",
    "atlas",
    "bipartite",
    "book",
    "budget",
    "calibration",
    "channel",
    "geometry",
    "granularity",
    "locations",
    "merge",
    "near_count",
    "ngram",
    "pivot",
    "randomness",
    "response",
    "square_wave",
    "tables",
]
