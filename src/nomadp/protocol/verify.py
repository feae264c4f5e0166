"""Verify a task from its bytes alone, without trusting its author."""

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
    True: "reproduced here from the public rule",
    False: "NOT REPRODUCED from the public rule: as private, but not what the task states",
    None: "not reproducible here; as private in any case",
}


@dataclass(frozen=True)
class Verified:
    """The verification of a task; its id, hashes and limits were checked by its bundle."""

    bundle: TaskBundle

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.bundle)

    @cached_property
    def follows(self) -> bool | None:
        """Whether the public rule reproduces the codebook or zones; None if unknown."""
        domain = self.bundle.domain
        if not isinstance(domain, Zones):
            return follows_its_recipe(domain, self.bundle.locations)
        if domain.rule.startswith("polygons:"):
            return None
        try:
            return zones_of(self.bundle.locations, domain.rule) == domain
        except ExtraMissing:
            return None
        except DomainError:
            return False

    @property
    def ok(self) -> bool:
        return self.guarantee.holds and self.follows is not False

    def as_dict(self) -> dict[str, Any]:
        return {
            "task_id": self.bundle.task.id,
            "ok": self.ok,
            "law_keeps_epsilon": self.guarantee.holds,
            "follows_its_rule": self.follows,
        }

    def lines(self) -> list[str]:
        """The results of the checks, one per line."""
        ratio = self.guarantee.as_dict()["largest_ratio_at_most"]
        epsilon = str(self.bundle.task.epsilon)
        epsilon = f"({epsilon})" if "/" in epsilon else epsilon
        law = "at most" if self.guarantee.holds else "EXCEEDS"
        kind = "zones" if self.bundle.task.is_oracle else "codebook"
        return [
            f"id           {self.bundle.task.id} is the hash of the task",
            "files        match the hashes in the task",
            f"law          the largest ratio of probabilities is {ratio}, {law} e^{epsilon}",
            f"{kind:<13}{_FOLLOWS[self.follows]}",
        ]
