"""Posteriors in exact rationals, by plain sums: slow, but obviously correct."""

from fractions import Fraction


def law(channel, support):
    """P(report | truth) for each truth (row) and report."""
    rows = [channel.weights(truth) for truth in support]
    return [[Fraction(int(w), int(row.sum())) for w in row] for row in rows]


def posterior(chances, prior, report):
    joint = [p * row[report] for p, row in zip(prior, chances, strict=True)]
    return [j / sum(joint) for j in joint]


def expected_km(locations, mass, truths, answer):
    """The expected distance between truth and answer, exact for the rounded distances."""
    row = locations.distances_km(answer)
    return sum(p * Fraction(float(row[t])) for p, t in zip(mass, truths, strict=True))
