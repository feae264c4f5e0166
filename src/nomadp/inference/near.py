"""Which reports count as near to which possible journeys, as one sparse matrix.

Read off the exact law of the report. Where numba is installed, a kernel finds the same journeys
many times faster.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from nomadp.laws import Ints
from nomadp.mechanisms.atlas.charts import chart_of
from nomadp.mechanisms.atlas.response import JourneyResponse
from nomadp.mechanisms.fast.compiling import has_numba

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["near_matrix", "near_of", "near_of_reference"]

_AT_ONCE = 512  # truths worked on at a time


def near_matrix(channel: JourneyResponse, support: Ints, reports: Ints) -> "csr_array[Any]":
    """1 where a truth of the support (row) counts a report (column) as near."""
    from scipy.sparse import csr_array  # slow to import

    if channel.near_count == channel.atlas.size:  # then all weigh the same: nothing stands out
        return csr_array(np.zeros((len(support), len(reports)), dtype=np.float64))
    column = np.full(channel.atlas.size, -1, dtype=np.int32)
    column[reports] = np.arange(len(reports))
    counts, found = [np.zeros(1, dtype=np.int64)], [np.zeros(0, dtype=np.int32)]
    for near in _blocks(channel, support):
        seen = column[near]
        counts.append(np.count_nonzero(seen >= 0, axis=1))
        found.append(seen[seen >= 0])
    ends, columns = np.cumsum(np.concatenate(counts)), np.concatenate(found)
    ones = np.ones(len(columns))  # of the type of priors, else each product copies them
    return csr_array((ones, columns, ends), shape=(len(support), len(reports)))


def _blocks(channel: JourneyResponse, support: Ints) -> list[Any]:
    parts = [support[k : k + _AT_ONCE] for k in range(0, len(support), _AT_ONCE)]
    if not has_numba():
        return [near_of_reference(channel, part) for part in parts]
    chart_of(channel.atlas)  # made once, before many ask for it
    with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
        return list(threads.map(lambda part: near_of(channel, part), parts))


def near_of(channel: JourneyResponse, support: Ints) -> Any:
    """The near journeys of the atlas for each truth, in their order: (truths, near_count)."""
    from nomadp.mechanisms.atlas.kernel_near import near_journeys

    near = near_journeys(support, chart_of(channel.atlas), channel.near_count)
    undecided = np.flatnonzero(near[:, 0] < 0)
    if len(undecided):
        near[undecided] = near_of_reference(channel, support[undecided])
    return near


def near_of_reference(channel: JourneyResponse, support: Ints) -> Any:
    """The same, from the weights of the law itself."""
    weight = channel.weights(support.T)
    heavy = weight > weight.min(axis=1, keepdims=True)
    return np.nonzero(heavy)[1].reshape(len(support), -1).astype(np.int32)
