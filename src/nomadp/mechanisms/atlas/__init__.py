"""ATLAS: the whole journey perturbed at once, as an index into a public book of journeys."""

from nomadp.mechanisms.atlas.book import Atlas, build_atlas
from nomadp.mechanisms.atlas.mechanism import WholeJourney

__all__ = ["Atlas", "WholeJourney", "build_atlas"]
