"""ATLAS: the whole journey perturbed at once, as an index into a public book of journeys."""

from nomadp.mechanisms.atlas.book import Atlas, PinnedAtlases
from nomadp.mechanisms.atlas.lloyd import build_pinned, design
from nomadp.mechanisms.atlas.mechanism import WholeJourney

__all__ = ["Atlas", "PinnedAtlases", "WholeJourney", "build_pinned", "design"]
