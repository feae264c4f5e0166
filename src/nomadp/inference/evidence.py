"""What reports say about every possible truth, from the exact law of the report.

A *support* is a public list of possible truths: journeys, or single locations. Evidence joins
it with the distinct reports that came in, and answers the three questions inference asks: how
probable each report was, how many reporters each truth explains, and where the mass lies.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from nomadp.inference.estimate import Floats, Mass
from nomadp.laws import Channel, Ints, probabilities
from nomadp.mechanisms.atlas.codebook import CodewordResponse

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = [
    "Evidence",
    "TrajectoryEvidence",
    "TableEvidence",
    "near_matrix",
]

_AT_ONCE = 4096  # truths worked on at a time


def near_matrix(channel: CodewordResponse, support: Ints, reports: Ints) -> "csr_array[Any]":
    """1 where a truth of the support (row) counts a report (column) as near."""
    from scipy.sparse import csr_array, vstack  # slow to import

    if channel.near_count == channel.atlas.size:  # then all weigh the same: nothing stands out
        return csr_array(np.zeros((len(support), len(reports)), dtype=np.float64))
    near = [
        csr_array(channel.near(support[k : k + _AT_ONCE].T)[:, reports], dtype=np.float64)
        for k in range(0, len(support), _AT_ONCE)
    ]
    return csr_array(vstack(near))


class Evidence(ABC):
    """The law of some distinct reports, given each truth of a support."""

    support: Ints  # (truths, positions)
    reports: Ints  # (reports,) distinct

    @property
    @abstractmethod
    def outputs(self) -> int:
        """How many different reports there could be."""

    @abstractmethod
    def marginals(self, prior: Floats) -> Floats:
        """How probable each report was, when truths have this probability."""

    @abstractmethod
    def weighted_likelihood(self, rates: Floats) -> Floats:
        """The chances of the reports for each truth, each times its rate, summed."""

    def expected_counts(self, prior: Floats, counts: Floats) -> Floats:
        """Of reports that came in so often, how many each truth accounts for, expectedly."""
        return prior * self.weighted_likelihood(counts / self.marginals(prior))

    @abstractmethod
    def posterior(self, prior: Floats, label: Ints, size: int, rows: slice) -> Mass:
        """Posterior mass by the label of the truths, for these reports; rows sum to 1."""

    @abstractmethod
    def label_shares(self, prior: Floats, table: Any, rows: slice) -> Floats:
        """What these reports say of each label, where ``table`` counts the labels of truths.

        A row of the table stands for a label, a column for a truth; rows of shares sum to 1.
        """


@dataclass(frozen=True, eq=False)
class TrajectoryEvidence(Evidence):
    """Two levels: every truth may lead to any report, a few are likelier to lead to it."""

    channel: CodewordResponse
    support: Ints
    reports: Ints

    @property
    def outputs(self) -> int:
        return self.channel.size

    @cached_property
    def gain(self) -> float:
        """How much likelier a report is for a truth it is near to, beyond once."""
        return float(self.channel.bound - 1)

    @cached_property
    def near(self) -> "csr_array[Any]":
        """1 where a report (row) counts as near to a truth (column)."""
        from scipy.sparse import csr_array  # slow to import

        return csr_array(self._near_transposed.T)

    @cached_property
    def _floor(self) -> float:
        """The chance of a report that is not near."""
        size, near = self.channel.atlas.size, self.channel.near_count
        if near == size:  # then all weigh the same, and `near` marks none
            return 1 / size
        return 1 / (near * self.gain + size)

    @cached_property
    def _near_transposed(self) -> "csr_array[Any]":
        return near_matrix(self.channel, self.support, self.reports)

    def marginals(self, prior: Floats) -> Floats:
        near = self._near_transposed.T @ prior  # a view: learning needs no second copy
        found: Floats = self._floor * (prior.sum() + self.gain * near)
        return found

    def weighted_likelihood(self, rates: Floats) -> Floats:
        near = self._near_transposed @ rates
        found: Floats = self._floor * (rates.sum() + self.gain * near)
        return found

    def posterior(self, prior: Floats, label: Ints, size: int, rows: slice) -> Mass:
        mass = self._gathered(prior, self.gain, label, size, rows)
        mass /= mass.sum(axis=1, keepdims=True)
        return mass.astype(np.float32)

    def posterior_variance(self, prior: Floats, label: Ints, size: int, rows: slice) -> Mass:
        """The variance of every mass, as a support is a sample: of squared shares, the sums."""
        near = self.gain**2 + 2 * self.gain  # (1 + gain)^2 is once and so much more
        squares = self._gathered(prior**2, near, label, size, rows)
        total = prior.sum() + self.gain * (self.near[rows] @ prior)
        posterior_variance: Mass = (squares / total[:, None] ** 2).astype(np.float32)
        return posterior_variance

    def _gathered(
        self, values: Floats, gain: float, label: Ints, size: int, rows: slice
    ) -> Floats:
        """Values of all truths by their label, those of near ones so much more often."""
        from scipy.sparse import csr_array

        truths = np.arange(len(self.support))
        of_label = csr_array((values, (truths, label)), shape=(len(values), size))
        found: Floats = gain * (self.near[rows] @ of_label).toarray()
        found += np.bincount(label, weights=values, minlength=size)
        return found

    def label_shares(self, prior: Floats, table: Any, rows: slice) -> Floats:
        weighted = (table.multiply(prior)).tocsr().T  # truths by labels
        found: Floats = self.gain * (self.near[rows] @ weighted).toarray()
        found += np.asarray(table @ prior)
        found /= found.sum(axis=1, keepdims=True)
        return found


@dataclass(frozen=True, eq=False)
class TableEvidence(Evidence):
    """One channel over single locations, as a table: the support is every location."""

    channel: Channel
    reports: Ints

    @cached_property
    def support(self) -> Ints:  # type: ignore[override]
        return np.arange(len(self.channel.outputs))[:, None]

    @property
    def outputs(self) -> int:
        return len(self.channel.outputs)

    @cached_property
    def table(self) -> Floats:
        """The chance of each report (row) for each location (column)."""
        truths = self.support[:, 0]
        blocks = [
            probabilities(self.channel, truths[start : start + _AT_ONCE])[:, self.reports]
            for start in range(0, len(truths), _AT_ONCE)
        ]
        return np.ascontiguousarray(np.concatenate(blocks).T)

    def marginals(self, prior: Floats) -> Floats:
        found: Floats = self.table @ prior
        return found

    def weighted_likelihood(self, rates: Floats) -> Floats:
        found: Floats = rates @ self.table
        return found

    def posterior(self, prior: Floats, label: Ints, size: int, rows: slice) -> Mass:
        joint = self.table[rows] * prior
        mass = np.zeros((len(joint), size))
        mass[:, label] = joint  # labels of single locations are distinct
        mass /= mass.sum(axis=1, keepdims=True)
        return mass.astype(np.float32)

    def label_shares(self, prior: Floats, table: Any, rows: slice) -> Floats:
        found: Floats = np.asarray((table @ (self.table[rows] * prior).T).T)
        found /= found.sum(axis=1, keepdims=True)
        return found
