"""The exponential law over a domain of a large set, without a list of the domain.

Propose a location uniformly from cells that hold the domain; if it lies in the domain, accept
it with probability weight / ceiling, else begin again. Whatever is accepted first follows the
law over the domain exactly, however often and from wherever was proposed before. Where nothing
in the domain turns up, or few cells are left to look at, proposals come from a cover instead,
which is refined, and in the end searched: so "empty" is a proof.
"""

from typing import Any

import numpy as np

from nomadp.mechanisms.fast.compiling import part
from nomadp.mechanisms.fast.draws import share, split, weight_of
from nomadp.mechanisms.fast.values import Balls
from nomadp.mechanisms.large.cell_sets import marked, spot
from nomadp.mechanisms.large.covers import begin, held, located, members, refine
from nomadp.mechanisms.large.pairs import holds, km_between

__all__ = ["anywhere", "inside"]

_FEW = 16  # one cell in so many: where no more are marked, they are measured first
_FEW_TRIES = 8  # proposals from marked cells before a domain gets a cover
_TRIES = 12  # proposals before a cover is refined


@part
def anywhere(words: Any, used: int, secret: Any, balls: Balls) -> Any:
    """One location of the whole set, and the words used so far.

    ``secret`` is a location and its law: (scale, offset, ceiling).
    """
    while used < len(words):
        proposed, rest = split(words[used], len(balls.rows))
        used += 1
        if _is_accepted(proposed, rest, secret, balls):
            return proposed, used
    return 0, len(words) + 1


@part
def inside(words: Any, used: int, task: Any, balls: Balls, room: Any) -> Any:
    """One location of a domain (-1: it has none), and the words used so far.

    ``task`` is a secret and a domain; ``room`` has the marks of the domain, and room for a
    cover and for lists, which a domain gets where marks do not find it.
    """
    marks, cover, _ = room
    if marked(marks) == 0:
        return -1, used
    hits = 1 if _FEW * marked(marks) > len(balls.discs) else 0
    while hits > 0:
        drawn, used, hits = _marked(words, used, task, balls, marks)
        if drawn >= 0:
            return drawn, used
    begin(balls, task[1], marks, cover)
    return _covered(words, used, task, balls, room)


@part
def _marked(words: Any, used: int, task: Any, balls: Balls, marks: Any) -> Any:
    """Some proposals from marked cells: what was accepted or -1, words, hits."""
    hits = 0
    for _ in range(_FEW_TRIES):
        if used >= len(words):
            return 0, len(words) + 1, hits
        proposed, rest = spot(balls, marks, words[used])
        used += 1
        if proposed >= 0 and holds(balls, task[1], proposed):
            hits += 1
            if _is_accepted(proposed, rest, task[0], balls):
                return proposed, used, hits
    return -1, used, hits


@part
def _covered(words: Any, used: int, task: Any, balls: Balls, room: Any) -> Any:
    """The same, from a cover that is refined for as long as nothing of the domain turns up."""
    secret, domain = task
    _, cover, scratch = room
    while True:
        total, unfinished = held(cover)
        if total == 0:
            return -1, used
        drawn, used, hits = _held(words, used, task, balls, cover)
        if drawn >= 0:
            return drawn, used
        if hits == 0:
            if not unfinished:
                found = members(balls, domain, cover, scratch)
                return _listed(words, used, secret, balls, scratch[:found])
            refine(balls, cover)


@part
def _held(words: Any, used: int, task: Any, balls: Balls, cover: Any) -> Any:
    """Some proposals from a cover: what was accepted or -1, words, hits."""
    total, _ = held(cover)
    hits = 0
    for _ in range(_TRIES):
        if used >= len(words):
            return 0, len(words) + 1, hits
        rank, rest = split(words[used], total)
        used += 1
        proposed = located(cover, rank)
        if holds(balls, task[1], proposed):
            hits += 1
            if _is_accepted(proposed, rest, task[0], balls):
                return proposed, used, hits
    return -1, used, hits


@part
def _listed(words: Any, used: int, secret: Any, balls: Balls, domain: Any) -> Any:
    """One location of a listed domain (-1: it has none), and the words used so far."""
    if len(domain) == 0:
        return -1, used
    while used < len(words):
        rank, rest = split(words[used], len(domain))
        used += 1
        if _is_accepted(domain[rank], rest, secret, balls):
            return np.int64(domain[rank]), used
    return 0, len(words) + 1


@part
def _is_accepted(proposed: int, rest: Any, secret: Any, balls: Balls) -> Any:
    """With the chance that the secret's law gives it, of what a word has left."""
    place, (scale, offset, ceiling) = secret
    most = np.int64(ceiling)
    distance_km = km_between(balls.rows, place, proposed) - offset
    return share(rest, most) < weight_of(distance_km, scale, most)
