"""What an epsilon buys on a map, in kilometres, before anybody has sent anything.

Simulated on walks of the public recipe, never on anybody's trajectories, so asking costs no
privacy. The same question gets the same answer: walks and noise come from a fixed seed. Walks
are not people; what real reports will be worth depends on where people go.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from nomadp.analysis.metrics import error_km_each, within_percent_each
from nomadp.inference import can_decode, decode
from nomadp.laws import Ints
from nomadp.locations import LocationSet
from nomadp.mechanisms import Mechanism
from nomadp.mechanisms.atlas import WholeJourney
from nomadp.mechanisms.atlas.book import public_walks
from nomadp.mechanisms.atlas.long import control_positions, interpolated
from nomadp.mechanisms.paths import perturb_many
from nomadp.randomness import SimulatedWords
from nomadp.reports.header import Header
from nomadp.reports.table import reports_as
from nomadp.sequences import Sequences
from nomadp.trajectory import TrajectorySet

__all__ = ["WALKS", "Calibration", "Quality", "calibrate", "default_radii_km", "public_tracks"]

WALKS = 2000
TURNS = 16
"""A longer public track is straight between so many points of a walk."""
RADII_KM = (0.5, 1.0, 2.0, 5.0)
RADIUS_SHARES = (0.02, 0.05, 0.1, 0.2)
"""Of the largest distance, on sets so small that the radii in km would hold all of them."""
_AT_ONCE = 250  # walks perturbed between two signs of progress

Progress = Callable[[int], None]
"""Told how many walks were perturbed since it was last called."""


@dataclass(frozen=True)
class Quality:
    """How good one kind of answer is on average, with the standard errors of simulating."""

    error_km: float
    error_deviation_km: float
    normalised_error: float
    within_percent: tuple[float, ...]
    """Of points, within each of the radii."""
    within_deviation: tuple[float, ...]


@dataclass(frozen=True)
class Calibration:
    """What reports of one mechanism are worth on public walks of one length."""

    length: int
    walks: int
    diameter_km: float
    radii_km: tuple[float, ...]
    answers: dict[str, Quality]
    """Best first: decoded (where it can be), reported, without noise (of long tracks read
    through control points), and constant, which is what no information gives."""

    @property
    def best(self) -> Quality:
        """Of the answers that were made from reports."""
        return self.answers.get("decoded", self.answers["reported"])

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def calibrate(
    mechanism: Mechanism,
    length: int,
    radii_km: Sequence[float] = RADII_KM,
    *,
    walks: int = WALKS,
    progress: Progress | None = None,
) -> Calibration:
    """What the epsilon of ``mechanism`` buys: public tracks reported, decoded, compared in km.

    ``length`` is the number of points of a track, ``radii_km`` those within which answers are
    counted, ``walks`` how many tracks are simulated. ``answers`` holds what is decoded and
    reported, beside the best constant, which is what no information gives. The same question
    gets the same answer, and no trajectory of anybody is read. ``progress`` is told how many
    more walks are done.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(seed=1, places=50, trips=1)
    >>> brr = nomadp.make_mechanism("brr", city.locations, epsilon=8)
    >>> bought = nomadp.calibrate(brr, length=2, walks=100)
    >>> bought.best.error_km < bought.answers["constant"].error_km
    True
    """
    locations = mechanism.locations
    true = public_tracks(locations, length, walks)
    found = _answers(mechanism, true, length, _reported(mechanism, true, progress))
    return Calibration(
        length,
        walks,
        locations.diameter_km,
        tuple(map(float, radii_km)),
        {name: _quality(locations, true, there, radii_km) for name, there in found.items()},
    )


def _answers(
    mechanism: Mechanism, true: TrajectorySet, length: int, reported: Ints
) -> dict[str, Ints]:
    """What may be answered for every point, best first."""
    found: dict[str, Ints] = {}
    if can_decode(mechanism):
        rows = Sequences(true.offsets, reported, true.tids)
        made = reports_as(Header.made_by(mechanism), mechanism.locations, rows)
        found["decoded"] = decode(mechanism, made).locations
    found["reported"] = reported
    if isinstance(mechanism, WholeJourney) and length > mechanism.control_points:
        found["without noise"] = _through_control_points(mechanism, true, length)
    found["constant"] = np.full(len(reported), mechanism.locations.medoid)
    return found


def public_tracks(locations: LocationSet, length: int, count: int) -> TrajectorySet:
    """Walks of the public recipe; a long one is straight between its `TURNS` turning points."""
    turns = min(length, TURNS)
    walks = public_walks(locations, turns, count, "calibration").astype(np.int64)
    rows = np.stack(interpolated(locations, walks.T, length), axis=1)
    return _rows(rows)


def default_radii_km(locations: LocationSet) -> tuple[float, ...]:
    """Radii that tell something on this map."""
    widest_km = locations.diameter_km
    if not 0 < widest_km < 2 * RADII_KM[-1]:
        return RADII_KM
    return tuple(float(f"{share * widest_km:.2g}") for share in RADIUS_SHARES)


def _reported(mechanism: Mechanism, true: TrajectorySet, progress: Progress | None) -> Ints:
    # Not bound to the identity: the same words at every epsilon make answers comparable.
    words = SimulatedWords(0).bound_to(f"calibration/{mechanism.name}")
    pieces = []
    for start in range(0, len(true), _AT_ONCE):
        some = true.select(range(start, min(start + _AT_ONCE, len(true))))
        pieces.append(perturb_many(mechanism, some, words.named(some.tids)).locations)
        if progress is not None:
            progress(len(some))
    return np.concatenate(pieces)


def _through_control_points(mechanism: WholeJourney, true: TrajectorySet, length: int) -> Ints:
    """The tracks as they would come back if their control points were reported truly."""
    rows = true.locations.reshape(-1, length)
    control = rows[:, control_positions(length, mechanism.control_points)]
    back = np.stack(interpolated(mechanism.locations, control.T, length), axis=1)
    return np.asarray(back, dtype=np.int64).reshape(-1)


def _rows(rows: Ints) -> TrajectorySet:
    count, length = rows.shape
    tids = tuple(map(str, range(count)))
    return TrajectorySet(np.arange(count + 1) * length, rows.reshape(-1), tids)


def _quality(
    locations: LocationSet, true: TrajectorySet, there: Ints, radii_km: Sequence[float]
) -> Quality:
    answer = TrajectorySet(true.offsets, there, true.tids)
    error_km = error_km_each(locations, true, answer)
    within = [within_percent_each(locations, true, answer, radius) for radius in radii_km]
    widest_km = locations.diameter_km
    return Quality(
        float(error_km.mean()),
        _deviation(error_km),
        float(error_km.mean()) / widest_km if widest_km else 0.0,
        tuple(float(each.mean()) for each in within),
        tuple(map(_deviation, within)),
    )


def _deviation(each: Any) -> float:
    """The standard error of a mean over independent walks."""
    return float(each.std(ddof=1) / np.sqrt(len(each))) if len(each) > 1 else 0.0
