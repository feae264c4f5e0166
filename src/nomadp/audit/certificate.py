"""Check the loss of every single draw: exact rationals over the 64-bit words that are drawn.

Adaptive sequential composition bounds the loss of a transcript by the sum of the shares of its
draws, so it is enough to check each law that any path meets. Three rules must hold: all inputs
can produce the same outputs; the ratio of the words that draw an output for two inputs is at
most e^share; and the weights of an exponential law fall no faster with distance than its public
scale allows. The last rule detects two mistakes that the second can miss, because the
exponential mechanism rarely loses all of its share: a doubled budget, and a scale that is
computed from the secret.
"""

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from nomadp.budget import exp_lower
from nomadp.geometry import Floats
from nomadp.laws import Channel, Ints, Secret, TableExponential, distance_rows_km

__all__ = ["StepRecord", "StepWitness", "words_owned", "worst_ratio"]

# Weights of at least 2^24 are rounded down, which changes a log-weight by less than 2^-24. The
# difference of two of them errs by less than that; the rest is for floating point.
_ROUNDING = 2.0**-22


@dataclass
class StepRecord:
    """The largest share and ratio of all draws of one step."""

    share: Fraction = Fraction(0)
    worst_ratio: Fraction | None = Fraction(1)
    """None stands for infinity: an output is possible for one input and not for another."""
    laws: int = 0
    """The number of distinct laws."""


@dataclass
class StepWitness:
    """Checks every law that a walk meets, and records the rules that it breaks.

    Paths meet the same laws again and again, so log-probabilities are kept by law and secrets.
    """

    steps: dict[str, StepRecord] = field(default_factory=dict)
    flags: set[str] = field(default_factory=set)
    _log_laws: dict[tuple[Channel, bytes], Floats] = field(default_factory=dict)

    def __call__(self, step: str, channel: Channel, secret: Secret) -> Floats:
        key = (channel, b"" if secret is None else np.asarray(secret).tobytes())
        if key not in self._log_laws:
            self._log_laws[key] = self._check(step, channel, secret)
        return self._log_laws[key]

    def _check(self, step: str, channel: Channel, secret: Secret) -> Floats:
        weight = np.atleast_2d(channel.weights(secret))
        ratio = _ratio_bound(channel, weight)
        record = self.steps.setdefault(step, StepRecord(channel.share))
        record.laws += 1
        record.share = max(record.share, channel.share)
        if ratio is None:
            self.flags.add("support")
            record.worst_ratio = None
        else:
            if record.worst_ratio is not None:
                record.worst_ratio = max(record.worst_ratio, ratio)
            # A lower bound of e^share: an error of the series can only flag a sound law.
            if ratio > exp_lower(channel.share):
                self.flags.add("step loss")
        if _falls_too_fast(channel, secret, weight):
            self.flags.add("scale")
        with np.errstate(divide="ignore"):
            log_law: Floats = np.log(weight) - np.log(weight.sum(axis=-1, keepdims=True))
        return log_law


def _ratio_bound(channel: Channel, weight: Ints) -> Fraction | None:
    """The largest ratio of words over all outputs and pairs of inputs; None if infinite.

    It is exact for laws that take one word, and an upper bound for those that take several.
    """
    if channel.stretch is None:
        return worst_ratio(weight)
    # Several words make too many combinations to count. Bring the probabilities of all inputs
    # to a common denominator, and add what the rounding to words can contribute at most.
    total = weight.sum(axis=-1, keepdims=True).astype(object)
    common = math.lcm(*total.ravel().tolist())
    ratio = _largest_ratio(weight.astype(object) * (common // total))
    return None if ratio is None else ratio * channel.stretch


def worst_ratio(weight: Ints) -> Fraction | None:
    """The largest ratio of the words that draw one output for two inputs; None if infinite."""
    return _largest_ratio(words_owned(weight))


def _largest_ratio(count: NDArray[np.object_]) -> Fraction | None:
    # For each output, the worst pair of inputs is that of its largest and smallest count.
    most, least = count.max(axis=0), count.min(axis=0)
    if np.any((least == 0) & (most > 0)):
        return None
    possible = most > 0
    return max(map(Fraction, most[possible], least[possible]), default=Fraction(1))


def words_owned(weight: Ints) -> NDArray[np.object_]:
    """The number of 64-bit words that draw each output for each input, as `draw` maps them."""
    # Word w draws an output at or before y if floor(w T / 2^64) < C_y, with the cumulative
    # weights C and their total T. That holds if and only if w < ceil(2^64 C_y / T). Python's
    # integers (dtype object) keep the product exact.
    cumulative = np.cumsum(weight, axis=-1).astype(object)
    end = -(-cumulative * 2**64 // cumulative[..., -1:])
    owned: NDArray[np.object_] = np.diff(end, axis=-1, prepend=0)
    return owned


def _falls_too_fast(channel: Channel, secret: Secret, weight: Ints) -> bool:
    """Whether two log-weights of an input differ by more than scale |d(x, y) - d(x, y')|.

    If none do, the triangle inequality bounds the loss: another input x' changes the weight
    exp(-scale d(x, y)) by a factor of at most e^(scale d(x, x')), and the normalising constant
    by as much. With scale = share / (2 span), both together are at most e^share (exponential
    mechanism, McSherry and Talwar 2007).
    """
    scale = getattr(channel, "scale_per_km", None)
    if scale is None or not weight.all():  # weights of 0 break the rule of equal support
        return False
    distance = np.atleast_2d(_public_distances_km(channel, secret))
    log_weight = np.log(weight)
    fall = np.abs(log_weight[:, :, None] - log_weight[:, None, :])
    allowed = scale * np.abs(distance[:, :, None] - distance[:, None, :])
    return bool((fall > allowed + _ROUNDING).any())


def _public_distances_km(channel: Channel, secret: Secret) -> Floats:
    """Distances from the public map or table, so that a law cannot vouch for itself."""
    if isinstance(channel, TableExponential):
        return np.asarray(channel.table_km[np.asarray(secret)])
    return distance_rows_km(channel.locations, secret)[..., channel.outputs]  # type: ignore[attr-defined]
