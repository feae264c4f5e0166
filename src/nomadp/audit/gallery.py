"""The gallery of broken variants: what the auditor must flag, each by its name."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from nomadp.audit import broken
from nomadp.audit.maps import family_map
from nomadp.mechanisms.base import Mechanism
from nomadp.mechanisms.pivot.published import PublishedPivotSampling

__all__ = ["GALLERY", "Exhibit"]


@dataclass(frozen=True)
class Exhibit:
    """One mistake: the mechanism that makes it, and where it is looked at."""

    mechanism: type[Mechanism]
    length: int
    explanation: str
    options: dict[str, Any] = field(default_factory=dict)

    def build(self, epsilon: Fraction) -> Mechanism:
        return self.mechanism(
            locations=family_map("random", 4), epsilon=epsilon, **self.options
        )


GALLERY: dict[str, Exhibit] = {
    "union": Exhibit(
        PublishedPivotSampling,
        2,
        "the true location is added to its own candidates (Algorithm 1)",
    ),
    "centred-sectors": Exhibit(
        broken.CentredSectors, 2, "sectors are laid around the true direction"
    ),
    "skipped-direction": Exhibit(
        broken.SkippedDirection, 2, "no direction is reported when target and pivot coincide"
    ),
    "own-location-only-if-target": Exhibit(
        broken.OwnLocationOnlyIfTarget,
        2,
        "the pivot's location is possible only if it is the truth",
    ),
    "domain-around-the-truth": Exhibit(
        broken.DomainAroundTheTruth, 2, "candidates are a disc around the true location"
    ),
    "sensitivity-from-the-private-row": Exhibit(
        broken.SensitivityFromThePrivateRow,
        2,
        "the scale is computed from the secret's distances",
    ),
    "squared-score": Exhibit(
        broken.SquaredScore,
        2,
        "squared distances break the triangle inequality the proof needs",
    ),
    "lying-too-rarely": Exhibit(
        broken.LyingTooRarely,
        2,
        "randomised response lies g - 1 times too rarely",
        {"granularity": 6},
    ),
    "overspent-split": Exhibit(
        broken.OverspentSplit, 2, "the copies are given epsilon and epsilon / 2"
    ),
    "shared-words": Exhibit(
        broken.SharedWords, 2, "both copies draw their pivots with the same random word"
    ),
    "stale-scale": Exhibit(
        broken.StaleScale, 3, "a scale cached for another length is used again"
    ),
    "extra-draw": Exhibit(
        broken.ExtraDraw, 2, "longer trajectories make one more draw than the split pays for"
    ),
}
