"""Finite laws in integer weights: the only source of randomness a mechanism may use.

A *channel* is a public value. For every secret input it states integer weights over the same
outputs. The probability of an output is exactly its weight divided by their sum. The client
draws from the channel with 64-bit words, the auditor enumerates it, and the collector inverts
it. Compiled loops and other languages restate a law only where they must; test vectors pin
their results (tests/vectors).
"""

from nomadp.laws.channel import Channel, Ints, Secret, clamped, heaviest, probabilities
from nomadp.laws.exponential import Disc, Exponential, TableExponential, distance_rows_km
from nomadp.laws.labels import LabelLaw
from nomadp.laws.oracles import law_of_labels
from nomadp.laws.projective import ProjectiveResponse
from nomadp.laws.response import RandomizedResponse, Uniform
from nomadp.laws.selection import SubsetSelection
from nomadp.laws.square_wave import SquareWave, square_wave_half_width
from nomadp.laws.subset import NearestLocations, Staircase, Subset

__all__ = [
    "Channel",
    "Disc",
    "Exponential",
    "Ints",
    "LabelLaw",
    "NearestLocations",
    "ProjectiveResponse",
    "RandomizedResponse",
    "Secret",
    "SquareWave",
    "Staircase",
    "Subset",
    "SubsetSelection",
    "TableExponential",
    "Uniform",
    "clamped",
    "distance_rows_km",
    "heaviest",
    "law_of_labels",
    "probabilities",
    "square_wave_half_width",
]
