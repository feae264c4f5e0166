"""Likelihoods under the exponential law: of a released value, for every true location."""

import math
from typing import Any

import numpy as np

from nomadp.mechanisms.fast.compiling import kernel
from nomadp.mechanisms.fast.draws import weight_of

__all__ = ["log_likelihoods"]


@kernel
def log_likelihoods(distance_km: Any, domain: Any, law: Any, disc: Any, released: int) -> Any:
    """The log-likelihood of every true location, (m,), given a value released from a domain.

    ``law`` is (scale, ceiling). The domain lies in the ``disc`` (anchor, radius).
    """
    scale, ceiling = law
    anchor, radius_km = disc
    log_likelihood = np.empty(len(distance_km))
    for true in range(len(distance_km)):
        row_km = distance_km[true]
        # The total differs between true locations, so it must be computed for each.
        offset = max(0.0, row_km[anchor] - radius_km)
        total = 0
        for place in domain:
            total += weight_of(row_km[place] - offset, scale, ceiling)
        weight = weight_of(row_km[released] - offset, scale, ceiling)
        log_likelihood[true] = math.log(weight / total)
    return log_likelihood
