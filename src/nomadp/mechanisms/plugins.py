"""Mechanisms of other packages, which register them by an entry point.

The group is `nomadp.mechanisms`, the name of the entry is that of the mechanism, and its value
is the class. Entry points are loaded only when a name that is not ours, or all names, are
needed.
"""

import inspect
from collections import Counter
from collections.abc import Container
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nomadp.errors import DomainError
from nomadp.mechanisms.base import Mechanism

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["GROUP", "Plugins", "load_plugins"]

GROUP = "nomadp.mechanisms"


@dataclass(frozen=True)
class Plugins:
    """The mechanisms of other packages, by name."""

    kinds: dict[str, type[Mechanism]] = field(default_factory=dict)
    problems: dict[str, DomainError] = field(default_factory=dict)
    """For each registered mechanism that cannot be used, the error to raise for it."""


def load_plugins(taken: Container[str]) -> Plugins:
    """Load all registered mechanisms whose names are not ``taken``, and note the problems."""
    from importlib.metadata import entry_points  # slow to import

    registered = sorted(entry_points(group=GROUP), key=lambda entry: entry.name)
    offers = Counter(entry.name for entry in registered)
    plugins = Plugins()
    for entry in registered:
        who = f"the mechanism {entry.name!r} of the package {_package(entry)}"
        if entry.name in taken:
            plugins.problems[entry.name] = DomainError(
                f"{who} must have a unique name, but this one is taken; it is ignored",
                code="mechanism_name_taken",
                mechanism=entry.name,
                package=_package(entry),
            )
        elif offers[entry.name] > 1:
            plugins.problems[entry.name] = DomainError(
                f"{who} must have a unique name, but {offers[entry.name]} packages offer "
                "it; uninstall all but one",
                code="mechanism_offered_twice",
                mechanism=entry.name,
                packages=offers[entry.name],
            )
        else:
            _load(entry, who, plugins)
    return plugins


def _load(entry: "EntryPoint", who: str, plugins: Plugins) -> None:
    try:
        kind = entry.load()
    except Exception as error:  # another package's code may raise anything
        plugins.problems[entry.name] = DomainError(
            f"{who} cannot be loaded, because of {type(error).__name__}: {error}; repair or "
            "uninstall that package",
            code="mechanism_not_loadable",
            mechanism=entry.name,
            package=_package(entry),
            reason=type(error).__name__,
        )
        return
    if not (inspect.isclass(kind) and issubclass(kind, Mechanism)) or inspect.isabstract(kind):
        plugins.problems[entry.name] = DomainError(
            f"{who} cannot be used: its entry point must name a concrete subclass of "
            "nomadp.Mechanism; repair that package",
            code="not_a_mechanism",
            mechanism=entry.name,
            package=_package(entry),
        )
    elif getattr(kind, "name", None) != entry.name:
        plugins.problems[entry.name] = DomainError(
            f"{who} cannot be used: its class must have the name of its entry point; repair "
            "that package",
            code="mechanism_misnamed",
            mechanism=entry.name,
            package=_package(entry),
        )
    else:
        plugins.kinds[entry.name] = kind


def _package(entry: "EntryPoint") -> str:
    return entry.dist.name if entry.dist is not None else "of unknown name"
