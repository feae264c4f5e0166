"""The audit of one mechanism as a function, within what can be walked."""

from nomadp.audit.loss import Measurement, measure
from nomadp.errors import DomainError
from nomadp.mechanisms.base import Mechanism

__all__ = ["INPUTS_MAX", "measure_loss"]

INPUTS_MAX = 1024
"""Trajectories that are compared, each with each."""


def measure_loss(mechanism: Mechanism, length: int) -> Measurement:
    """The exact privacy loss over all trajectories of ``length``, by walking every choice.

    For a mechanism over a few locations. ``transcript_loss`` is the loss of everything that is
    released, ``final_loss`` that of the report alone, both in epsilon and rounded up; ``spent``
    is what was drawn for, and ``flags`` are the rules that were broken, none for a sound one
    (``ok``). Raises `DomainError` where there are more than 1,024 trajectories, or no finite
    laws to walk (CGM, TraCS).

    >>> import nomadp
    >>> four = nomadp.synthetic_city(seed=1, places=4, trips=1).locations
    >>> found = nomadp.measure_loss(nomadp.make_mechanism("brr", four, epsilon=1), length=2)
    >>> found.ok, found.final_loss <= 1
    (True, True)
    """
    size = len(mechanism.locations)
    if length < 1 or size**length > INPUTS_MAX:
        raise DomainError(
            f"an exact audit must have from 1 to {INPUTS_MAX} trajectories to walk, got {size} "
            f"locations and length={length}; measure it on fewer locations"
        )
    return measure(mechanism, length)
