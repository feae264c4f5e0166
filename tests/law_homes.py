"""The modules of the building blocks of laws: the only file of these tests that knows them."""

from nomadp import budget, geometry, locations, randomness, walks
from nomadp.laws import channel, incidence, labels, response, square_wave
from nomadp.laws import oracles as label_laws
from nomadp.mechanisms import MECHANISMS, dispatch
from nomadp.mechanisms.atlas import PinnedCodebooks, lloyd, long
from nomadp.mechanisms.atlas.codebook import CodebookTable
from nomadp.mechanisms.fast import limits as tables
from nomadp.mechanisms.fast import word_rows
from nomadp.mechanisms.ngram import mechanism as ngram
from nomadp.mechanisms.oracles import base as questions
from nomadp.mechanisms.oracles import batch as asked_many
from nomadp.mechanisms.oracles import kinds
from nomadp.mechanisms.pivot import atp as anchor
from nomadp.mechanisms.pivot import calibration, granularity, merge
from nomadp.mechanisms.pivot import tp as pivot
from nomadp.mechanisms.points import brr as bipartite

__all__ = [
    "MECHANISMS",
    "CodebookTable",
    "PinnedCodebooks",
    "anchor",
    "asked_many",
    "bipartite",
    "budget",
    "calibration",
    "channel",
    "dispatch",
    "geometry",
    "granularity",
    "incidence",
    "kinds",
    "label_laws",
    "labels",
    "lloyd",
    "locations",
    "long",
    "merge",
    "ngram",
    "pivot",
    "questions",
    "randomness",
    "response",
    "square_wave",
    "tables",
    "walks",
    "word_rows",
]
