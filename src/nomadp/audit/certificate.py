"""What each single draw may cost, checked in exact rationals with no tolerance.

Composition needs three facts about every law met on any path: all inputs can produce the
same outputs, no ratio of their probabilities exceeds e^share, and an exponential law falls
no faster with distance than its public scale. The last one catches a doubled budget that
would hide in the slack of the exponential mechanism, and a scale taken from the secret.
"""

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from nomadp.budget import exp_lower
from nomadp.laws import Channel, Ints, Secret, TableExponential, distance_rows_km

__all__ = ["StepRecord", "StepWitness", "worst_ratio"]

Floats = NDArray[np.float64]
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
        ratio = worst_ratio(weight)
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


def worst_ratio(weight: Ints) -> Fraction | None:
    """The largest ratio of two inputs' probabilities of one output; None where one is zero."""
    if np.any((weight == 0).any(axis=0) & (weight > 0).any(axis=0)):
        return None
    totals = weight.sum(axis=-1)
    worst = Fraction(1)
    for column in weight.T:
        if not column.any():
            continue
        chances = [
            Fraction(int(w), int(total)) for w, total in zip(column, totals, strict=True)
        ]
        worst = max(worst, max(chances) / min(chances))
    return worst


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
