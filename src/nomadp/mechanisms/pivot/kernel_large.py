"""TP and ATP over a large set: the steps of pivot.py, on balls instead of tables."""

from typing import Any

import numpy as np

from nomadp.mechanisms.fast.compiling import kernel, part
from nomadp.mechanisms.fast.draws import response, toss
from nomadp.mechanisms.fast.values import Balls, Batch, Drawn, Plan
from nomadp.mechanisms.large.cell_sets import mark, narrow, new_marks
from nomadp.mechanisms.large.covers import new_cover
from nomadp.mechanisms.large.pairs import domain_of, km_between, sector_between
from nomadp.mechanisms.large.rejection import inside
from nomadp.mechanisms.pivot.kernel_discs import draw_disc, new_disc_room

__all__ = ["pivot_sampling"]


@kernel
def pivot_sampling(batch: Batch, balls: Balls, plan: Plan, drawn: Drawn) -> None:
    """Both copies of every trajectory, and its coins."""
    scratch, disc_room = np.empty(len(balls.rows), dtype=np.int32), new_disc_room(balls)
    cover = new_cover(balls)
    rooms = (new_marks(balls), cover, scratch), (new_marks(balls), cover, scratch)
    for k in range(len(batch.offsets) - 1):
        start, end = batch.offsets[k], batch.offsets[k + 1]
        places, words = batch.locations[start:end], batch.words[k]
        mean = batch.means[k] if len(batch.means) else 0
        used = 0
        for copy in range(1 if plan.alone and end - start == 1 else 2):
            task = (copy, (places, mean, disc_room), drawn.copies[copy, start:end])
            used = _copy(words, used, task, (balls, plan), rooms)
        drawn.used[k] = toss(words, used, (start, end), plan, drawn)


@part
def _copy(words: Any, used: int, task: Any, public: Any, rooms: Any) -> int:
    """One copy of one trajectory; returns the words used so far."""
    copy, secrets, out = task
    balls, plan = public
    places = secrets[0]
    size = len(places)
    disc, used = draw_disc(words, used, secrets, balls, plan)
    region = domain_of((disc[0], disc[1]), (-1, -1), (0, 0))
    if used > len(words):
        return used
    mark(balls, region, rooms[0][0])
    for i in range(copy, size, 2):
        if used > len(words):
            return used
        secret = (places[i], _law(plan.pivot[copy, size], places[i], balls, disc))
        out[i], used = inside(words, used, (secret, region), balls, rooms[0])
    for i in range(1 - copy, size, 2):
        if used > len(words):
            return used
        secret = (places[i], _law(plan.point[copy, size], places[i], balls, disc))
        pivots = (out[i - 1] if i > 0 else -1, out[i + 1] if plan.both and i + 1 < size else -1)
        heavy = plan.heavy[copy, size]
        reported, used = _directions(words, used, places[i], pivots, (balls, heavy))
        domain = domain_of((disc[0], disc[1]), pivots, reported)
        out[i], used = _target(words, used, (secret, domain, region), balls, rooms)
    return used


@part
def _law(law: Any, place: int, balls: Balls, disc: Any) -> Any:
    """Scale, offset and ceiling of the exponential law for one secret."""
    anchor, radius_km, span_km = disc
    offset = 0.0
    if anchor >= 0:
        offset = max(0.0, km_between(balls.rows, place, anchor) - radius_km)
    return (law[0] / (2 * span_km) if span_km > 0 else 0.0, offset, law[1])


@part
def _directions(words: Any, used: int, place: int, pivots: Any, public: Any) -> Any:
    """The reported sector from each pivot there is, and the words used so far."""
    balls, heavy = public
    count = len(balls.borders)
    first = second = 0
    if pivots[0] >= 0:
        seen = sector_between(balls.rows, pivots[0], place, balls.borders)
        first = response(words, used, seen, count, heavy)
        used += 1
    if pivots[1] >= 0:
        seen = sector_between(balls.rows, pivots[1], place, balls.borders)
        second = response(words, used, seen, count, heavy)
        used += 1
    return (first, second), used


@part
def _target(words: Any, used: int, task: Any, balls: Balls, rooms: Any) -> Any:
    """One target from the reported sectors; from the whole region where they hold nothing."""
    secret, domain, region = task
    if domain.pivots[0] < 0 and domain.pivots[1] < 0:
        return inside(words, used, (secret, region), balls, rooms[0])
    narrow(balls, domain, rooms[0][0], rooms[1][0])
    drawn, used = inside(words, used, (secret, domain), balls, rooms[1])
    if drawn >= 0:
        return drawn, used
    # Emptiness is public: it follows from released pivots and sectors alone.
    return inside(words, used, (secret, region), balls, rooms[0])
