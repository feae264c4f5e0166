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
WITHIN = 1.01  # the smallest size whose error is within 1 % of the smallest error is chosen
# Lloyd's algorithm finds local optima: the best of 256 / K starts is kept, from 1 to 8.
STARTS_MOST = 8
STARTS_EACH = 256
# Training walks: 2048 + 96 for each codeword, at most 24576.
WALKS = 24576
WALKS_EACH = 96
WALKS_LEAST = 2048
HELD_OUT = 4096  # walks that are not trained on, to compare codebooks
WALKS_PER_TRAJECTORY = 64  # at most, in a set with few possible trajectories
ROUNDS = 10
SKETCH_ROUNDS = 3  # rounds of the codebooks that only serve to compare sizes
MEDIAN_ROUNDS = 4  # of Weiszfeld's algorithm
NEAR_WALKS = 1024  # walks on which k is chosen, in each round
REDESIGN_UP_TO = 8  # up to this epsilon, a codebook of one codeword is replaced (see `design`)
_BLUR = 1e-3  # of the extent, added to distances: Weiszfeld's weights stay finite
_DISTANCES_AT_ONCE = 2**15  # fit the processor's cache; any number gives the same codebook


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
    gain, n_trajectories = math.expm1(float(epsilon)), len(locations) ** length
    count = min(size, n_trajectories) if size else _smallest_size(locations, length, gain)
    near_count = None if size else 1  # a free size is chosen for k = 1
    codebook = _best_codebook(locations, length, count, _Settings(gain, near_count, ROUNDS))
    if codebook.size == 1 and epsilon <= REDESIGN_UP_TO:
        # With one codeword all reports are equal and carry no information. A codebook designed
        # for twice the epsilon does, once its reports are decoded. Without `error_km`, decoders
        # compute posteriors: at this epsilon, its codewords are not the best estimates.
        finer = design(locations, length, 2 * epsilon, size)
        return Codebook(locations, finer.codewords, finer.near_count)
    return codebook


def build_pinned(
    locations: LocationSet, lengths: Sequence[int], epsilon: Fraction, size: int | None = None
) -> PinnedCodebooks:
    """The codebooks that every client would design itself, as one value to distribute."""
    codebooks = [design(locations, length, epsilon, size) for length in sorted(set(lengths))]
    tables = tuple(
        CodebookTable(codebook.codewords, codebook.near_count, codebook.error_km)
        for codebook in codebooks
    )
    return PinnedCodebooks(locations.sha256, RECIPE, epsilon, size, tables)


def follows_its_recipe(pinned: PinnedCodebooks, locations: LocationSet) -> bool | None:
    """Whether designing them again gives the same codewords; None for an unknown recipe."""
    pinned.check_locations(locations)
    if pinned.recipe != RECIPE:
        return None
    return build_pinned(locations, pinned.lengths, pinned.epsilon, pinned.size) == pinned


def best_near(distance_km: Floats, gain: float) -> tuple[int, float]:
    """The best number k of nearest codewords, and the mean error of a report with it.

    From the distances of some walks (rows) to all K codewords: with S_k the sum of the k
    smallest and gain = e^epsilon - 1, the mean error is (S_k gain + S_K) / (k gain + K).
    """
    sums = np.cumsum(np.sort(distance_km, axis=1).mean(axis=0))
    count = np.arange(1, len(sums) + 1)
    error_km = (sums * gain + sums[-1]) / (count * gain + len(sums))
    best = int(error_km.argmin())
    return best + 1, float(error_km[best])


class _Settings(NamedTuple):
    """Parameters of Lloyd's algorithm."""

    gain: float
    """e^epsilon - 1"""
    near_count: int | None
    """k; None if it is chosen in each round."""
    rounds: int


def _smallest_size(locations: LocationSet, length: int, gain: float) -> int:
    """The smallest size whose error is nearly the smallest, from codebooks of few rounds."""
    n_trajectories, errors_km = len(locations) ** length, dict[int, float]()
    sizes = [size for size in SIZES if size < n_trajectories]
    if n_trajectories <= SIZES[-1]:
        sizes.append(n_trajectories)  # a codeword for every trajectory
    for count in sizes:
        sketch = _best_codebook(locations, length, count, _Settings(gain, 1, SKETCH_ROUNDS))
        errors_km[count] = sketch.error_km
        if sketch.error_km > min(errors_km.values()):
            break  # the error grows from here on
    limit_km = WITHIN * min(errors_km.values())
    return next(count for count, error_km in errors_km.items() if error_km <= limit_km)


