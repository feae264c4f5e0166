"""NomaDP: trajectories collected under local differential privacy, with an audited guarantee.

The public names, in the order the data flows. Each is imported when first used, so that
``import nomadp`` and ``nomadp --help`` stay instant.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nomadp.analysis import calibrate, evaluate, explain
    from nomadp.answers import density, flows, hotspots, journeys, lengths, synthesize
    from nomadp.audit import measure_loss
    from nomadp.budget import as_epsilon
    from nomadp.client import Client
    from nomadp.conformance import check_conformance
    from nomadp.datasets.city import synthetic_city
    from nomadp.engine import perturb_set
    from nomadp.errors import (
        AuditFailed,
        BudgetError,
        DomainError,
        NomadpError,
        NotPrivateError,
        RandomnessUnavailable,
        SchemaError,
    )
    from nomadp.formats.tables import read_locations, read_trajectories, write_locations
    from nomadp.inference import Estimate, Prior
    from nomadp.inference.decode import decode, learn_prior
    from nomadp.inference.learned import Learned, learn
    from nomadp.locations import LocationSet
    from nomadp.mechanisms import (
        Mechanism,
        Report,
        SimulatedReport,
        make_mechanism,
        mechanism_names,
    )
    from nomadp.randomness import KeyedWords, SimulatedWords, SystemWords
    from nomadp.reports import (
        Counts,
        Reports,
        SimulatedReports,
        read_reports,
        write_reports,
        write_simulated,
    )
    from nomadp.trajectory import TrajectorySet
else:
    HOMES = {
        "read_locations": "nomadp.formats.tables",
        "write_locations": "nomadp.formats.tables",
        "read_trajectories": "nomadp.formats.tables",
        "synthetic_city": "nomadp.datasets.city",
        "LocationSet": "nomadp.locations",
        "TrajectorySet": "nomadp.trajectory",
        "as_epsilon": "nomadp.budget",
        "Mechanism": "nomadp.mechanisms",
        "make_mechanism": "nomadp.mechanisms",
        "mechanism_names": "nomadp.mechanisms",
        "explain": "nomadp.analysis",
        "calibrate": "nomadp.analysis",
        "measure_loss": "nomadp.audit",
        "check_conformance": "nomadp.conformance",
        "Report": "nomadp.mechanisms",
        "SimulatedReport": "nomadp.mechanisms",
        "SystemWords": "nomadp.randomness",
        "KeyedWords": "nomadp.randomness",
        "SimulatedWords": "nomadp.randomness",
        "Client": "nomadp.client",
        "perturb_set": "nomadp.engine",
        "Reports": "nomadp.reports",
        "SimulatedReports": "nomadp.reports",
        "Counts": "nomadp.reports",
        "write_reports": "nomadp.reports",
        "write_simulated": "nomadp.reports",
        "read_reports": "nomadp.reports",
        "decode": "nomadp.inference.decode",
        "learn_prior": "nomadp.inference.decode",
        "learn": "nomadp.inference.learned",
        "Learned": "nomadp.inference.learned",
        "hotspots": "nomadp.answers",
        "density": "nomadp.answers",
        "flows": "nomadp.answers",
        "journeys": "nomadp.answers",
        "lengths": "nomadp.answers",
        "synthesize": "nomadp.answers",
        "Estimate": "nomadp.inference",
        "Prior": "nomadp.inference",
        "evaluate": "nomadp.analysis",
        "NomadpError": "nomadp.errors",
        "SchemaError": "nomadp.errors",
        "DomainError": "nomadp.errors",
        "BudgetError": "nomadp.errors",
        "RandomnessUnavailable": "nomadp.errors",
        "NotPrivateError": "nomadp.errors",
        "AuditFailed": "nomadp.errors",
    }

    def __getattr__(name: str) -> object:
        if name not in HOMES:
            raise AttributeError(f"module 'nomadp' has no attribute {name!r}")
        from importlib import import_module

        value = globals()[name] = getattr(import_module(HOMES[name]), name)
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})


__version__ = "0.1.0"

__all__ = [
    "read_locations",
    "write_locations",
    "read_trajectories",
    "synthetic_city",
    "LocationSet",
    "TrajectorySet",
    "as_epsilon",
    "Mechanism",
    "make_mechanism",
    "mechanism_names",
    "explain",
    "calibrate",
    "measure_loss",
    "check_conformance",
    "Report",
    "SimulatedReport",
    "SystemWords",
    "KeyedWords",
    "SimulatedWords",
    "Client",
    "perturb_set",
    "Reports",
    "SimulatedReports",
    "Counts",
    "write_reports",
    "write_simulated",
    "read_reports",
    "decode",
    "learn_prior",
    "learn",
    "Learned",
    "hotspots",
    "density",
    "flows",
    "journeys",
    "lengths",
    "synthesize",
    "Estimate",
    "Prior",
    "evaluate",
    "NomadpError",
    "SchemaError",
    "DomainError",
    "BudgetError",
    "RandomnessUnavailable",
    "NotPrivateError",
    "AuditFailed",
    "__version__",
]
