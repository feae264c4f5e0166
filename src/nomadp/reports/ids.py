"""Ids of reports: 128 random bits, in whose order reports stand.

An id is drawn from the words of the job, from the stream that bears the tid. So a job that is
taken up again gives every report its id again, and without the job's key an id tells nothing.
"""

import numpy as np

from nomadp.mechanisms import Mechanism
from nomadp.randomness import Words

__all__ = ["report_ids", "shuffled"]


def report_ids(words: Words, mechanism: Mechanism, tids: tuple[str, ...]) -> tuple[str, ...]:
    """One id for each trajectory; others for other mechanisms."""
    if not tids:
        return ()
    named = words.bound_to(f"report ids of {mechanism.identity}").named(tids)
    digits = named.rows(np.arange(len(tids)), 2).astype(">u8").tobytes().hex()
    return tuple(digits[first : first + 32] for first in range(0, len(digits), 32))


def shuffled(ids: tuple[str, ...]) -> list[int]:
    """The order of random ids, which says nothing of the order in which they were drawn."""
    return sorted(range(len(ids)), key=ids.__getitem__)
