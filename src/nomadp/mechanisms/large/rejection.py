"""The exponential law over a domain of a large set, by rejection sampling.

Propose a location uniformly from the cells that may contain the domain. If it lies in the
domain, accept it with probability weight / ceiling. Accepted locations follow the law over the
domain exactly. After a public number of tries, the cells are scanned instead. The scan shows
whether the domain is empty; if it is not, one word draws from it, as in the reference program.
The number of failed tries is independent of the location that is accepted, so the mixture of
both ways has the same law.
"""

from typing import Any

import numpy as np

from nomadp.mechanisms.fast.compiling import part
from nomadp.mechanisms.fast.draws import high_product, split, weight_of
from nomadp.mechanisms.fast.values import Balls, Domain
from nomadp.mechanisms.large.cell_sets import cell_count, largest_cell, lowest, uniform_location
from nomadp.mechanisms.large.pairs import holds, km_between

__all__ = ["anywhere", "inside"]

_TRIES_MIN, _TRIES_MAX = 4, 512  # proposals before cells are scanned
_LOCATIONS_PER_TRY = 64  # per proposal, within these limits
_ONE = np.uint64(1)


@part
def anywhere(words: Any, used: int, place: int, law: Any, balls: Balls) -> Any:
    """Draw a location of the whole set; returns it, and the words used so far.

    ``place`` is the secret, ``law`` its (scale, offset, ceiling).
    """
    while used < len(words):
        proposed, rest = split(words[used], len(balls.rows))
        used += 1
        if high_product(rest, np.int64(law[2])) < _weight(place, proposed, law, balls):
            return proposed, used
    return np.int64(0), len(words) + 1


@part
def inside(
    words: Any,
    used: int,
    place: int,
    law: Any,
    balls: Balls,
    domain: Domain,
    cells: Any,
    scratch: Any,
) -> Any:
    """Draw a location of a domain; returns it (-1: the domain is empty), and the words used.

    ``cells`` contain the domain; ``scratch`` has two numbers for each location.
    """
    if cell_count(cells) == 0:
        return np.int64(-1), used
    # The number of tries follows from the cells, which are public. It grows with the work of
    # the scan, so that the tries cost less than the scan would.
    size = cell_count(cells) * largest_cell(balls)
    for _ in range(min(_TRIES_MAX, _TRIES_MIN + size // _LOCATIONS_PER_TRY)):
        if used >= len(words):
            return np.int64(0), len(words) + 1
        proposed, rest = uniform_location(balls, cells, words[used])
        used += 1
        if (
            proposed >= 0
            and holds(balls, domain, proposed)
            and high_product(rest, np.int64(law[2])) < _weight(place, proposed, law, balls)
        ):
            return proposed, used
    count = _list(place, law, balls, domain, cells, scratch)
    if count == 0:
        return np.int64(-1), used
    if used >= len(words):
        return np.int64(0), len(words) + 1
    return _pick(words[used], count, scratch), used + 1


@part
def _pick(word: Any, count: int, scratch: Any) -> Any:
    """Inverse transform sampling from the listed members, by binary search."""
    members, ends = scratch
    target = high_product(word, ends[count - 1])
    low, high = 0, count - 1
    while low < high:
        middle = (low + high) // 2
        if target < ends[middle]:
            high = middle
        else:
            low = middle + 1
    return np.int64(members[low])


@part
def _list(place: int, law: Any, balls: Balls, domain: Domain, cells: Any, scratch: Any) -> int:
    """Write the domain's members and their cumulative weights; returns their number.

    A weight is below 2^39 at the largest share, 20: the sum of 2^24 of them is below 2^63.
    """
    members, ends = scratch
    count, total = 0, np.int64(0)
    size = len(balls.rows)
    for k in range(len(cells[0])):
        bits = cells[0][k]
        while bits > 0:
            cell = 64 * k + lowest(bits)
            bits &= bits - _ONE
            start, end = (cell * size) >> balls.levels, ((cell + 1) * size) >> balls.levels
            for location in range(start, end):
                if holds(balls, domain, location):
                    total += _weight(place, location, law, balls)
                    members[count], ends[count] = location, total
                    count += 1
    return count


@part
def _weight(place: int, location: int, law: Any, balls: Balls) -> Any:
    """The weight of one location in the secret's law."""
    scale, offset, ceiling = law
    distance_km = km_between(balls.rows, place, location) - offset
    return weight_of(distance_km, scale, np.int64(ceiling))
