"""Private Lloyd: the journeys of an atlas, made for the channel that reports them.

A journey is the answer to its own report. Whoever reports it was near to it, or was not and
drew it by chance: so it is moved, position by position, to the geometric median of all public
walks, those near to it weighing e^epsilon and the others 1 (Weiszfeld's rounds). That changes
who is near, and so on. Of several starts the best is kept, by its error on fresh walks; of
several sizes the smallest that errs hardly more than the best. Nothing here is private.
"""

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from nomadp.errors import DomainError
from nomadp.geometry import Floats, lat_lng, unit_vectors
from nomadp.laws import Ints
from nomadp.locations import LocationSet
from nomadp.mechanisms.atlas.book import Atlas, Journeys, public_walks

__all__ = ["RECIPE", "SIZE_MOST", "best_near", "design"]

RECIPE = "lloyd-1"
SIZE_MOST = 4096
"""Journeys in a book: more would take minutes to make, and do not err less."""
# All that the recipe reads: other numbers are other books.
SIZES = (2, 3, 4, 6, 8, 12, 16, 32, 64, 128, 256, 512, 1024)
FIRST_MOST = 7  # the logarithm of the size that is tried first, at most
WITHIN = 1.01  # of the least error
PATIENCE = 2  # sizes in a row that are no better: then no larger ones are tried
STARTS_EACH, STARTS_MOST = 256, 12  # a book of K has so many over K, at least one
KEPT = 4  # of so many starts one goes on
TRIAL = 3, 32, 1024  # rounds of every start; walks for each of K, and beside these
WHOLE = 10, 96, 4096  # the same for those that go on
MEDIAN_ROUNDS = 4
WALKS, FRESH = 24576, 4096  # to make books of at most, and on which they are compared
TIMES = 64  # walks at most for each journey there is
JUDGED = 1024  # walks on which the number of near journeys is chosen, in each round
BOLD = 8  # up to this epsilon, a book of one journey is made for a larger one instead
_PAIRS_AT_ONCE = 2**22  # of a walk and a journey
_BLUR = 1e-3  # of the extent: medians do not stick to a place
_LEAST = 1e-24  # of its square, where all places are one


@lru_cache(maxsize=64)
def design(
    locations: LocationSet, length: int, epsilon: Fraction, size: int | None = None
) -> Atlas:
    """The atlas for an epsilon; of a given size, or of the smallest that is good enough."""
    if length < 1 or (size is not None and size < 1):
        raise DomainError(
            f"an atlas needs length and size of at least 1, got {length} and {size}"
        )
    made = _Maker(locations, length, epsilon)
    found = made.smallest() if size is None else made.best(min(size, made.every), None)
    if found.size == 1 and epsilon <= BOLD:
        # Nothing could be learned from all reports together. Its answers must be decoded.
        bolder = design(locations, length, 2 * epsilon, size)
        return Atlas(locations, bolder.journeys, bolder.near_count)
    return found


def best_near(sorted_km: Floats, gain: float) -> tuple[int, float]:
    """How many journeys should count as near, and the mean error of what is reported then.

    From the distances to all K journeys, smallest first, of some walks (rows): with S_k the
    sum of the first k, a report is off by (S_k gain + S_K) / (k gain + K).
    """
    sums = np.cumsum(sorted_km.mean(axis=0))
    count = np.arange(1, len(sums) + 1)
    error_km = (sums * gain + sums[-1]) / (count * gain + len(sums))
    best = int(error_km.argmin())
    return best + 1, float(error_km[best])


