"""Mechanisms that draw real numbers: for experiments, outside the exact audit.

Their laws are continuous and their draws are floats, whose rounding can reveal the input even
if the formula is right (Mironov, CCS 2012). So no guarantee is claimed for the program, and the
auditor cannot enumerate its choices.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Never

from nomadp.drawing import Choose, Drawing
from nomadp.errors import DomainError
from nomadp.geometry import Floats
from nomadp.mechanisms.base import Mechanism, Trajectory
from nomadp.unit_square import UnitSquare

__all__ = ["ContinuousMechanism"]


@dataclass(frozen=True, kw_only=True)
class ContinuousMechanism(Mechanism):
    """Perturbs points of the unit square and reports the nearest locations."""

    private: ClassVar[bool] = False

    @cached_property
    def square(self) -> UnitSquare:
        return UnitSquare(self.locations)

    @abstractmethod
    def moved(self, points: Floats, drawing: Drawing) -> Floats:
        """The perturbed points, (n, 2), of a trajectory's points in the unit square."""

    def reported(self, trajectory: Trajectory, choose: Choose) -> tuple[tuple[int, ...], None]:
        if not isinstance(choose, Drawing):
            raise self.refusal()
        moved = self.moved(self.square.points[trajectory], choose)
        return tuple(self.square.nearest(moved).tolist()), None

    def parts(self, trajectory: Trajectory) -> Never:
        raise self.refusal()

    def finish(self, released: Sequence[Any], choose: Choose) -> Never:
        raise self.refusal()

    @classmethod
    def refusal(cls) -> DomainError:
        """The error for an attempt to enumerate its choices."""
        return DomainError(
            f"an exact audit needs finite laws, and {cls.name} has none: {cls.warning}; "
            "audit one of the mechanisms that claim to be private",
            code="no_finite_laws",
            mechanism=cls.name,
        )
