"""How the share of a group is split among its parts: Bayes, with a prior that is learned.

A split is prior-wise a Beta variable around what is public, or exactly that; how far it may
stray is told by all splits of one level together (expectation-maximisation over a few
concentrations), and by the levels above. So many reports are taken as they are, and few are
hardly listened to. The likelihood is a normal one with the known variance.
"""

from typing import NamedTuple

import numpy as np

from nomadp.inference.estimate import Floats

__all__ = ["Splits", "Spread", "posterior", "unlearned"]

Spread = Floats
"""How probable it is that splits are public, or stray as each of `CONCENTRATIONS` says."""

CONCENTRATIONS = 4.0 ** np.arange(4, -4, -1)
"""A split p strays by the root of p (1 - p) / (1 + concentration)."""
_FIRST, _NEXT = 0.5, 0.5  # of a public split; and of each concentration against the one before
_AS_MANY = 15.0  # splits that the levels above count for
_ROUNDS = 40
_AROUND = 14 * np.sinh(np.linspace(-5, 5, 41)) / np.sinh(5)  # log-odds, denser in the middle
_ERRORS = np.linspace(-4, 4, 25)
_LEAST = 1e-9
_AT_ONCE = 4096


def unlearned() -> Spread:
    weight = _NEXT ** np.arange(len(CONCENTRATIONS))
    return np.concatenate([[_FIRST], (1 - _FIRST) * weight / weight.sum()])


class Splits(NamedTuple):
    """What is said of the splits of one level."""

    expected: Floats
    spread: Spread
    told: Floats
    """By how much each is likelier than if all were public, as a logarithm."""


def posterior(found: Floats, variance: Floats, public: Floats, before: Spread) -> Splits:
    """The expected splits, given unbiased ones, and how far splits stray."""
    some = range(0, len(found), _AT_ONCE)
    rows = [slice(start, start + _AT_ONCE) for start in some]
    each = [_by_concentration(found[k], variance[k], public[k]) for k in rows]
    evidence = np.concatenate([one for one, _ in each])
    expected = np.concatenate([two for _, two in each])
    spread = before
    for _ in range(_ROUNDS):
        explained = (evidence * spread) / (evidence @ spread)[:, None]
        spread = explained.sum(axis=0) + _AS_MANY * before
        spread = spread / spread.sum()
    weight = evidence * spread
    chance = weight.sum(axis=1)
    told = np.log(chance / np.maximum(evidence[:, 0], np.finfo(float).tiny))
    return Splits((weight * expected).sum(axis=1) / chance, spread, told)


def _by_concentration(found: Floats, variance: Floats, public: Floats) -> tuple[Floats, Floats]:
    """For a public split and each concentration: how likely, and the expected split."""
    from scipy.special import betaln, log_expit, logit  # slow to import

    near = np.clip(found, 0, 1)[:, None] + np.sqrt(variance)[:, None] * _ERRORS
    odds = np.concatenate(
        [logit(public)[:, None] + _AROUND, logit(np.clip(near, _LEAST, 1 - _LEAST))], axis=1
    )
    odds.sort(axis=1)
    width = np.gradient(odds, axis=1)  # of the trapezoidal rule
    log_here, log_other = log_expit(odds), log_expit(-odds)
    here = np.exp(log_here)
    log_chance = -((found[:, None] - here) ** 2) / (2 * variance[:, None])
    log_public = -((found - public) ** 2) / (2 * variance)
    top = np.maximum(log_chance.max(axis=1), log_public)
    chance = np.exp(log_chance - top[:, None])
    shape = public[:, None] * log_here + (1 - public)[:, None] * log_other
    evidence, expected = [np.exp(log_public - top)], [public]
    for times in CONCENTRATIONS:
        one, two = times * public, times * (1 - public)
        scale = betaln(one, two)
        mass = np.exp(times * shape - scale[:, None]) * width
        # Beyond the outermost odds: there may be nobody at all.
        mass[:, 0] += np.exp(one * log_here[:, 0] - scale) / one
        mass[:, -1] += np.exp(two * log_other[:, -1] - scale) / two
        mass *= chance
        total = np.maximum(mass.sum(axis=1), np.finfo(float).tiny)
        evidence.append(total)
        expected.append((mass * here).sum(axis=1) / total)
    return np.stack(evidence, axis=1), np.stack(expected, axis=1)
