"""Checking a task without trusting whoever wrote it: all of it again, from the bytes alone."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from nomadp.errors import DomainError, ExtraMissing
from nomadp.mechanisms.atlas.lloyd import follows_its_recipe
from nomadp.protocol.bundle import TaskBundle
from nomadp.protocol.guarantee import Guarantee
from nomadp.zones import Zones, zones_of

__all__ = ["Verified"]

_FOLLOWS = {
    True: "made again here, it is the same",
    False: "NOT what its rule gives here: as private, but it is not what the task says",
    None: "cannot be made again here; it is as private",
}


@dataclass(frozen=True)
class Verified:
    """A task whose id, hashes and ceilings were checked when its bundle was made."""

    bundle: TaskBundle

    @property
    def promise(self) -> Guarantee:
        return Guarantee(self.bundle)

    @cached_property
    def follows(self) -> bool | None:
        """Whether atlas or zones are what their public rule gives; None if nobody can tell."""
        book = self.bundle.domain
        if not isinstance(book, Zones):
            return follows_its_recipe(book, self.bundle.locations)
        if book.rule.startswith("polygons:"):
            return None
        try:
            return zones_of(self.bundle.locations, book.rule) == book
        except ExtraMissing:
            return None
        except DomainError:
            return False

    @property
    def ok(self) -> bool:
        return self.promise.holds and self.follows is not False

    def as_dict(self) -> dict[str, Any]:
        return {
            "task_id": self.bundle.task.id,
            "ok": self.ok,
            "law_keeps_epsilon": self.promise.holds,
            "follows_its_rule": self.follows,
        }

    def lines(self) -> list[str]:
        """What was checked, a line each."""
        said, law = self.promise.as_dict(), "is within" if self.promise.holds else "EXCEEDS"
        made = "zones" if self.bundle.task.is_oracle else "atlas"
        return [
            f"id           {self.bundle.task.id}: computed from the task itself",
            "files        have the hashes that the task names",
            f"law          the largest ratio, {said['largest_ratio_at_most']}, {law} e^"
            f"{self.bundle.task.epsilon}",
            f"{made:<13}{_FOLLOWS[self.follows]}",
        ]
