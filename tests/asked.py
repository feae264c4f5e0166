"""Subset selection in a few lines of floats, to simulate frequency oracles on small maps."""

from math import exp

import numpy as np

from nomadp.inference.frequencies import Levels


def chances(size, epsilon, count=None):
    """The number of labels of a report, and the probabilities of the true and another label."""
    if count is None:
        count = max(1, round(size / (1 + exp(epsilon))))
    true = count * exp(epsilon) / (count * exp(epsilon) + size - count)
    return count, true, (count - true) / (size - 1)


def supports(people, count, true_chance, rng):
    """The number of reports that contain each label; every report is drawn separately."""
    labels = np.repeat(np.arange(len(people)), people)
    order = rng.random((len(labels), len(people)))
    inside = rng.random(len(labels)) < true_chance
    order[np.arange(len(labels)), labels] = np.where(inside, -1.0, 2.0)
    chosen = np.argpartition(order, count - 1, axis=1)[:, :count]
    return np.bincount(chosen.reshape(-1), minlength=len(people))


def every_label(size, groups=()):
    """Levels in which all labels are equally likely, and each is estimated."""
    return Levels(tuple(groups), np.full(size, 1 / size), np.arange(size))
