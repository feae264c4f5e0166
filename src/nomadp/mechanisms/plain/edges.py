"""The edges of domains in space, and how deep inside of them a ball's centre lies."""

import numpy as np

from nomadp.geometry import Floats
from nomadp.laws import Ints
from nomadp.mechanisms.fast.values import Balls
from nomadp.mechanisms.plain.sights import Domains, unit_vectors

__all__ = ["depths", "edges_of"]

_NO_EDGE = 4.0  # farther than anything on the unit sphere


def edges_of(balls: Balls, domains: Domains) -> Floats:
    """The edges of each domain, its disc's and those of its sectors: (5, 4, domains)."""
    edges = np.zeros((5, 4, len(domains.edge)))
    edges[:, 3] = _NO_EDGE
    if domains.anchor is not None:
        # Chords hardly grow towards the antipode: a wide disc is what is far from there.
        wide, here = domains.edge > 0.5, unit_vectors(balls.rows, domains.anchor)
        edges[0, :3] = np.where(wide, -1.0, 1.0) * np.stack(here)
        reach = 2 * np.sqrt(np.where(wide, 1 - domains.edge, domains.edge))
        edges[0, 3] = np.where(wide, -reach, reach)
    for side in range(2):
        there = np.flatnonzero(domains.pivots[side] >= 0)
        pivot, sector = domains.pivots[side][there], domains.reported[side][there]
        for k in range(2):
            edges[2 * side + 1 + k][:, there] = _half_space(balls, pivot, sector, k)
    return edges


def _half_space(balls: Balls, pivot: Ints, sector: Ints, end: int) -> Floats:
    """One of two half-spaces whose intersection is a sector: directions that point inwards."""
    a, borders = balls.rows[pivot].T, balls.borders
    sin_lng, cos_lng = 2 * a[2] * a[3], a[3] * a[3] - a[2] * a[2]
    border, inwards = (sector + end) % len(borders), 2 * end - 1
    north, east = inwards * borders[border, 0], inwards * borders[border, 1]
    x = -north * a[4] * cos_lng - east * sin_lng
    y = -north * a[4] * sin_lng + east * cos_lng
    return np.stack([x, y, north * a[5], np.zeros(len(pivot))])


def depths(ball: Floats, edges: Floats, owner: Ints) -> Floats:
    """How deep inside its owner's domain each ball's centre lies: the least of all edges."""
    x, y, z, _ = ball.T
    centre = edges[0][:, owner]
    dx, dy, dz = x - centre[0], y - centre[1], z - centre[2]
    apart = np.sqrt(dx * dx + dy * dy + dz * dz)
    depth = np.where(centre[3] >= 0, centre[3] - apart, centre[3] + apart)
    for edge in edges[1:]:
        if (edge[3] < _NO_EDGE).any():
            side = edge[:, owner]
            depth = np.minimum(depth, x * side[0] + y * side[1] + z * side[2] + side[3])
    return np.asarray(depth)
