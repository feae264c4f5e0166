"""The exponential law over a domain of a large set, without a list of the domain.

Propose a location of a cover uniformly; if it lies in the domain, accept it with probability
weight / ceiling, else begin again. Whatever is accepted first follows the law over the domain
exactly, however often and from whichever covers was proposed before. Where nothing in the
domain turns up, the cover is refined, and in the end searched: so "empty" is a proof.
"""

from typing import Any

import numpy as np

from nomadp.mechanisms.kernels.compiling import part
from nomadp.mechanisms.kernels.covers import held, located, members, refine
from nomadp.mechanisms.kernels.draws import below_and_rest, weight_of
from nomadp.mechanisms.kernels.sights import holds, km_between
from nomadp.mechanisms.kernels.values import Balls

__all__ = ["anywhere", "inside", "propose"]

_TRIES = 12  # proposals before a cover is refined


@part
def anywhere(words: Any, used: int, secret: Any, balls: Balls) -> Any:
    """One location of the whole set, and the words used so far.

    ``secret`` is a location and its law: (scale, offset, ceiling).
    """
    place, (scale, offset, ceiling) = secret
    rows, most = balls.rows, np.int64(ceiling)
    while used < len(words):
        proposed, threshold = below_and_rest(words[used], len(rows), most)
        used += 1
        distance_km = km_between(rows, place, proposed) - offset
        if threshold < weight_of(distance_km, scale, most):
            return proposed, used
    return 0, len(words) + 1


@part
def inside(words: Any, used: int, task: Any, balls: Balls, room: Any) -> Any:
    """One location of a domain (-1: it has none), and the words used so far.

    ``task`` is a secret and a domain, ``room`` a cover of the domain and a place for lists.
    """
    secret, domain = task
    cover, scratch = room
    while True:
        total, unfinished = held(cover)
        if total == 0:
            return -1, used
        drawn, used, hits = propose(words, used, task, balls, (cover, _TRIES))
        if drawn >= 0:
            return drawn, used
        if hits == 0:
            if not unfinished:
                found = members(balls, domain, cover, scratch)
                return _listed(words, used, secret, balls, scratch[:found])
            refine(balls, cover)


@part
def propose(words: Any, used: int, task: Any, balls: Balls, attempt: Any) -> Any:
    """Up to so many proposals from a cover: what was accepted or -1, words, hits."""
    (place, (scale, offset, ceiling)), domain = task
    cover, tries = attempt
    rows, most = balls.rows, np.int64(ceiling)
    total, _ = held(cover)
    hits = 0
    for _ in range(tries):
        if used >= len(words):
            return 0, len(words) + 1, hits
        rank, threshold = below_and_rest(words[used], total, most)
        used += 1
        proposed = located(cover, rank)
        if holds(balls, domain, proposed):
            hits += 1
            distance_km = km_between(rows, place, proposed) - offset
            if threshold < weight_of(distance_km, scale, most):
                return proposed, used, hits
    return -1, used, hits


@part
def _listed(words: Any, used: int, secret: Any, balls: Balls, domain: Any) -> Any:
    """One location of a listed domain (-1: it has none), and the words used so far."""
    place, (scale, offset, ceiling) = secret
    most = np.int64(ceiling)
    if len(domain) == 0:
        return -1, used
    while used < len(words):
        rank, threshold = below_and_rest(words[used], len(domain), most)
        used += 1
        distance_km = km_between(balls.rows, place, domain[rank]) - offset
        if threshold < weight_of(distance_km, scale, most):
            return np.int64(domain[rank]), used
    return 0, len(words) + 1
