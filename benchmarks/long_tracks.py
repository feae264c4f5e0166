"""Long tracks: few control points with all of epsilon, or all points in pieces that share it?

    python benchmarks/long_tracks.py            about four minutes on two idle cores

Uses synthetic GPS tracks in the generated city: people move between locations at a constant
speed on curved legs, and receivers have an error of some metres. Prints the NE of the decoded
estimates and of the best constant answer; the smallest error in each row is marked.
"""

import argparse
from collections.abc import Iterator

import numpy as np

from nomadp.analysis import constant_answer, error_km_each
from nomadp.datasets.city import synthetic_city
from nomadp.engine import perturb_set
from nomadp.geometry import EARTH_RADIUS_KM
from nomadp.inference import decode
from nomadp.laws import Ints
from nomadp.locations import LocationSet
from nomadp.mechanisms.atlas import Atlas
from nomadp.mechanisms.atlas.long import control_positions, interpolated
from nomadp.randomness import SeededRandom
from nomadp.trajectory import TrajectorySet

LENGTHS = (20, 60, 200)
EPSILONS = (1, 4, 6, 10)
CONTROL_POINTS = (2, 3, 4, 6, 8)
PIECE = 8
STOPS = (2, 5)
"""The smallest and largest number of stops of a track."""
DETOUR_SHARE = 0.15
"""The deviation of a leg from a straight line, as a share of its length."""
NOISE_KM = 0.01


def gps_tracks(
    places: int, tracks: int, length: int, seed: int = 1, city_seed: int = 1
) -> tuple[LocationSet, Ints]:
    """Tracks between random stops, snapped to the nearest locations; one row per track."""
    rng = np.random.default_rng(seed)
    city = synthetic_city(seed=city_seed, places=places, trips=20_000)
    popular = city.trajectories.locations
    rows = np.empty((tracks, length), dtype=np.int64)
    for k in range(tracks):
        stops = rng.choice(popular, rng.integers(STOPS[0], STOPS[1] + 1))
        lat, lng = along(city.locations, stops, length, rng)
        rows[k] = city.locations.nearest(lat, lng)
    return city.locations, rows


def along(locations: LocationSet, stops: Ints, length: int, rng: np.random.Generator):
    """Points at a constant speed from stop to stop, on curved legs."""
    lat, lng = locations.lat[stops], locations.lng[stops]
    legs_km = locations.distances_between_km(stops[:-1], stops[1:]) + 1e-6
    progress = np.concatenate([[0], np.cumsum(legs_km)]) / legs_km.sum()
    time = np.linspace(0, 1, length)
    leg = np.clip(np.searchsorted(progress, time, "right") - 1, 0, len(legs_km) - 1)
    share = (time - progress[leg]) / (progress[leg + 1] - progress[leg])
    bend = rng.normal(0, DETOUR_SHARE, len(legs_km))[leg] * np.sin(np.pi * share)
    north, east = np.diff(lat)[leg], np.diff(lng)[leg]
    noise = np.degrees(NOISE_KM / EARTH_RADIUS_KM) * rng.normal(size=(2, length))
    return (
        lat[leg] + share * north - bend * east + noise[0],
        lng[leg] + share * east + bend * north + noise[1],
    )


def as_set(rows: Ints) -> TrajectorySet:
    count, length = rows.shape
    names = tuple(map(str, range(count)))
    return TrajectorySet(np.arange(count + 1) * length, rows.reshape(-1), names)


def by_control_points(locations: LocationSet, rows: Ints, epsilon: int, count: int) -> Ints:
    """Spend all of epsilon on a few control points, and interpolate in between."""
    mechanism = Atlas(locations=locations, epsilon=epsilon, control_points=count)
    return estimated(mechanism, rows)


def in_pieces(locations: LocationSet, rows: Ints, epsilon: int) -> Ints:
    """Report every point, in pieces of at most 8 that share epsilon equally."""
    pieces = -(-rows.shape[1] // PIECE)
    mechanism = Atlas(locations=locations, epsilon=f"{epsilon}/{pieces}")
    end = rows.shape[1] // PIECE * PIECE
    estimate = estimated(mechanism, rows[:, :end].reshape(-1, PIECE)).reshape(-1, end)
    if end == rows.shape[1]:
        return estimate
    return np.concatenate([estimate, estimated(mechanism, rows[:, end:])], axis=1)


def estimated(mechanism: Atlas, rows: Ints) -> Ints:
    true = as_set(rows)
    reports = perturb_set(mechanism, true, SeededRandom(0), keep_tids=True)
    return decode(mechanism, reports).locations.reshape(rows.shape)


def without_noise(locations: LocationSet, rows: Ints, count: int) -> Ints:
    control = rows[:, control_positions(rows.shape[1], count)]
    return interpolated(locations, control.T, rows.shape[1]).T


def measured(places: int, tracks: int) -> Iterator[list[str]]:
    for length in LENGTHS:
        locations, rows = gps_tracks(places, tracks, length)
        true = as_set(rows)

        def ne(estimate: Ints, locations=locations, true=true) -> float:
            error_km = error_km_each(locations, true, as_set(estimate))
            return float(error_km.mean() / locations.diameter_km)

        interpolation_errors = [
            ne(without_noise(locations, rows, count)) for count in CONTROL_POINTS
        ]
        yield [
            str(length),
            "none",
            *(f"{error:.4f}" for error in interpolation_errors),
            "-",
            "-",
        ]
        constant = constant_answer(locations, true).normalised_error
        for epsilon in EPSILONS:
            errors = [
                ne(by_control_points(locations, rows, epsilon, c)) for c in CONTROL_POINTS
            ]
            errors.append(ne(in_pieces(locations, rows, epsilon)))
            errors.append(constant)
            texts = [f"{error:.4f}{'*' if error == min(errors) else ' '}" for error in errors]
            yield [str(length), str(epsilon), *texts]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--places", type=int, default=1000)
    parser.add_argument("--tracks", type=int, default=500)
    options = parser.parse_args()
    points = [f"{count} points" for count in CONTROL_POINTS]
    header = ["length", "epsilon", *points, f"pieces of {PIECE}", "constant"]
    print("".join(name.rjust(13) for name in header))
    for row in measured(options.places, options.tracks):
        print("".join(cell.rjust(13) for cell in row), flush=True)


if __name__ == "__main__":
    main()