def _best_codebook(
    locations: LocationSet, length: int, count: int, settings: _Settings
) -> Codebook:
    """The best codebook of ``count`` codewords: all trajectories, or the best of some
    starts."""
    n_trajectories = len(locations) ** length
    walks_most = WALKS_PER_TRAJECTORY * n_trajectories
    held_out = public_walks(locations, length, HELD_OUT, "fresh")[:walks_most]
    if count == n_trajectories:
        tables = [np.indices((len(locations),) * length).reshape(length, -1).T]
    else:
        walks = public_walks(locations, length, WALKS, "design")
        training = _TrainingWalks(
            locations, walks[: min(WALKS_EACH * count + WALKS_LEAST, walks_most)]
        )
        # Each start takes the next ``count`` walks as its first codewords.
        starts = range(0, min(count * STARTS_MOST, max(count, STARTS_EACH)), count)
        tables = [training.optimised(walks[k : k + count], settings) for k in starts]
    # Codewords that were snapped to the same locations are one codeword.
    codebooks = [
        Codebook(locations, np.unique(table, axis=0).astype(np.int32)) for table in tables
    ]
    distances_km = (codebook.distances_km(held_out.T) for codebook in codebooks)
    scores = [best_near(distance_km, settings.gain) for distance_km in distances_km]
    best = min(range(len(codebooks)), key=lambda k: scores[k][1])
    near_count, error_km = scores[best]
    return Codebook(locations, codebooks[best].codewords, near_count, error_km / length)


class _TrainingWalks:
    """Training walks as indices of the places they visit, and these places in space."""

    def __init__(self, locations: LocationSet, walks: TrajectoryTable) -> None:
        self._locations = locations
        visited, label = np.unique(walks, return_inverse=True)
        self._label: Ints = label.reshape(walks.shape)
        place = unit_vectors(locations.lat[visited], locations.lng[visited])
        # Centred coordinates keep the digits of small differences in `_chords`.
        self._middle = place.mean(axis=0)
        self._place: Floats = place - self._middle  # (places, 3), in radii of the Earth
        self._square = (self._place**2).sum(axis=1)
        self._blur = _BLUR**2 * (float(self._square.mean()) or 1.0)  # all may be one place

    def optimised(self, start: TrajectoryTable, settings: _Settings) -> Ints:
        """Codewords after Lloyd's algorithm: until no walk changes its k nearest, or the rounds
        end."""
        lat, lng = self._locations.lat[start], self._locations.lng[start]
        codewords, previous = unit_vectors(lat, lng) - self._middle, None
        for _ in range(settings.rounds):
            near = self._assigned(codewords, settings.gain, settings.near_count)
            if previous is not None and np.array_equal(near, previous):
                break  # a fixed point: moving again would change nothing but the medians
            codewords, previous = self._updated(codewords, near, settings.gain), near
        # Codewords moved freely in space; report the nearest public locations.
        return self._locations.nearest(*lat_lng(codewords + self._middle))

    def _assigned(self, codewords: Floats, gain: float, near_count: int | None) -> Ints:
        """Assignment step: the k nearest codewords of each walk, (walks, k)."""
        # A table for each position: from places (rows) to the codewords' points there.
        tables = [
            np.ascontiguousarray(self._chords(points).T) for points in codewords.swapaxes(0, 1)
        ]
        count = near_count or best_near(_summed(tables, self._label[:NEAR_WALKS]), gain)[0]
        near = np.empty((len(self._label), count), dtype=np.int64)
        for rows in _row_blocks(len(near), len(codewords)):
            distance = _summed(tables, self._label[rows])
            if count == 1:
                near[rows, 0] = distance.argmin(axis=1)
            else:
                near[rows] = distance.argpartition(count - 1, axis=1)[:, :count]
        return near

    def _updated(self, codewords: Floats, near: Ints, gain: float) -> Floats:
        """Update step: each codeword moves to the weighted geometric median, by Weiszfeld."""
        shape, updated = (len(codewords), len(self._place)), codewords.copy()
        for position, label in enumerate(self._label.T):
            # Number of walks at each place, of those near each codeword, and of all.
            pairs = (near * shape[1] + label[:, None]).reshape(-1)
            near_walks = np.bincount(pairs, minlength=math.prod(shape)).reshape(shape)
            all_walks = np.bincount(label, minlength=shape[1])
            # Weight of a place: e^epsilon for walks that have the codeword among their k
            # nearest (gain + 1), and 1 for all others.
            for rows in _row_blocks(*shape):
                weight, point = gain * near_walks[rows] + all_walks, updated[rows, position]
                # Weiszfeld: the mean of all places, weighted by weight / distance.
                for _ in range(MEDIAN_ROUNDS):
                    pull = np.divide(weight, chord := self._chords(point), out=chord)
                    point = (pull @ self._place) / pull.sum(axis=1, keepdims=True)
                updated[rows, position] = point
        return updated

    def _chords(self, point: Floats) -> Floats:
        """Chord lengths from points (rows) to all places, blurred."""
        # |a - b|^2 = |a|^2 - 2 a.b + |b|^2, so that one matrix product computes all.
        square = (-2 * point) @ self._place.T
        square += (point**2).sum(axis=1)[:, None]
        square += self._square + self._blur
        return np.sqrt(np.maximum(square, self._blur, out=square), out=square)


def _summed(tables: Sequence[Floats], labels: Ints) -> Floats:
    """Distances from every walk to every codeword, summed over positions."""
    # Indexing copies, so that adding in place changes no table.
    return reduce(iadd, (table[label] for table, label in zip(tables, labels.T, strict=True)))


def _row_blocks(rows: int, columns: int) -> Iterator[slice]:
    """Slices of rows that fit the processor's cache."""
    step = max(1, _DISTANCES_AT_ONCE // columns)
    return (slice(k, k + step) for k in range(0, rows, step))
