"""The maps, lengths and options of an audit: small enough to enumerate, yet varied."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from nomadp.audit.maps import EDGE_MAPS, FAMILIES, edge_map, family_map
from nomadp.locations import LocationSet
from nomadp.mechanisms import EXPERIMENTAL, Mechanism, kind_of, make_mechanism, mechanism_names

__all__ = ["AuditRequest", "Configuration", "configurations", "path_mechanisms"]

DEFAULT_EPSILONS = (Fraction(1, 10), Fraction(1), Fraction(4))
DEFAULT_LENGTHS = (1, 2, 3)
_SMALL: dict[str, Any] = {"resolution": 3, "grid": 2, "zones": "grid:2"}
"""Few cells, because paths multiply with them. The privacy proofs hold for any number."""
THOROUGH_FACTOR = 5
_GRANULARITIES = (2, 4, 6)
_VARIANTS: dict[str, list[dict[str, Any]]] = {
    "brr": [{}, {"near_count": 2}],
    "l-srr": [{}, {"groups": 2}],
    "ngram": [{}, {"max_step_km": 5.0}],
    "starts": [{}, {"when": "weekday", "zones": "grid:1"}],
    "visits": [{}, {"when": "day-part", "zones": "grid:1"}],
}


@dataclass(frozen=True)
class AuditRequest:
    """What to audit; by default every registered mechanism, and the gallery of broken ones."""

    mechanisms: tuple[str, ...] = field(default_factory=mechanism_names)
    epsilons: tuple[Fraction, ...] = DEFAULT_EPSILONS
    lengths: tuple[int, ...] = DEFAULT_LENGTHS
    published: tuple[str, ...] = ("tp-as-published-not-private",)
    gallery: tuple[str, ...] | None = None
    """Names of exhibits; None means all of them."""
    draws: int = 10_000_000
    """The number of draws that test the sampler of each kind of law; 0 skips these tests."""
    path_draws: int = 500_000
    """The reports drawn by each fast path, at each epsilon and length; 0 skips all paths."""
    path_compared: int = 1000
    """The reports of each path that are compared with the reference's, at each epsilon."""
    seed: int | None = None
    """The seed of all samples; None takes a fresh one, which the audit reports."""
    locations: LocationSet | None = None
    """A set of any size over which the loss in words is bounded too; None skips this."""
    thorough: bool = False
    """Larger maps, every granularity at every length, the index of large sets, and
    `THOROUGH_FACTOR` times as many reports of paths."""


@dataclass(frozen=True)
class Configuration:
    """One mechanism on one map, for trajectories of one length."""

    mechanism: Mechanism
    map_name: str
    length: int


def configurations(request: AuditRequest) -> Iterator[Configuration]:
    """Everything the request asks for, in the order of its rows."""
    for name in EXPERIMENTAL.keys() & {*request.mechanisms}:
        raise EXPERIMENTAL[name].refusal()
    for name in request.mechanisms:
        for epsilon in request.epsilons:
            for length in request.lengths:
                yield from _strict(name, epsilon, length, thorough=request.thorough)
    for name in request.published:
        yield from _published(name, request)


def _strict(
    name: str, epsilon: Fraction, length: int, *, thorough: bool
) -> Iterator[Configuration]:
    for map_name, locations in _maps(length, thorough=thorough):
        for options in _options(name, length, thorough=thorough):
            mechanism = make_mechanism(name, locations, epsilon, **options)
            yield Configuration(mechanism, map_name, length)


def path_mechanisms(name: str, epsilons: tuple[Fraction, ...], family: str) -> list[Mechanism]:
    """The small mechanisms whose fast path is tested, one for each epsilon."""
    # Three locations: the fewer reports are possible, the smaller a deviation of their counts
    # can be detected.
    locations = family_map(family, 3)
    return [
        make_mechanism(name, locations, epsilon, **_small_options(name)) for epsilon in epsilons
    ]


def _published(name: str, request: AuditRequest) -> Iterator[Configuration]:
    # On a line most fine sectors are empty. The published form then adds the true location to
    # an otherwise empty set of candidates, so the report reveals it.
    locations = family_map("line", 7)
    options = {"granularity": 12} | _small_options(name)
    for epsilon in request.epsilons:
        mechanism = make_mechanism(name, locations, epsilon, **options)
        yield Configuration(mechanism, "line of 7", 2)


def _maps(length: int, *, thorough: bool) -> Iterator[tuple[str, LocationSet]]:
    sizes = [4]
    if thorough and length <= 3:
        sizes = [4, 5] if length == 3 else [4, 5, 6, 7]
    for family in FAMILIES:
        for size in sizes:
            yield f"{family} of {size}", family_map(family, size)
    for name in EDGE_MAPS:
        yield name, edge_map(name)


def _options(name: str, length: int, *, thorough: bool) -> list[dict[str, Any]]:
    small = _small_options(name)
    if length == 1 or not _has_option(name, "granularity"):
        return [small | variant for variant in _VARIANTS.get(name, [{}])]
    # Long trajectories of mechanisms with a disc (resolution) have the most paths: walk only
    # their default granularity.
    if "resolution" in small and length >= 3 and not thorough:
        return [small]
    return [small | {"granularity": granularity} for granularity in _GRANULARITIES]


def _small_options(name: str) -> dict[str, Any]:
    return {option: few for option, few in _SMALL.items() if _has_option(name, option)}


def _has_option(name: str, option: str) -> bool:
    return hasattr(kind_of(name), option)
