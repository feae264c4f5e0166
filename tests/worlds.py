"""Small location sets that tests share, and a second, naive computation of exact laws."""

from fractions import Fraction
from itertools import combinations, product
from math import prod

import numpy as np

from nomadp.audit.maps import family_map
from nomadp.locations import LocationSet
from nomadp.mechanisms import MECHANISMS

JOURNEYS = [name for name, kind in MECHANISMS.items() if not kind.is_oracle]
"""The mechanisms whose reports are journeys; those of direct questions are labels."""


def triangle() -> LocationSet:
    """Three locations at unequal distances."""
    return LocationSet.from_columns(
        ["a", "b", "c"], [41.80, 41.82, 41.85], [-87.6, -87.6, -87.55]
    )


def scattered(size: int, seed: int = 0) -> LocationSet:
    rng = np.random.default_rng(seed)
    ids = [f"p{k}" for k in range(size)]
    return LocationSet.from_columns(ids, rng.uniform(41, 42, size), rng.uniform(-88, -87, size))


def small_map(size: int = 4) -> LocationSet:
    return family_map("random", size)


def exactly_worst(channel, secrets) -> Fraction:
    """The largest probability ratio by plain rational arithmetic, one pair at a time."""
    weight = channel.weights(np.asarray(secrets))
    law = [[Fraction(int(w), int(row.sum())) for w in row] for row in weight]
    return max(
        max(a / b, b / a) for x, y in combinations(law, 2) for a, b in zip(x, y, strict=True)
    )


class Replay:
    """A `Choose` for one input that follows one path, in exact rationals."""

    def __init__(self, path):
        self.path, self.taken, self.branches = path, (), []
        self.transcript, self.chance, self.spent = (), Fraction(1), Fraction(0)

    def __call__(self, step, channel, secret):
        weight = channel.weights(secret).tolist()
        if len(self.taken) < len(self.path):
            here = self.path[len(self.taken)]
        else:
            here, *others = [k for k, w in enumerate(weight) if w]
            self.branches += [(*self.taken, other) for other in others]
        self.taken = (*self.taken, here)
        value = int(channel.outputs[here])
        self.transcript = (*self.transcript, (step, value))
        self.chance *= Fraction(weight[here], sum(weight))
        self.spent += channel.share
        return value

    def each(self, tasks):
        return [program(secret, self) for program, secret in tasks]


def every_path(program, secret):
    """All paths of a program for one secret: pairs of (result, replay)."""
    pending = [()]
    while pending:
        replay = Replay(pending.pop())
        yield program(secret, replay), replay
        pending += replay.branches


def part_laws(mechanism, trajectory):
    """For each released part: the exact laws of its transcript and of its value."""
    laws = []
    for program, secret in mechanism.parts(np.asarray(trajectory)):
        transcripts: dict = {}
        values: dict = {}
        for value, replay in every_path(program, secret):
            transcripts[replay.transcript] = replay.chance
            values[value] = values.get(value, 0) + replay.chance
        laws.append((transcripts, values))
    return laws


def final_law(mechanism, parts):
    """The exact law of the reported trajectory, from the laws of the parts."""
    law: dict = {}
    for combination in product(*(values.items() for _, values in parts)):
        chance = prod(p for _, p in combination)
        released = [value for value, _ in combination]
        for reported, replay in every_path(mechanism.finish, released):
            law[reported] = law.get(reported, 0) + chance * replay.chance
    return law
