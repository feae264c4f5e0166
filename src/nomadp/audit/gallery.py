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
    explanation: str
    length: int = 2
    options: dict[str, Any] = field(default_factory=dict)

    def build(self, epsilon: Fraction) -> Mechanism:
        return self.mechanism(
            locations=family_map("random", 4), epsilon=epsilon, **self.options
        )


GALLERY: dict[str, Exhibit] = {
    "union": Exhibit(
        PublishedPivotSampling, "the true location is added to its own candidates (Algorithm 1)"
    ),
    "centred-sectors": Exhibit(
        broken.CentredSectors, "sectors are laid around the true direction"
    ),
    "skipped-direction": Exhibit(
        broken.SkippedDirection, "no direction is reported when target and pivot coincide"
    ),
    "own-location-only-if-target": Exhibit(
        broken.OwnLocationOnlyIfTarget,
        "the pivot's location is possible only if it is the truth",
    ),
    "domain-around-the-truth": Exhibit(
        broken.DomainAroundTheTruth, "candidates are a disc around the true location"
    ),
    "sensitivity-from-the-private-row": Exhibit(
        broken.SensitivityFromThePrivateRow, "the scale is computed from the secret's distances"
    ),
    "squared-score": Exhibit(
        broken.SquaredScore, "squared distances break the triangle inequality the proof needs"
    ),
    "lying-too-rarely": Exhibit(
        broken.LyingTooRarely,
        "randomised response lies g - 1 times too rarely",
        options={"granularity": 6},
    ),
    "overspent-split": Exhibit(
        broken.OverspentSplit, "the copies are given epsilon and epsilon / 2"
    ),
    "shared-words": Exhibit(
        broken.SharedWords, "both copies draw their pivots with the same random word"
    ),
    "stale-scale": Exhibit(
        broken.StaleScale, "a scale cached for another length is used again", 3
    ),
    "extra-draw": Exhibit(
        broken.ExtraDraw, "longer trajectories make one more draw than the split pays for"
    ),
}
