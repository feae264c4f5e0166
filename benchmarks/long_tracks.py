"""Long tracks: a few control points at all of epsilon, or all points in pieces at a share each?

    python benchmarks/long_tracks.py            about four minutes on two idle cores

Synthetic GPS tracks over the generated city: people walk and ride between some of its places
at a constant speed, not quite straight, and a receiver is off by some metres. NE of the decoded
estimates, beside the best constant answer; the smallest error of each row is marked.
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
"""From so many to so many places are visited on one track."""
DETOUR_SHARE = 0.15
"""How far a leg bends aside, as a share of its length."""
NOISE_KM = 0.01


def gps_tracks(
    places: int, tracks: int, length: int, seed: int = 1, city_seed: int = 1
) -> tuple[LocationSet, Ints]:
    """Rows of locations nearest to points of tracks between the stops of people's trips."""
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
    """Points at a constant speed from stop to stop, on legs that bend aside."""
    lat, lng = locations.lat[stops], locations.lng[stops]
    legs_km = locations.distances_between_km(stops[:-1], stops[1:]) + 1e-6
    done = np.concatenate([[0], np.cumsum(legs_km)]) / legs_km.sum()
    time = np.linspace(0, 1, length)
    leg = np.clip(np.searchsorted(done, time, "right") - 1, 0, len(legs_km) - 1)
    share = (time - done[leg]) / (done[leg + 1] - done[leg])
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
    """All of epsilon for a few points; straight in between."""
    mechanism = Atlas(locations=locations, epsilon=epsilon, control_points=count)
    return estimated(mechanism, rows)


def in_pieces(locations: LocationSet, rows: Ints, epsilon: int) -> Ints:
    """Every point, in pieces of at most 8 that share epsilon equally."""
    pieces = -(-rows.shape[1] // PIECE)
    mechanism = Atlas(locations=locations, epsilon=f"{epsilon}/{pieces}")
    whole = rows.shape[1] // PIECE * PIECE
    found = estimated(mechanism, rows[:, :whole].reshape(-1, PIECE)).reshape(-1, whole)
    if whole == rows.shape[1]:
        return found
    return np.concatenate([found, estimated(mechanism, rows[:, whole:])], axis=1)


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

        def ne(found: Ints, locations=locations, true=true) -> float:
            each = error_km_each(locations, true, as_set(found))
            return float(each.mean() / locations.diameter_km)

        bent = [ne(without_noise(locations, rows, count)) for count in CONTROL_POINTS]
        yield [str(length), "none", *(f"{error:.4f}" for error in bent), "-", "-"]
        constant = constant_answer(locations, true).normalised_error
        for epsilon in EPSILONS:
            found = [ne(by_control_points(locations, rows, epsilon, c)) for c in CONTROL_POINTS]
            found.append(ne(in_pieces(locations, rows, epsilon)))
            found.append(constant)
            shown = [f"{error:.4f}{'*' if error == min(found) else ' '}" for error in found]
            yield [str(length), str(epsilon), *shown]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--places", type=int, default=1000)
    parser.add_argument("--tracks", type=int, default=500)
    asked = parser.parse_args()
    points = [f"{count} points" for count in CONTROL_POINTS]
    header = ["length", "epsilon", *points, f"pieces of {PIECE}", "constant"]
    print("".join(name.rjust(13) for name in header))
    for row in measured(asked.places, asked.tracks):
        print("".join(cell.rjust(13) for cell in row), flush=True)


if __name__ == "__main__":
    main()
