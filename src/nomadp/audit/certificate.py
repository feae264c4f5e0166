"""What each single draw costs, counted in words, and decided in exact rationals.

Composition needs three facts about every law met on any path: all inputs can produce the
same outputs, no ratio of the words that draw them exceeds e^share, and an exponential law falls
no faster with distance than its public scale. The last one catches a doubled budget that
would hide in the slack of the exponential mechanism, and a scale taken from the secret.
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

_ROUNDING = 2.0**-22  # weights are at least 2^24 and truncated: two logs err by less than this


@dataclass
class StepRecord:
    """The worst that was seen of one kind of draw."""

    share: Fraction = Fraction(0)
    worst_ratio: Fraction | None = Fraction(1)
    """None stands for infinity: an output possible for one input and not for another."""
    laws: int = 0


@dataclass
class StepWitness:
    """Examines every law a walk meets, once, and remembers what was wrong with it."""

    steps: dict[str, StepRecord] = field(default_factory=dict)
    flags: set[str] = field(default_factory=set)
    _known: dict[tuple[Channel, bytes], Floats] = field(default_factory=dict)

    def __call__(self, step: str, channel: Channel, secret: Secret) -> Floats:
        read = b"" if secret is None else np.asarray(secret).tobytes()
        key = (channel, read)
        if key not in self._known:
            self._known[key] = self._examine(step, channel, secret)
        return self._known[key]

    def _examine(self, step: str, channel: Channel, secret: Secret) -> Floats:
        weight = np.atleast_2d(channel.weights(secret))
        ratio = _ratio(channel, weight)
        record = self.steps.setdefault(step, StepRecord(channel.share))
        record.laws += 1
        record.share = max(record.share, channel.share)
        if ratio is None:
            self.flags.add("support")
            record.worst_ratio = None
        else:
            if record.worst_ratio is not None:
                record.worst_ratio = max(record.worst_ratio, ratio)
            if ratio > exp_lower(channel.share):
                self.flags.add("step loss")
        if _falls_too_fast(channel, secret, weight):
            self.flags.add("scale")
        with np.errstate(divide="ignore"):
            log_law: Floats = np.log(weight) - np.log(weight.sum(axis=-1, keepdims=True))
        return log_law


def _ratio(channel: Channel, weight: Ints) -> Fraction | None:
    """What one output costs: in words, or in weights and what several words may add."""
    if channel.stretch is None:
        return worst_ratio(weight)
    total = weight.sum(axis=-1, keepdims=True).astype(object)
    common = math.lcm(*total.ravel().tolist())
    found = _worst(weight.astype(object) * (common // total))
    return None if found is None else found * channel.stretch


def worst_ratio(weight: Ints) -> Fraction | None:
    """The largest ratio of the words that draw one output for two inputs; None: infinite."""
    return _worst(words_owned(weight))


def _worst(owned: NDArray[np.object_]) -> Fraction | None:
    most, least = owned.max(axis=0), owned.min(axis=0)
    if np.any((least == 0) & (most > 0)):
        return None
    possible = most > 0
    return max(map(Fraction, most[possible], least[possible]), default=Fraction(1))


def words_owned(weight: Ints) -> NDArray[np.object_]:
    """How many of the 2^64 words draw each output, for each input: exactly what runs."""
    ends = np.cumsum(weight, axis=-1).astype(object)
    first_beyond = -(-ends * 2**64 // ends[..., -1:])
    owned: NDArray[np.object_] = np.diff(first_beyond, axis=-1, prepend=0)
    return owned


def _falls_too_fast(channel: Channel, secret: Secret, weight: Ints) -> bool:
    scale = getattr(channel, "scale_per_km", None)
    if scale is None or not weight.all():
        return False
    distance = np.atleast_2d(_public_distances_km(channel, secret))
    log_weight = np.log(weight)
    fall = np.abs(log_weight[:, :, None] - log_weight[:, None, :])
    allowed = scale * np.abs(distance[:, :, None] - distance[:, None, :])
    return bool((fall > allowed + _ROUNDING).any())


def _public_distances_km(channel: Channel, secret: Secret) -> Floats:
    """From the public map or table itself, not by the words of the law that is examined."""
    if isinstance(channel, TableExponential):
        return np.asarray(channel.table_km[np.asarray(secret)])
    return distance_rows_km(channel.locations, secret)[..., channel.outputs]  # type: ignore[attr-defined]
