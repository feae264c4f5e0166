"""Recompute the answers of the test vectors in tests/vectors from the inputs in the files.

A file contains worlds (location sets) and cases; a case has a kind, an input (``ask``) and an
answer. tests/vectors/README.md describes the format.
"""

import hashlib
import json
import math
from fractions import Fraction
from functools import lru_cache
from itertools import groupby
from pathlib import Path

import law_homes
import numpy as np
import protocol_answers

from nomadp import LocationSet, TrajectorySet, laws, make_mechanism
from nomadp.drawing import Drawing, draw
from nomadp.errors import NomadpError
from nomadp.mechanisms.dispatch import fastest, perturb_many
from nomadp.randomness import KeyedRandom, SeededRandom

__all__ = ["FOLDER", "NomadpError", "answer", "load", "same", "world_of"]

FOLDER = Path(__file__).parent / "vectors"
SHORT = 48
"""Rows of up to this many numbers are written in full."""


def load(name):
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def answer(case, worlds):
    """The answer of the current code to a case."""
    asked = dict(case["ask"])
    if "world" in asked:
        asked["world"] = world_of(json.dumps(worlds[asked["world"]]))
    return KINDS[case["kind"]](**asked)


def same(found, known):
    """Whether two answers are equal.

    Radii may differ by a billionth of a millimetre, because library functions round
    differently on other machines.
    """
    if isinstance(known, dict):
        both = isinstance(found, dict) and found.keys() == known.keys()
        return both and all(
            _same_radii(found[key], value) if key == "radii_km" else same(found[key], value)
            for key, value in known.items()
        )
    return bool(found == known)


def _same_radii(found, known):
    pairs = zip(found, known, strict=True)
    return all(
        math.isclose(float.fromhex(a), float.fromhex(b), rel_tol=0, abs_tol=1e-12)
        for a, b in pairs
    )


@lru_cache(maxsize=16)
def world_of(text):
    world = json.loads(text)
    if "task" in world:
        return protocol_answers.bundle_of(world)
    if "locations" in world:
        rows = world["locations"]
        lat, lng = ([float(row[name]) for row in rows] for name in ("lat", "lng"))
        return LocationSet.from_columns([row["id"] for row in rows], lat, lng)
    return generated(**world["generated"])


def generated(size, state, lat, lng):
    """A large location set, from integer arithmetic: see README.md, "Generated worlds"."""
    numbers = []
    for _ in range(2 * size):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        numbers.append(state >> 33)
    lats = [(lat["from"] + one % lat["count"]) / 10**6 for one in numbers[::2]]
    lngs = [(lng["from"] + one % lng["count"]) / 10**6 for one in numbers[1::2]]
    return LocationSet.from_columns([f"g{k}" for k in range(size)], lats, lngs)


class Given:
    """A stream of exactly the words that a case lists."""

    def __init__(self, words):
        self._words = iter([int(word, 16) for word in words])

    def next(self):
        return next(self._words)

    def left(self):
        return len(list(self._words))


class Recording:
    """A `Choose` that draws, and records every step."""

    def __init__(self, words):
        self.steps, self._drawing = [], Drawing(words)

    def __call__(self, step, channel, secret):
        choice = self._drawing(step, channel, secret)
        if isinstance(channel, laws.LabelLaw):
            law = {"label": int(secret), **stated(channel)}
            self.steps.append({"step": step} | law)
            return choice
        law = {"outputs": outputs(channel), "weights": row(channel.weights(secret))}
        self.steps.append({"step": step} | law | {"choice": choice})
        return choice

    def each(self, tasks):
        return [program(secret, self) for program, secret in tasks]


def stated(channel):
    """The name, the parameters and the two weights of a law over labels."""
    names = ("count",) if isinstance(channel, laws.SubsetSelection) else ("order", "dimensions")
    facts = {name: getattr(channel, name) for name in ("size", *names)}
    weights = {name: readable(getattr(channel, name)) for name in ("heavy", "light")}
    return {"law": type(channel).__name__, **facts, **weights}


