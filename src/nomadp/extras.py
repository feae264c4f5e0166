"""The optional packages: what each provides, and how to install it.

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
            f"the package {self.package} ({self.gives}) must be installed for this; run: "
            f"{self.remedy}",
            code="package_missing",
            package=self.package,
            extra=self.name,
        )


EXTRAS = {
    extra.name: extra
    for extra in (
        Extra("tables", "pyarrow", "Parquet, streams, codebook files and check-in files"),
        Extra("analysis", "scipy", "decoding, fitting, hotspot scores, cgm and tracs"),
        Extra("fast", "numba", "compiled loops for bulk perturbation"),
        Extra("plot", "matplotlib", "figures of estimates (--png) and of the paper"),
        Extra("h3", "h3", "H3 cells"),
        Extra("geo", "geopandas", "estimates as GeoDataFrames"),
        Extra("polars", "polars", "estimates as polars data frames"),
        Extra("collector", "starlette", "the collector that devices report to"),
        Extra("spark", "pyspark", "a cluster of Apache Spark"),
        Extra("sail", "pysail", "a cluster of Sail"),
    )
}


def require(name: str) -> None:
    """Raise `ExtraMissing` with the install command if this extra is not installed."""
    if not EXTRAS[name].is_there:
        raise EXTRAS[name].refusal()


def absence_of(module: str | None) -> ExtraMissing | None:
    """The error for a module that cannot be imported; None if it belongs to no extra."""
    package = (module or "").partition(".")[0]
    return next((e.refusal() for e in EXTRAS.values() if e.package == package), None)


def version_of(package: str) -> str | None:
    """The version of a package; None if it cannot be imported."""
    from importlib.metadata import PackageNotFoundError, version  # slow to import

    if find_spec(package) is None:
        return None
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown version"
