"""Where what a law is made of lives: the one file of these tests that knows the tree."""

from nomadp import budget, geometry, locations, randomness, walks
from nomadp.laws import channel, response, square_wave
from nomadp.mechanisms import MECHANISMS, paths
from nomadp.mechanisms.atlas import PinnedAtlases, lloyd, long
from nomadp.mechanisms.atlas.pinned import Page
from nomadp.mechanisms.fast import limits as tables
from nomadp.mechanisms.fast import rows
from nomadp.mechanisms.ngram import mechanism as ngram
from nomadp.mechanisms.pivot import atp as anchor
from nomadp.mechanisms.pivot import calibration, granularity, merge
from nomadp.mechanisms.pivot import tp as pivot
from nomadp.mechanisms.points import brr as bipartite

__all__ = [
    "MECHANISMS",
    "Page",
    "PinnedAtlases",
    "anchor",
    "bipartite",
    "budget",
    "calibration",
    "channel",
    "geometry",
    "granularity",
    "lloyd",
    "locations",
    "long",
    "merge",
    "ngram",
    "paths",
    "pivot",
    "randomness",
    "response",
    "rows",
    "square_wave",
    "tables",
    "walks",
]
