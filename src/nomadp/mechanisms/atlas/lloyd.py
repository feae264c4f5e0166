"""Design of codebooks: Lloyd's algorithm for the privacy channel.

This is channel-optimised vector quantisation (Farvardin and Vaishampayan 1991). Training data
are public random-walk trajectories, so the design costs no budget. The channel reports one of
the k nearest codewords with weight e^epsilon, and any other with weight 1. The best codeword
for its own report therefore minimises a weighted sum of distances to all walks: at each
position it is their geometric median, with weight e^epsilon for the walks that have it among
their k nearest. Moving codewords changes which are nearest, so the two steps alternate.
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache, reduce
from operator import iadd
from typing import NamedTuple

import numpy as np

from nomadp.errors import DomainError
from nomadp.geometry import Floats, lat_lng, unit_vectors
from nomadp.laws import Ints
from nomadp.locations import LocationSet
from nomadp.mechanisms.atlas.codebook import Codebook, CodebookTable, PinnedCodebooks
from nomadp.walks import TrajectoryTable, public_walks

__all__ = ["RECIPE", "SIZE_MOST", "best_near", "build_pinned", "design", "follows_its_recipe"]

RECIPE = "lloyd-3"
SIZE_MOST = 1024
"""Maximum number of codewords: larger codebooks take minutes and are hardly more accurate."""
# All constants of the recipe: other values give other codebooks, and so another RECIPE.
SIZES = (2, 4, 8, 16, 32, 64, 128, 256, 512)
WITHIN = 1.01  # the smallest size whose error is within 1 % of the smallest is enough
# Lloyd's algorithm finds local optima: the best of 256 / K starts is kept, from 1 to 8.
STARTS_MOST = 8
STARTS_EACH = 256
# Training walks: 2048 + 96 for each codeword, at most 24576.
WALKS = 24576
WALKS_EACH = 96
WALKS_LEAST = 2048
FRESH = 4096  # held-out walks on which codebooks are compared
TIMES = 64  # at most so many walks for each possible trajectory
ROUNDS = 10
SKETCHED = 3  # rounds of the codebooks that only serve to compare sizes
MEDIAN_ROUNDS = 4  # of Weiszfeld's algorithm
JUDGED = 1024  # walks on which k is chosen, in each round
BOLD = 8  # up to this epsilon, a codebook of one codeword is replaced (see `design`)
_BLUR = 1e-3  # of the extent, added to distances: Weiszfeld's weights stay finite
_AT_ONCE = 2**15  # distances that fit the cache; any number gives the same codebook


@lru_cache(maxsize=64)
def design(
    locations: LocationSet, length: int, epsilon: Fraction, size: int | None = None
) -> Codebook:
    """Design a codebook for an epsilon, with ``size`` codewords or as many as are enough."""
    if length < 1 or (size is not None and size < 1):
        raise DomainError(
            f"length and size of a codebook must be at least 1, got {length} and {size}",
            code="codebook_size_out_of_range",
            length=length,
            size=size,
        )
    gain, every = math.expm1(float(epsilon)), len(locations) ** length
    count = min(size, every) if size else _enough(locations, length, gain)
    found = _best(locations, length, count, _Course(gain, None if size else 1, ROUNDS))
    if found.size == 1 and epsilon <= BOLD:
        # With one codeword all reports are equal and carry no information. A codebook designed
        # for twice the epsilon does, once its reports are decoded.
        bolder = design(locations, length, 2 * epsilon, size)
        return Codebook(locations, bolder.codewords, bolder.near_count)
    return found


def build_pinned(
    locations: LocationSet, lengths: Sequence[int], epsilon: Fraction, size: int | None = None
) -> PinnedCodebooks:
    """The codebooks that every client would design itself, as one value to distribute."""
    made = [design(locations, length, epsilon, size) for length in sorted(set(lengths))]
    tables = tuple(
        CodebookTable(each.codewords, each.near_count, each.error_km) for each in made
    )
    return PinnedCodebooks(locations.sha256, RECIPE, epsilon, size, tables)


def follows_its_recipe(pinned: PinnedCodebooks, locations: LocationSet) -> bool | None:
    """Whether designing them again gives the same codewords; None for an unknown recipe."""
    pinned.check_locations(locations)
    if pinned.recipe != RECIPE:
        return None
    return build_pinned(locations, pinned.lengths, pinned.epsilon, pinned.size) == pinned


def best_near(apart_km: Floats, gain: float) -> tuple[int, float]:
    """The best number k of nearest codewords, and the mean error of a report with it.

    From the distances of some walks (rows) to all K codewords: with S_k the sum of the k
    smallest and gain = e^epsilon - 1, the mean error is (S_k gain + S_K) / (k gain + K).
    """
    sums = np.cumsum(np.sort(apart_km, axis=1).mean(axis=0))
    count = np.arange(1, len(sums) + 1)
    error_km = (sums * gain + sums[-1]) / (count * gain + len(sums))
    best = int(error_km.argmin())
    return best + 1, float(error_km[best])


class _Course(NamedTuple):
    """Parameters of Lloyd's algorithm."""

    gain: float
    near_count: int | None
    rounds: int


