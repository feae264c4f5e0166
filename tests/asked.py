"""Subset selection in a few lines of floats, to ask small worlds directly."""

from math import exp

import numpy as np

from nomadp.inference.frequencies import Levels


def chances(size, epsilon, count=None):
    """How many labels a report holds, and how probably the true one and any other."""
    if count is None:
        count = max(1, round(size / (1 + exp(epsilon))))
    true = count * exp(epsilon) / (count * exp(epsilon) + size - count)
    return count, true, (count - true) / (size - 1)


def supports(people, count, true_chance, rng):
    """In how many reports each label is, drawn report by report."""
    labels = np.repeat(np.arange(len(people)), people)
    order = rng.random((len(labels), len(people)))
    inside = rng.random(len(labels)) < true_chance
    order[np.arange(len(labels)), labels] = np.where(inside, -1.0, 2.0)
    chosen = np.argpartition(order, count - 1, axis=1)[:, :count]
    return np.bincount(chosen.reshape(-1), minlength=len(people))


def every_label(size, groups=()):
    """Each as likely as any other, and asked for."""
    return Levels(tuple(groups), np.full(size, 1 / size), np.arange(size))
