"""Measure the values in docs/differences.md and write them to docs/measured.json.

    python benchmarks/differences.py            about four minutes on two cores

Everything is measured on the seeded synthetic city, except the constant answers on the paper's
four sets. They need the data (NOMADP_DATA or ../shared/data), and do not change without it.
"""

import json
import math
import os
from fractions import Fraction
from pathlib import Path

import numpy as np

from nomadp.analysis.metrics import constant_answer, scores
from nomadp.audit import AuditRequest, run_audit
from nomadp.audit.loss import json_loss as shown
from nomadp.datasets.city import synthetic_city
from nomadp.engine.local import perturb_set
from nomadp.formats.location_files import read_locations
from nomadp.formats.point_files import read_trajectories
from nomadp.laws import Disc, SquareWave
from nomadp.mechanisms import AnchoredPivotSampling, make_mechanism
from nomadp.mechanisms.pivot import calibration
from nomadp.mechanisms.pivot.calibration import centres_km, plausible
from nomadp.mechanisms.pivot.tp import Region
from nomadp.randomness import SeededRandom

ROOT = Path(__file__).resolve().parent.parent
MEASURED = ROOT / "docs" / "measured.json"
CORES = os.cpu_count() or 1
RUNS = 3
PAPER_SETS = ("nyc", "chi", "cle", "cps")


class GlobalScale(AnchoredPivotSampling):
    """ATP with the diameter of the whole set as its scale, as in the paper."""

    def _disc(self, disc: Disc) -> Region:
        return Region(super()._disc(disc).domain, self.locations.diameter_km)


def error(mechanism, trajectories, runs=RUNS) -> str:
    """Mean normalised error over seeded runs, with its standard error over the runs."""
    errors = [
        scores(
            mechanism.locations,
            trajectories,
            perturb_set(
                mechanism, trajectories, SeededRandom(seed), jobs=CORES, keep_tids=True
            ),
        ).normalised_error
        for seed in range(runs)
    ]
    return f"{np.mean(errors):.4f}"


def audited() -> dict[str, str]:
    request = AuditRequest(epsilons=(Fraction(1),), draws=0)
    report = run_audit(request)
    strict = [row for row in report.rows if row.mechanism == "tp"]
    (published,) = [row for row in report.rows if not row.private]
    caught = {row.name: row for row in report.gallery}
    worst = {
        name: max(row.transcript_loss for row in report.rows if row.mechanism == name)
        for name in ("exp", "tp", "atp")
    }
    return {
        "union-transcript": str(shown(published.transcript_loss)),
        "union-final": str(shown(published.final_loss)),
        "strict-transcript": str(shown(max(row.transcript_loss for row in strict))),
        "strict-final": str(shown(max(row.final_loss for row in strict if row.length > 1))),
        "strict-ratio": ", ".join(f"{n.upper()} {shown(loss)}" for n, loss in worst.items()),
        "centred-transcript": str(shown(caught["centred-sectors"].transcript_loss)),
        "centred-final": str(shown(caught["centred-sectors"].final_loss)),
        "skipped-transcript": str(shown(caught["skipped-direction"].transcript_loss)),
        "private-row": str(shown(caught["sensitivity-from-the-private-row"].transcript_loss)),
    }


def on_the_city() -> dict[str, str]:
    city = synthetic_city(seed=1, places=1000, trips=2000)
    places, trips = city.locations, city.trajectories

    def ne(name, **options):
        return error(make_mechanism(name, places, 4, **options), trips)

    strict, coarse = ne("atp"), ne("atp", resolution=64)
    global_scale = error(GlobalScale(locations=places, epsilon=4), trips)
    merges = ("coin", "direction", "first-index")
    return {
        "union-ne": f"{ne('tp')} against {ne('tp-as-published-not-private')}",
        "resolution-ne": f"{strict} against {coarse}",
        "merge-ne": ", ".join(f"{m} {ne('atp', merge=m)}" for m in merges),
        "span-ne": f"{strict} against {global_scale}",
        "eq11-negative": printed_form_below_zero(places),
        "sample-ne": f"{strict} against {as_a_large_set(places, trips)}",
    }


def as_a_large_set(places, trips) -> str:
    """ATP's error when the city is treated as if it had too many locations for tables."""
    limit, calibration.ALL_UP_TO = calibration.ALL_UP_TO, 0
    try:
        return error(make_mechanism("atp", places, 4), trips)
    finally:
        calibration.ALL_UP_TO = limit


def printed_form_below_zero(places) -> str:
    """The share of anchors and cells for which the printed factor of Eq. 11 is below 0."""
    mechanism = AnchoredPivotSampling(locations=places, epsilon=1)
    channel = SquareWave(64, mechanism.split(5).shares(1)["radius"])
    share, width = float(channel.share), channel.reach / channel.resolution
    below = total = 0
    for anchor in range(0, len(places), 10):
        distances_km = places.distances_km(anchor)
        farthest = distances_km.max()
        for cell in channel.outputs:
            reported = (cell + 0.5) / channel.resolution - width
            radius = (reported + width) * farthest / (2 * width + 1)
            ends, far = plausible(channel, np.array([cell])), np.array([farthest])
            (centre,) = centres_km(channel, ends, distances_km[None], far)
            beta = (
                (centre - radius) / centre
                if radius <= centre
                else (radius - centre) / (farthest - centre)
            )
            factor = 1 / (1 - math.exp(-beta / 2)) if beta else math.inf
            below += radius + (centre - radius) * factor * math.exp(-share) < 0
            total += 1
    return f"{100 * below / total:.0f} %"


def floors() -> dict[str, str]:
    folder = Path(os.environ.get("NOMADP_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        return {}
    lines = []
    for name in PAPER_SETS:
        places = read_locations(folder / name / "locations.csv")
        trips, _ = read_trajectories(folder / name / "trajectories.csv", places)
        constant = constant_answer(places, trips).normalised_error
        best = min(error(make_mechanism(m, places, 10), trips, runs=1) for m in ("exp", "atp"))
        lines.append(f"{name.upper()} {best} against {constant:.4f}")
    return {"floors": ", ".join(lines)}


def main() -> None:
    known = json.loads(MEASURED.read_text()) if MEASURED.exists() else {}
    for measure in (audited, on_the_city, floors):
        values = measure()
        known.update(values)
        for name, value in values.items():
            print(f"{name}: {value}", flush=True)
    MEASURED.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
