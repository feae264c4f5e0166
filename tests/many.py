"""Perturb trajectories by the fast path, however few there are."""

import pytest

from nomadp.mechanisms.dispatch import NUMBA, REFERENCE, fastest, perturb_many
from nomadp.mechanisms.fast.compiling import has_numba

needs_numba = pytest.mark.skipif(not has_numba(), reason="without numba the reference draws")


def fast_path(mechanism):
    """The fast path of a mechanism, or the reference if this machine has no fast path."""
    found = fastest(mechanism)
    return REFERENCE if found == NUMBA and not has_numba() else found


def drawn_many(mechanism, trajectories, words):
    """The reported locations."""
    return perturb_many(mechanism, trajectories, words, fast_path(mechanism)).locations


def drawn_numbers(mechanism, trajectories, words):
    """The reported numbers, for a mechanism whose reports are single numbers."""
    return perturb_many(mechanism, trajectories, words, fast_path(mechanism)).numbers