def outputs(channel):
    """The outputs as a list, or their number if they are 0, 1, 2, ..."""
    values = channel.outputs.tolist()
    return len(values) if values == list(range(len(values))) else row(values)


def row(values):
    """Integers in full (above 2^53 as text), as run lengths, or as a hash."""
    numbers = [int(value) for value in values]
    if len(numbers) <= SHORT:
        return [readable(number) for number in numbers]
    runs = [[readable(number), len(list(some))] for number, some in groupby(numbers)]
    return {"runs": runs} if len(runs) <= SHORT else {"count": len(numbers), **hashed(numbers)}


def readable(number):
    return number if number <= 2**53 else str(number)


def hashed(rows):
    lines = "".join(f"{line}\n" for line in rows)
    return {"sha256": hashlib.sha256(lines.encode()).hexdigest()}


def report(world, mechanism, epsilon, options, trajectory, words, hour=None):
    made = make_mechanism(mechanism, world, epsilon, **_options(options, world))
    given = Given(words)
    choose = Recording(given)
    reported = made.perturb(made.read(np.array(trajectory), hour), choose)
    return {
        "identity": made.identity,
        "shares": [
            [step.name, step.copy, step.count, str(step.share)]
            for step in made.split(len(trajectory)).steps
        ],
        "steps": choose.steps,
        "words_left": given.left(),
        "report": [int(location) for location in reported],
    }


def _options(options, world):
    if "pinned" not in options:
        return options
    asked = options["pinned"]
    pages = [
        law_homes.CodebookTable(
            np.array(page["journeys"], dtype=np.int32), page["near_count"], math.nan
        )
        for page in asked["pages"]
    ]
    made = asked["recipe"], Fraction(asked["epsilon"]), None
    return options | {"pinned": law_homes.PinnedCodebooks(world.sha256, *made, tuple(pages))}


def law(name, share, secrets, words, world=None, **facts):
    channel = _channel(name, Fraction(share), world, facts)
    found = {"outputs": outputs(channel), "bound": str(channel.bound)}
    if name == "SquareWave":
        found["reach"] = channel.reach
    found["rows"] = [
        {
            "weights": row(channel.weights(secret)),
            "draws": [draw(channel, secret, int(word, 16)) for word in words],
        }
        for secret in secrets
    ]
    return found


def label_law(name, share, secrets, words, **facts):
    """A law over labels: its probabilities, and the reports that rows of words draw."""
    channel = getattr(laws, name)(share=Fraction(share), **facts)
    rows = np.array([[int(word, 16) for word in each] for each in words], dtype=np.uint64)
    return {
        **stated(channel),
        "true_chance": str(channel.true_chance),
        "other_chance": str(channel.other_chance),
        "draws": [
            channel.drawn(np.full(len(rows), secret), rows).tolist() for secret in secrets
        ],
    }


def label_laws(sizes, shares):
    """The law that is chosen for each number of labels."""
    choose = law_homes.label_laws.law_of_labels
    return [[stated(choose(size, Fraction(share))) for share in shares] for size in sizes]


def supports(size, order, dimensions, points, counts):
    """The number of reports that support each label, from the count of each point."""
    channel = laws.ProjectiveResponse(size, order, dimensions, Fraction(1))
    return row(channel.support(np.array(points), np.array(counts)))


def _channel(name, share, world, facts):
    if name == "Exponential":
        disc = facts["disc"] and laws.Disc(**facts["disc"])
        domain = np.array(facts["domain"])
        return laws.Exponential(world, domain, facts["span_km"], share, disc)
    if name == "TableExponential":
        table, columns = np.array(facts["table_km"]), np.array(facts["columns"])
        return laws.TableExponential(table, columns, facts["span_km"], share)
    if name == "Subset":
        near = laws.NearestLocations(world, facts["near_count"])
        return laws.Subset(len(world), facts["near_count"], near, share)
    if name == "Staircase":
        order = laws.NearestLocations(world, len(world))
        return laws.Staircase(len(world), facts["groups"], order, share)
    return getattr(laws, name)(share=share, **facts)


