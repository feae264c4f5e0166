"""What only some people need: the optional packages, what each gives, and how to get it.

The names are those of the extras in pyproject.toml.
"""

from dataclasses import dataclass
from importlib.util import find_spec

from nomadp.errors import ExtraMissing

__all__ = ["EXTRAS", "Extra", "absence_of", "require", "version_of"]


@dataclass(frozen=True)
class Extra:
    name: str
    package: str
    gives: str

    @property
    def is_there(self) -> bool:
        return find_spec(self.package) is not None

    @property
    def remedy(self) -> str:
        return f'pip install "nomadp[{self.name}]"'

    def refusal(self) -> ExtraMissing:
        return ExtraMissing(
            f"this needs the package {self.package} ({self.gives}), which is not installed; "
            f"run: {self.remedy}",
            code="package_missing",
            package=self.package,
            extra=self.name,
        )


EXTRAS = {
    extra.name: extra
    for extra in (
        Extra("tables", "pyarrow", "Parquet, streams, atlas files and check-in files"),
        Extra("analysis", "scipy", "decoding, learning, scores of hotspots, cgm and tracs"),
        Extra("fast", "numba", "the compiled loops of bulk perturbation"),
        Extra("plot", "matplotlib", "figures of answers (--png) and of the paper"),
        Extra("h3", "h3", "H3 cells"),
        Extra("geo", "geopandas", "answers as frames with geometry"),
        Extra("polars", "polars", "answers as frames of polars"),
        Extra("collector", "starlette", "the collector that devices report to"),
        Extra("spark", "pyspark", "a cluster of Apache Spark"),
        Extra("sail", "pysail", "a cluster of Sail"),
    )
}


def require(name: str) -> None:
    """Refuse, with the one line that helps, if this extra is not installed."""
    if not EXTRAS[name].is_there:
        raise EXTRAS[name].refusal()


def absence_of(module: str | None) -> ExtraMissing | None:
    """What to say when this module could not be imported; None if it belongs to no extra."""
    package = (module or "").partition(".")[0]
    return next((e.refusal() for e in EXTRAS.values() if e.package == package), None)


def version_of(package: str) -> str | None:
    """Of what can be imported here; None if it cannot."""
    from importlib.metadata import PackageNotFoundError, version  # slow to import

    if find_spec(package) is None:
        return None
    try:
        return version(package)
    except PackageNotFoundError:
        return "of unknown version"
