"""Likelihoods under the exponential law: the probability of a release for every location."""

import math
from typing import Any

import numpy as np

from nomadp.mechanisms.fast.compiling import kernel
from nomadp.mechanisms.fast.draws import weight_of

__all__ = ["log_chances"]


@kernel
def log_chances(distance_km: Any, domain: Any, law: Any, disc: Any, released: int) -> Any:
    """Log-likelihood of every true location, (m,), given a release from a domain.

    ``law`` is (scale, ceiling), ``disc`` (anchor, radius), in which the domain lies.
    """
    scale, ceiling = law
    anchor, radius_km = disc
    found = np.empty(len(distance_km))
    for true in range(len(distance_km)):
        row_km = distance_km[true]
        offset = max(0.0, row_km[anchor] - radius_km)
        total = 0
        for place in domain:
            total += weight_of(row_km[place] - offset, scale, ceiling)
        found[true] = math.log(weight_of(row_km[released] - offset, scale, ceiling) / total)
    return found
