"""The exponential mechanism over a public domain: nearer outputs are more likely.

McSherry and Talwar (2007), with a distance d as the score. ``span_km`` is any public upper
bound of the domain's width. The weight e^(-share d / 2 span) has privacy loss at most share,
for inputs inside and outside the domain (Eq. 3 of the paper, with the negative distance as
utility).
"""

from abc import abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from nomadp.errors import InvalidArgument, OutOfRange
from nomadp.laws.channel import (
    UNIT,
    Channel,
    Ints,
    Secret,
    check_share,
    check_words,
    clamped,
    heaviest,
)
from nomadp.locations import LocationSet

__all__ = ["Disc", "Exponential", "TableExponential", "distance_rows_km"]

Floats = NDArray[np.float64]


class DistanceLaw(Channel):
    """Weights that fall exponentially with distance, clamped so that rounding cannot leak."""

    span_km: float

    @abstractmethod
    def distances_km(self, secret: Secret) -> Floats:
        """Distances from each secret to every output (last axis), up to a constant."""

    @property
    def scale_per_km(self) -> float:
        # By the triangle inequality, |d(x, r) - d(x, r')| <= d(r, r') <= span for any input x:
        # the weights of one input differ by at most e^(share / 2). Squared distances would not
        # satisfy it. With a span of 0 all outputs are at one place, and equally likely.
        return float(self.share) / (2 * self.span_km) if self.span_km > 0 else 0.0

    def weights(self, secret: Secret) -> Ints:
        # Half of the share bounds the ratio of weights, the other half that of their totals.
        ceiling = heaviest(UNIT, self.share / 2)
        raw = ceiling * np.exp(-self.scale_per_km * self.distances_km(secret))
        return clamped(raw, UNIT, ceiling)

    @property
    def bound(self) -> Fraction:
        # One factor for the weight, one for the total that normalises it.
        return Fraction(heaviest(UNIT, self.share / 2), UNIT) ** 2

    @property
    def extremes(self) -> tuple[Fraction, Fraction]:
        # Least likely: the lightest output among the heaviest. Most likely: the reverse.
        ceiling, others = heaviest(UNIT, self.share / 2), len(self.outputs) - 1
        least = Fraction(UNIT, UNIT + others * ceiling)
        return least, Fraction(ceiling, ceiling + others * UNIT)

    def _check(self) -> None:
        check_share(self.share)
        ceiling = heaviest(UNIT, self.share / 2)
        check_words(UNIT, len(self.outputs) * ceiling, slack_factors=2)  # weight and total

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._law() == other._law()

    def __hash__(self) -> int:
        return hash(self._law())

    @abstractmethod
    def _law(self) -> tuple[object, ...]:
        """All values that determine the law."""


@dataclass(frozen=True)
class Disc:
    """All locations within ``radius_km`` of a released anchor."""

    anchor: int
    radius_km: float


@dataclass(frozen=True, eq=False)
class Exponential(DistanceLaw):
    """Outputs are locations of a domain; the input is any location, inside it or not.

    If the domain lies in a disc, distances are measured from the edge of the disc, so that the
    largest weight is near its ceiling for every input.
    """

    locations: LocationSet
    domain: Ints = field(repr=False)
    span_km: float
    share: Fraction
    disc: Disc | None = None

    def __post_init__(self) -> None:
        if not len(self.domain):
            raise InvalidArgument(
                "the domain of an exponential law must hold at least one location",
                code="no_outputs",
            )
        self._check()

    @property
    def outputs(self) -> Ints:
        return self.domain

    def distances_km(self, secret: Secret) -> Floats:
        # The domain may depend on public and released values only; the secret selects a row.
        row = distance_rows_km(self.locations, secret)
        distance = row[..., self.domain]
        if self.disc is None:
            return distance
        # A constant for each input, so the exponential law is the same; only clamping differs.
        outside = row[..., self.disc.anchor] - self.disc.radius_km
        nearer: Floats = distance - np.maximum(0.0, outside)[..., None]
        return nearer

    def _law(self) -> tuple[object, ...]:
        facts = (self.span_km, self.share, self.disc)
        return (self.locations.sha256, self.domain.tobytes(), *facts)


@dataclass(frozen=True, eq=False)
class TableExponential(DistanceLaw):
    """A law from a public table of distances: inputs are rows, outputs are columns."""

    table_km: Floats = field(repr=False)
    columns: Ints = field(repr=False)
    """The output of each column."""
    span_km: float
    share: Fraction

    def __post_init__(self) -> None:
        if not len(self.columns) or self.table_km.shape[1:] != self.columns.shape:
            raise InvalidArgument(
                "a table of distances must have a column for each output, and at least one, "
                f"got {self.table_km.shape} for {len(self.columns)} outputs",
                code="table_shape_mismatch",
                shape=self.table_km.shape,
                outputs=len(self.columns),
            )
        self._check()

    @property
    def outputs(self) -> Ints:
        return self.columns

    def distances_km(self, secret: Secret) -> Floats:
        row = np.asarray(secret)
        if np.any((row < 0) | (row >= len(self.table_km))):
            raise OutOfRange(
                f"input must be in [0, {len(self.table_km)}); its value is withheld",
                code="input_out_of_range",
                size=len(self.table_km),
            )
        distance: Floats = self.table_km[row]
        return distance

    def _law(self) -> tuple[object, ...]:
        facts = (self.table_km.shape, self.span_km, self.share)
        return (self.table_km.tobytes(), self.columns.tobytes(), *facts)


def distance_rows_km(locations: LocationSet, secret: Secret) -> Floats:
    """Distances from each secret location to every location, along a new last axis."""
    secrets = np.asarray(secret)
    if secrets.ndim == 0:
        return locations.distances_km(int(secrets))
    return np.stack([locations.distances_km(int(location)) for location in secrets])
