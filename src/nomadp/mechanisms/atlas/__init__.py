"""ATLAS: the whole trajectory perturbed at once, as an index into a public codebook."""

from nomadp.mechanisms.atlas.codebook import Codebook, PinnedCodebooks
from nomadp.mechanisms.atlas.lloyd import build_pinned, design
from nomadp.mechanisms.atlas.mechanism import Atlas

__all__ = ["Codebook", "PinnedCodebooks", "Atlas", "build_pinned", "design"]
