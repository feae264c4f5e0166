"""Invented results of the paper's experiments, with known answers."""

from typing import Any

from nomadp.paper.cells import Audit, Baselines, Cell, Work
from nomadp.paper.results import Results
from nomadp.paper.specs import Plan

__all__ = ["GAIN", "PLAN", "MadeUp"]

PLAN = Plan(runs=2, epsilons=("1", "4", "10"), trajectories=10, audited_epsilons=("1", "4"))
RANGES = tuple(f"prq_{radius_km:g}km" for radius_km in (0.25, 0.5, 1.0, 2.0, 4.0))
BASELINES = {
    "constant": {"ne": 0.15, **dict.fromkeys(RANGES, 30.0), "acd": 40.0},
    "uniform": {"ne": 0.25, **dict.fromkeys(RANGES, 10.0), "acd": 9.0},
    "flat": {"acd": 8.0},
}
GAIN = 0.05
"""What decoding takes off an error, except at epsilon 1."""
ERRORS = {"exp": 0.24, "brr": 0.20, "tp": 0.26, "atp": 0.21}


class MadeUp(Results):
    """Errors that fall with epsilon, by known amounts."""

    def of(self, work: Work) -> dict[str, Any]:
        match work:
            case Baselines():
                return BASELINES
            case Audit(mechanism=name, epsilon=epsilon):
                leaky = name.endswith("not-private")
                final = 3.5 if leaky else 0.5 * float(epsilon)
                return {
                    "transcript_loss": "infinite" if leaky else final,
                    "final_loss": final,
                    "flags": [],
                }
            case Cell(setting=setting):
                fall = 0.012 if setting.mechanism == "brr" else 0.002
                options = dict(setting.options)
                extra = options.get("granularity", 0) * 0.0001 + bool(options) * 0.001
                error = ERRORS.get(setting.mechanism, 0.3) - fall * float(setting.epsilon)
                error -= GAIN if setting.decoded and setting.epsilon != "1" else 0
                within = dict.fromkeys(RANGES, 100 * (1 - error))
                return {"ne": error + extra, **within, "acd": 40 * error}