def _enough(locations: LocationSet, length: int, gain: float) -> int:
    """The smallest size whose error is nearly the smallest, from codebooks of few rounds."""
    every, errors_km = len(locations) ** length, dict[int, float]()
    for count in [each for each in SIZES if each < every] + [every] * (every <= SIZES[-1]):
        sketch = _best(locations, length, count, _Course(gain, 1, SKETCHED))
        errors_km[count] = sketch.error_km
        if sketch.error_km > min(errors_km.values()):
            break  # the error grows from here on
    enough = WITHIN * min(errors_km.values())
    return next(count for count, error_km in errors_km.items() if error_km <= enough)


def _best(locations: LocationSet, length: int, count: int, course: _Course) -> Codebook:
    """The best codebook of ``count`` codewords: all trajectories, or the best of some
    starts."""
    every = len(locations) ** length
    fresh = public_walks(locations, length, FRESH, "fresh")[: TIMES * every]
    if count == every:
        tables = [np.indices((len(locations),) * length).reshape(length, -1).T]
    else:
        walks = public_walks(locations, length, WALKS, "design")
        some = min(WALKS_EACH * count + WALKS_LEAST, TIMES * every)
        world = _World(locations, walks[:some])
        begin = range(0, min(count * STARTS_MOST, max(count, STARTS_EACH)), count)
        tables = [world.settled(walks[k : k + count], course) for k in begin]
    books = [Codebook(locations, np.unique(each, axis=0).astype(np.int32)) for each in tables]
    judged = [best_near(book.distances_km(fresh.T), course.gain) for book in books]
    k = min(range(len(books)), key=lambda k: judged[k][1])
    return Codebook(locations, books[k].codewords, judged[k][0], judged[k][1] / length)


class _World:
    """Training walks as indices of the places they visit, and these places in space."""

    def __init__(self, locations: LocationSet, walks: TrajectoryTable) -> None:
        self._locations = locations
        visited, label = np.unique(walks, return_inverse=True)
        self._label: Ints = label.reshape(walks.shape)
        place = unit_vectors(locations.lat[visited], locations.lng[visited])
        self._middle = place.mean(axis=0)
        self._place: Floats = place - self._middle  # (places, 3), in radii of the Earth
        self._square = (self._place**2).sum(axis=1)
        self._blur = _BLUR**2 * (float(self._square.mean()) or 1.0)  # all may be one place

    def settled(self, start: TrajectoryTable, course: _Course) -> Ints:
        """Codewords after Lloyd's algorithm: until no walk changes its k nearest, or the rounds
        end."""
        lat, lng = self._locations.lat[start], self._locations.lng[start]
        answers, before = unit_vectors(lat, lng) - self._middle, None
        for _ in range(course.rounds):
            near = self._near(answers, course.gain, course.near_count)
            if before is not None and np.array_equal(near, before):
                break  # a fixed point: moving again would change nothing but the medians
            answers, before = self._moved(answers, near, course.gain), near
        # Codewords moved freely in space; report the nearest public locations.
        return self._locations.nearest(*lat_lng(answers + self._middle))

    def _near(self, answers: Floats, gain: float, near_count: int | None) -> Ints:
        """Assignment step: the k nearest codewords of each walk, (walks, k)."""
        tables = [np.ascontiguousarray(self._apart(each).T) for each in answers.swapaxes(0, 1)]
        count = near_count or best_near(_summed(tables, self._label[:JUDGED]), gain)[0]
        near = np.empty((len(self._label), count), dtype=np.int64)
        for some in _parts(len(near), len(answers)):
            apart = _summed(tables, self._label[some])
            if count == 1:
                near[some, 0] = apart.argmin(axis=1)
            else:
                near[some] = apart.argpartition(count - 1, axis=1)[:, :count]
        return near

    def _moved(self, answers: Floats, near: Ints, gain: float) -> Floats:
        """Update step: each codeword moves to the weighted geometric median, by Weiszfeld."""
        shape, found = (len(answers), len(self._place)), answers.copy()
        for position, label in enumerate(self._label.T):
            pairs = (near * shape[1] + label[:, None]).reshape(-1)
            often = np.bincount(pairs, minlength=math.prod(shape)).reshape(shape)
            anyhow = np.bincount(label, minlength=shape[1])
            # Weight of a place: e^epsilon for walks that have the codeword among their k
            # nearest (gain + 1), and 1 for all others.
            for some in _parts(*shape):
                weight, point = gain * often[some] + anyhow, found[some, position]
                for _ in range(MEDIAN_ROUNDS):
                    pull = np.divide(weight, apart := self._apart(point), out=apart)
                    point = (pull @ self._place) / pull.sum(axis=1, keepdims=True)
                found[some, position] = point
        return found

    def _apart(self, point: Floats) -> Floats:
        """Chord lengths from points (rows) to all places, blurred."""
        square = (-2 * point) @ self._place.T
        square += (point**2).sum(axis=1)[:, None]
        square += self._square + self._blur
        return np.sqrt(np.maximum(square, self._blur, out=square), out=square)


def _summed(tables: Sequence[Floats], labels: Ints) -> Floats:
    """Distances from every walk to every codeword, summed over positions."""
    return reduce(iadd, (table[each] for table, each in zip(tables, labels.T, strict=True)))


def _parts(rows: int, columns: int) -> Iterator[slice]:
    """Slices of rows that fit the processor's cache."""
    step = max(1, _AT_ONCE // columns)
    return (slice(k, k + step) for k in range(0, rows, step))
