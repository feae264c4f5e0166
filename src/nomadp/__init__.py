"""NomaDP: trajectories collected under local differential privacy, with an audited guarantee.

The public names follow the flow of data. Each is imported when first used, so that
``import nomadp`` and ``nomadp --help`` stay instant.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # "X as X" marks a re-export for type checkers
    from nomadp.analysis import evaluate as evaluate
    from nomadp.analysis import explain as explain
    from nomadp.analysis import simulate_utility as simulate_utility
    from nomadp.answers import Estimate as Estimate
    from nomadp.answers import density as density
    from nomadp.answers import flows as flows
    from nomadp.answers import hotspots as hotspots
    from nomadp.answers import lengths as lengths
    from nomadp.answers import synthesize as synthesize
    from nomadp.answers import trajectories as trajectories
    from nomadp.audit import measure_loss as measure_loss
    from nomadp.budget import as_epsilon as as_epsilon
    from nomadp.client import Client as Client
    from nomadp.conformance import check_conformance as check_conformance
    from nomadp.datasets.city import synthetic_city as synthetic_city
    from nomadp.engine import perturb_set as perturb_set
    from nomadp.errors import BudgetError as BudgetError
    from nomadp.errors import DomainError as DomainError
    from nomadp.errors import NomadpError as NomadpError
    from nomadp.errors import NotPrivateError as NotPrivateError
    from nomadp.errors import RandomnessUnavailable as RandomnessUnavailable
    from nomadp.errors import SchemaError as SchemaError
    from nomadp.formats.location_files import read_locations as read_locations
    from nomadp.formats.location_files import write_locations as write_locations
    from nomadp.formats.point_files import read_trajectories as read_trajectories
    from nomadp.inference import DecodedPoints as DecodedPoints
    from nomadp.inference import Prior as Prior
    from nomadp.inference.decode import decode as decode
    from nomadp.inference.decode import fit_prior as fit_prior
    from nomadp.inference.model import Model as Model
    from nomadp.inference.model import fit as fit
    from nomadp.locations import LocationSet as LocationSet
    from nomadp.mechanisms import Mechanism as Mechanism
    from nomadp.mechanisms import Report as Report
    from nomadp.mechanisms import SimulatedReport as SimulatedReport
    from nomadp.mechanisms import make_mechanism as make_mechanism
    from nomadp.mechanisms import mechanism_names as mechanism_names
    from nomadp.randomness import KeyedRandom as KeyedRandom
    from nomadp.randomness import SeededRandom as SeededRandom
    from nomadp.randomness import SystemRandom as SystemRandom
    from nomadp.reports import Counts as Counts
    from nomadp.reports import Reports as Reports
    from nomadp.reports import SimulatedReports as SimulatedReports
    from nomadp.reports import read_reports as read_reports
    from nomadp.reports import write_reports as write_reports
    from nomadp.reports import write_simulated as write_simulated
    from nomadp.trajectory import TrajectorySet as TrajectorySet
else:
    HOMES = {
        "read_locations": "nomadp.formats.location_files",
        "write_locations": "nomadp.formats.location_files",
        "read_trajectories": "nomadp.formats.point_files",
        "synthetic_city": "nomadp.datasets.city",
        "LocationSet": "nomadp.locations",
        "TrajectorySet": "nomadp.trajectory",
        "as_epsilon": "nomadp.budget",
        "Mechanism": "nomadp.mechanisms",
        "make_mechanism": "nomadp.mechanisms",
        "mechanism_names": "nomadp.mechanisms",
        "explain": "nomadp.analysis",
        "simulate_utility": "nomadp.analysis",
        "measure_loss": "nomadp.audit",
        "check_conformance": "nomadp.conformance",
        "Report": "nomadp.mechanisms",
        "SimulatedReport": "nomadp.mechanisms",
        "SystemRandom": "nomadp.randomness",
        "KeyedRandom": "nomadp.randomness",
        "SeededRandom": "nomadp.randomness",
        "Client": "nomadp.client",
        "perturb_set": "nomadp.engine",
        "Reports": "nomadp.reports",
        "SimulatedReports": "nomadp.reports",
        "Counts": "nomadp.reports",
        "write_reports": "nomadp.reports",
        "write_simulated": "nomadp.reports",
        "read_reports": "nomadp.reports",
        "decode": "nomadp.inference.decode",
        "fit_prior": "nomadp.inference.decode",
        "fit": "nomadp.inference.model",
        "Model": "nomadp.inference.model",
        "Estimate": "nomadp.answers",
        "hotspots": "nomadp.answers",
        "density": "nomadp.answers",
        "flows": "nomadp.answers",
        "trajectories": "nomadp.answers",
        "lengths": "nomadp.answers",
        "synthesize": "nomadp.answers",
        "DecodedPoints": "nomadp.inference",
        "Prior": "nomadp.inference",
        "evaluate": "nomadp.analysis",
        "NomadpError": "nomadp.errors",
        "SchemaError": "nomadp.errors",
        "DomainError": "nomadp.errors",
        "BudgetError": "nomadp.errors",
        "RandomnessUnavailable": "nomadp.errors",
        "NotPrivateError": "nomadp.errors",
    }

    __all__ = [*HOMES, "__version__"]

    def __getattr__(name: str) -> object:
        if name not in HOMES:
            raise AttributeError(f"module 'nomadp' has no attribute {name!r}")
        from importlib import import_module

        value = globals()[name] = getattr(import_module(HOMES[name]), name)
        return value

    def __dir__() -> list[str]:
        return sorted(__all__)


__version__ = "0.1.0"