class _Maker:
    """Makes books for one epsilon, and judges them on the same fresh walks."""

    def __init__(self, locations: LocationSet, length: int, epsilon: Fraction) -> None:
        self._locations, self._length = locations, length
        self._epsilon, self._gain = float(epsilon), math.expm1(float(epsilon))
        self.every = len(locations) ** length
        self._fresh = self._walks(FRESH, "fresh").T.astype(np.int64)

    def smallest(self) -> Atlas:
        """The smallest book that errs hardly more than the best, with one near journey."""
        tried: list[Atlas] = []
        for count in self._sizes():
            tried.append(self.best(count, 1))
            errors_km = [atlas.error_km for atlas in tried]
            if len(tried) > errors_km.index(min(errors_km)) + PATIENCE:
                break
        return next(atlas for atlas in tried if atlas.error_km <= WITHIN * min(errors_km))

    def _sizes(self) -> list[int]:
        """Upwards from about e^(epsilon / 2) / 2; of a small world every journey at last."""
        first = 2 ** min(FIRST_MOST, math.floor(self._epsilon / 2 / math.log(2) - 1))
        sizes = [size for size in SIZES if size < self.every]
        begin = sum(size < first for size in sizes)
        return [*sizes[begin:], *([self.every] if self.every <= SIZES[-1] else [])]

    def best(self, count: int, near_count: int | None) -> Atlas:
        """The best book of so many journeys; every one there is, or the best of some starts."""
        if count == self.every:
            places = np.indices((len(self._locations),) * self._length)
            return self._judged(places.reshape(self._length, -1).T.astype(np.int32))
        trial, whole = (
            _World(self._locations, self._walks(each * count + beside, "design"))
            for _, each, beside in (TRIAL, WHOLE)
        )
        starts = max(1, min(STARTS_MOST, STARTS_EACH // count))
        begun = [whole.start(k, count) for k in range(starts)]
        if starts > 1:
            tried = [trial.settled(each, self._gain, near_count, TRIAL[0]) for each in begun]
            tried.sort(key=lambda each: each[1])
            begun = [answers for answers, _ in tried[: -(-starts // KEPT)]]
        found = []
        for answers in begun:
            ended, _ = whole.settled(answers, self._gain, near_count, WHOLE[0])
            found.append(self._judged(whole.snapped(ended)))
        return min(found, key=lambda atlas: atlas.error_km)

    def _judged(self, journeys: Journeys) -> Atlas:
        """Distinct journeys as an atlas, with the best number of near ones and its error."""
        distinct = np.unique(journeys, axis=0)
        apart_km = np.sort(Atlas(self._locations, distinct).distances_km(self._fresh), axis=1)
        near, error_km = best_near(apart_km, self._gain)
        return Atlas(self._locations, distinct, near, error_km / self._length)

    def _walks(self, count: int, purpose: str) -> Journeys:
        walks = public_walks(self._locations, self._length, max(WALKS, FRESH), purpose)
        return walks[: min(count, TIMES * self.every)]


class _World:
    """Public walks, as numbers of the places they visit, and these places in space."""

    def __init__(self, locations: LocationSet, walks: Journeys) -> None:
        visited, label = np.unique(walks, return_inverse=True)
        self._locations = locations
        self._label: Ints = label.reshape(walks.shape)
        place = unit_vectors(locations.lat[visited], locations.lng[visited])
        self._middle = place.mean(axis=0)
        self._place: Floats = place - self._middle  # (places, 3), in radii of the Earth
        self._square = (self._place**2).sum(axis=1)
        self._blur = max(_BLUR**2 * float(self._square.mean()), _LEAST)

    def start(self, number: int, count: int) -> Floats:
        """Some walks of their own for every start, as points: (count, length, 3)."""
        return self._place[self._label[number * count : (number + 1) * count]]

    def settled(
        self, answers: Floats, gain: float, near_count: int | None, rounds: int
    ) -> tuple[Floats, float]:
        """Answers after so many rounds, or when none moves any more; how far off they were."""
        before: Ints = np.zeros((0, 0), dtype=np.int64)
        off = math.inf
        for _ in range(rounds):
            tables = [
                np.ascontiguousarray(self._apart(a).T) for a in answers.transpose(1, 0, 2)
            ]
            near, off = self._near(tables, gain, near_count)
            answers = self._moved(answers, near, gain)
            if np.array_equal(near, before):
                break
            before = near
        return answers, off

    def _moved(self, answers: Floats, near: Ints, gain: float) -> Floats:
        """Every answer to the median of the walks that it answers, position by position."""
        shape = len(answers), len(self._place)
        found = np.empty_like(answers)
        for i, label in enumerate(self._label.T):
            pairs = (near * shape[1] + label[:, None]).reshape(-1)
            weight = gain * np.bincount(pairs, minlength=shape[0] * shape[1]).reshape(shape)
            weight += np.bincount(label, minlength=shape[1])
            found[:, i] = self._median(weight, answers[:, i])
        return found

    def _near(
        self, tables: list[Floats], gain: float, near_count: int | None
    ) -> tuple[Ints, float]:
        """The answers near to each walk, (walks, near_count), and how far off reports are."""
        found, off = [], 0.0
        size = tables[0].shape[1]
        for start in range(0, len(self._label), _PAIRS_AT_ONCE // size):
            some = self._label[start : start + _PAIRS_AT_ONCE // size]
            apart = tables[0][some[:, 0]]
            for table, label in zip(tables[1:], some.T[1:], strict=True):
                apart += table[label]
            near_count = near_count or best_near(np.sort(apart[:JUDGED], axis=1), gain)[0]
            near = (
                apart.argmin(axis=1)[:, None]
                if near_count == 1
                else apart.argpartition(near_count - 1, axis=1)[:, :near_count]
            )
            off += gain * float(np.take_along_axis(apart, near, axis=1).sum())
            off += float(apart.sum())
            found.append(near)
        return np.concatenate(found), off / ((near_count or 1) * gain + size)

    def _median(self, weight: Floats, point: Floats) -> Floats:
        """Geometric medians of all places under each row of weights, by Weiszfeld's rounds."""
        for _ in range(MEDIAN_ROUNDS):
            pull = weight / self._apart(point)
            point = (pull @ self._place) / pull.sum(axis=1, keepdims=True)
        return point

    def _apart(self, point: Floats) -> Floats:
        """Chords from points (rows) to all places, blurred."""
        square = (point**2).sum(axis=1)[:, None] - 2 * point @ self._place.T
        square += self._square + self._blur
        return np.sqrt(np.maximum(square, self._blur))

    def snapped(self, answers: Floats) -> Journeys:
        """The nearest locations."""
        lat, lng = lat_lng(answers + self._middle)
        return self._locations.nearest(lat, lng).astype(np.int32)