def heaviest_weights(shares, units, sizes):
    """The bounds behind all laws: of e^share, and the largest weights and units."""
    exact = [Fraction(share) for share in shares]
    channel = law_homes.channel
    return {
        "exp_lower": [str(law_homes.budget.exp_lower(share)) for share in exact],
        "heaviest": [[readable(laws.heaviest(unit, x)) for x in exact] for unit in units],
        "largest_unit": [[channel.largest_unit(size, x) for x in exact] for size in sizes],
    }


def half_widths(shares):
    return [laws.square_wave_half_width(float(Fraction(share))).hex() for share in shares]


def granularities(epsilons, rules):
    choose = law_homes.granularity.choose_granularity
    return [[choose(Fraction(epsilon), rule) for epsilon in epsilons] for rule in rules]


def radii(world, resolution, share, anchors, cells):
    """ATP's calibrated radius for reported cells around anchors."""
    channel = laws.SquareWave(resolution, Fraction(share))
    found = [
        law_homes.calibration.calibrated_radius_km(channel, cell, world.distances_km(anchor))
        for anchor in anchors
        for cell in cells
    ]
    return {"locations": world.sha256, "radii_km": [radius.hex() for radius in found]}


def near_counts(world, shares):
    """The number of near locations that BRR chooses."""
    best = law_homes.bipartite.best_near_count
    found = [best(world, Fraction(share)) for share in shares]
    return {"locations": world.sha256, "near_counts": found}


def atlas(world, length, size, epsilon):
    """A codebook, as a hash with its first codewords, and its number of near codewords."""
    book = law_homes.lloyd.design(world, length, Fraction(epsilon), size)
    return {
        "locations": world.sha256,
        "near_count": book.near_count,
        "first": book.codewords[:4].tolist(),
        **hashed(" ".join(map(str, journey)) for journey in book.codewords.tolist()),
    }


def book(world, length, size, epsilon):
    """The same codebook in full."""
    made = law_homes.lloyd.design(world, length, Fraction(epsilon), size)
    return {"near_count": made.near_count, "journeys": made.codewords.tolist()}


def walks(world, length, count, purpose):
    """Public random walks, as the recipe of codebooks uses them."""
    found = law_homes.walks.public_walks(world, length, count, purpose).tolist()
    return {
        "locations": world.sha256,
        "first": found[:4],
        "last": found[-4:],
        **hashed(" ".join(map(str, walk)) for walk in found),
    }


def uniforms(words):
    """The uniform numbers that the recipe computes from words."""
    found = law_homes.walks.uniforms(np.array([int(word, 16) for word in words], dtype="u8"))
    return [one.hex() for one in found.tolist()]


def stream(source, bound_to, names, index, count):
    """The words of a stream."""
    randomness = SeededRandom(source["seed"]) if "seed" in source else _keyed(source["key"])
    if bound_to is not None:
        randomness = randomness.bound_to(bound_to)
    if names is not None:
        randomness = randomness.named(names)
    one = randomness.stream(index)
    return [f"{one.next():016x}" for _ in range(count)]


def many(world, mechanism, epsilon, options, trajectories, seed, hours=None):
    """Reports of many trajectories at once, by the fastest code path."""
    made = make_mechanism(mechanism, world, epsilon, **options)
    known = None if hours is None else np.array(hours)
    some = TrajectorySet.from_lists(trajectories, size=len(world), hours=known)
    randomness = SeededRandom(seed).bound_to(made.identity)
    return perturb_many(made, some, randomness, fastest(made)).locations.tolist()


def _keyed(key):
    return KeyedRandom(bytes.fromhex(key))


KINDS = {
    kind.__name__: kind
    for kind in (
        report,
        law,
        label_law,
        label_laws,
        supports,
        heaviest_weights,
        half_widths,
        granularities,
        radii,
        near_counts,
        atlas,
        book,
        walks,
        uniforms,
        stream,
        many,
    )
} | protocol_answers.KINDS
