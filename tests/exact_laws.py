"""Compare bulk draws with the exact law that the auditor enumerates."""

from collections import Counter

from many import drawn_many
from scipy import stats
from worlds import final_law, part_laws

from nomadp.randomness import SeededRandom
from nomadp.trajectory import TrajectorySet

CHANCE = 1e-6
"""How rarely a right law is taken for a wrong one; seeds are fixed, so it happens never."""


def assert_bulk_follows(mechanism, trajectory, draws):
    """Chi-square test of many reports of one trajectory over three locations."""
    law = final_law(mechanism, part_laws(mechanism, trajectory))
    many = TrajectorySet.from_lists([list(trajectory)] * draws, size=3)
    reported = drawn_many(mechanism, many, SeededRandom(7)).reshape(draws, -1)
    seen = Counter(map(tuple, reported.tolist()))
    expected = {y: draws * float(p) for y, p in law.items()}
    assert set(seen) <= set(expected)
    statistic = sum((seen[y] - e) ** 2 / e for y, e in expected.items())
    assert statistic <= stats.chi2.isf(CHANCE, len(expected) - 1)
