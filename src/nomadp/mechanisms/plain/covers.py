"""Nodes of the tree that together hold a whole domain: kernels/covers.py, many at a time.

The entries of all covers stand in one list, draw by draw. Those of draws that go down a level
are taken out, divided together, and put back.
"""

from typing import NamedTuple

import numpy as np

from nomadp.laws import Ints
from nomadp.mechanisms.fast.arrays import Booleans
from nomadp.mechanisms.fast.values import Balls
from nomadp.mechanisms.plain.edges import depths, edges_of
from nomadp.mechanisms.plain.marks import Bytes, marked_cells
from nomadp.mechanisms.plain.ragged import runs
from nomadp.mechanisms.plain.sights import Domains

__all__ = ["Covers"]

_SLACK = 1e-12  # of the Earth's radius: six micrometres, far above any rounding
_PATIENT = 6  # a rejected proposal costs about as much as so many entries of a descent
_MOST_PATIENT = 2**20


class Entries(NamedTuple):
    """Nodes of covers, and a guess how many of a node's locations lie in the domain."""

    owner: Ints
    node: Ints
    crosses: Booleans
    likely: Ints

    def some(self, some: Booleans | Ints) -> "Entries":
        owner, node, crosses, likely = self
        return Entries(owner[some], node[some], crosses[some], likely[some])


class Covers:
    """One cover for each of some draws."""

    def __init__(self, balls: Balls, domains: Domains, cells: Bytes) -> None:
        """Coarse ones, beginning at the cells that are marked."""
        count = len(domains.edge)
        self._balls, self._edges = balls, edges_of(balls, domains)
        self._patience = np.full(count, _PATIENT)
        self.total, self.open, self._likely, self._count = np.zeros((4, count), dtype=np.int64)
        owner, cell = marked_cells(cells)
        node = cell + len(balls.discs) - 1
        is_met, crosses, likely = self._met(owner, node)
        entries = Entries(owner, node, crosses, likely).some(is_met)
        self._measure(np.ones(count, dtype=np.bool_), entries)
        self._settle(entries, self._is_worth_it())

    def refine(self, which: Ints) -> None:
        """Go down in these covers, and be ready to go deeper than the time before."""
        self._patience[which] = np.minimum(4 * self._patience[which], _MOST_PATIENT)
        going = np.zeros(len(self.total), dtype=np.bool_)
        going[which] = True
        if len(which):
            self._settle(self._entries, going)

    def keep(self, which: Ints) -> None:
        """Forget the entries of all others, of which nothing more is asked."""
        kept = np.zeros(len(self.total), dtype=np.bool_)
        kept[which] = True
        self.total[~kept] = self.open[~kept] = 0
        self._keep(self._entries.some(kept[self._entries.owner]))

    def located(self, which: Ints, rank: Ints) -> Ints:
        """The location of a rank among all that each of these covers holds."""
        rank = self._before[which] + rank
        at = np.searchsorted(self._upto, rank, side="right")
        return rank + self._shift[at]

    def held(self, which: Ints) -> tuple[Ints, Ints]:
        """All that these covers hold, and in which of them, by its number here, it is."""
        rank, owner = runs(np.zeros(len(which), dtype=np.int64), self.total[which])
        return self.located(which[owner], rank), owner

    def _keep(self, entries: Entries) -> None:
        """What is needed to find a rank's location, of entries in the order of their owners."""
        start, size = self._runs(entries.node)
        self._entries = entries
        self._before = np.cumsum(self.total) - self.total
        self._upto = np.cumsum(size)
        self._shift = start - (self._upto - size)

    def _settle(self, entries: Entries, going: Booleans) -> None:
        """Go down where told, then for as long as the proposals this may save cost more."""
        settled = []
        while going.any():
            moving = going[entries.owner]
            settled.append(entries.some(~moving))
            entries = self._descended(entries.some(moving))
            self._measure(going, entries)
            going = going & self._is_worth_it()
        settled.append(entries)
        self._keep(_sorted(settled))

    def _is_worth_it(self) -> Booleans:
        spared = self._patience * (self.total - self._likely)
        return np.asarray((self.open > 0) & (spared > self._count * self._likely))

    def _descended(self, entries: Entries) -> Entries:
        """One level down, wherever a node crosses an edge."""
        left = self._balls.nodes[entries.node, 2].astype(np.int64)
        divided = entries.crosses & (left > 0)
        node, source = runs(np.where(divided, left, entries.node), 1 + divided)
        owner, crosses = entries.owner[source], entries.crosses[source]
        _, size = self._runs(node)
        likely, is_met = np.where(crosses, size // 2, size), np.ones(len(node), dtype=np.bool_)
        new = np.flatnonzero(divided[source])
        is_met[new], crosses[new], likely[new] = self._met(owner[new], node[new])
        return Entries(owner, node, crosses, likely).some(is_met)

    def _met(self, owner: Ints, node: Ints) -> tuple[Booleans, Booleans, Ints]:
        """Whether nodes may hold some of their owners' domains, cross an edge, and likely."""
        ball, (_, size) = self._balls.ball[node], self._runs(node)
        depth, reach = depths(ball, self._edges, owner), ball[:, 3] + _SLACK
        crosses = depth <= reach
        likely = (size * ((depth + reach) / (2 * reach))).astype(np.int64)
        return ~(depth < -reach), crosses, np.where(crosses, likely, size)

    def _measure(self, which: Booleans, entries: Entries) -> None:
        """What is known of these covers as wholes, from their entries."""
        _, size = self._runs(entries.node)
        still_open = entries.crosses & (self._balls.nodes[entries.node, 2] > 0)
        for known, of_entry in (
            (self._count, np.ones(len(size))),
            (self.total, size),
            (self.open, size * still_open),
            (self._likely, entries.likely),
        ):
            # Sums of whole numbers, far below 2^53.
            summed = np.bincount(entries.owner, weights=of_entry, minlength=len(known))
            known[which] = summed[which].astype(np.int64)

    def _runs(self, node: Ints) -> tuple[Ints, Ints]:
        """Where each node's locations begin, and how many they are."""
        start, end, _ = self._balls.nodes[node].T.astype(np.int64)
        return start, end - start


def _sorted(settled: list[Entries]) -> Entries:
    """Entries of several lists in the order of their owners, each of which is in one list."""
    owner = np.concatenate([entries.owner for entries in settled])
    together = Entries(
        owner,
        np.concatenate([entries.node for entries in settled]),
        np.concatenate([entries.crosses for entries in settled]),
        np.concatenate([entries.likely for entries in settled]),
    )
    return together.some(np.argsort(owner, kind="stable"))
