"""ATLAS: the whole journey perturbed at once, as an index into a public book of journeys."""

from nomadp.mechanisms.atlas.book import Atlas
from nomadp.mechanisms.atlas.lloyd import design
from nomadp.mechanisms.atlas.mechanism import WholeJourney
from nomadp.mechanisms.atlas.pinned import PinnedAtlases, build_pinned

__all__ = ["Atlas", "PinnedAtlases", "WholeJourney", "build_pinned", "design"]
