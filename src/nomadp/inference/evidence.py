"""The likelihood of every possible truth, from the exact law of the reports.

A *support* is a public list of possible truths: trajectories, or single locations. Evidence is
the likelihood matrix of the distinct reports over a support, in a form that is fast to multiply
with. It provides the marginal probability of each report, the expected number of people with
each truth (the E step of EM), and posterior distributions.
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

_AT_ONCE = 4096  # truths in memory at a time


def near_matrix(channel: CodewordResponse, support: Ints, reports: Ints) -> "csr_array[Any]":
    """1 where a report (column) is one of the k nearest codewords of a truth (row)."""
    from scipy.sparse import csr_array, vstack  # slow to import

    if channel.near_count == channel.atlas.size:  # all codewords have the same weight
        return csr_array(np.zeros((len(support), len(reports)), dtype=np.float64))
    near = [
        csr_array(channel.near(support[k : k + _AT_ONCE].T)[:, reports], dtype=np.float64)
        for k in range(0, len(support), _AT_ONCE)
    ]
    return csr_array(vstack(near))


class Evidence(ABC):
    """The likelihood of distinct reports, given each truth of a support."""

    support: Ints  # (truths, positions)
    reports: Ints  # (reports,) distinct

    @property
    @abstractmethod
    def outputs(self) -> int:
        """The number of possible reports."""

    @abstractmethod
    def marginals(self, prior: Floats) -> Floats:
        """The marginal probability of each report under a prior of the truths."""

    @abstractmethod
    def weighted_likelihood(self, rates: Floats) -> Floats:
        """For each truth, the sum of the likelihoods of all reports, each times its rate."""

    def expected_counts(self, prior: Floats, counts: Floats) -> Floats:
        """The expected number of reports that come from each truth (the E step of EM)."""
        # sum over reports y of counts[y] * prior(x) P(y | x) / P(y), by Bayes' theorem.
        return prior * self.weighted_likelihood(counts / self.marginals(prior))

    @abstractmethod
    def posterior(self, prior: Floats, label: Ints, size: int, rows: slice) -> Mass:
        """The posterior of the truth's label for these reports, one row each; rows sum to 1."""

    @abstractmethod
    def label_shares(self, prior: Floats, table: Any, rows: slice) -> Floats:
        """The posterior share of each label, for these reports; rows sum to 1.

        ``table`` counts how often each truth (column) has each label (row).
        """


@dataclass(frozen=True, eq=False)
class TrajectoryEvidence(Evidence):
    """Reports of codewords. The likelihood has two values: the k nearest codewords of a truth
    are more likely by the same factor, so the matrix is a constant plus a sparse one."""

    channel: CodewordResponse
    support: Ints
    reports: Ints

    @property
    def outputs(self) -> int:
        return self.channel.size

    @cached_property
    def gain(self) -> float:
        """The likelihood ratio of a near to another codeword, minus 1."""
        return float(self.channel.bound - 1)

    @cached_property
    def near(self) -> "csr_array[Any]":
        """1 where a report (row) is one of the nearest codewords of a truth (column)."""
        from scipy.sparse import csr_array  # slow to import

        return csr_array(self._near_transposed.T)

    @cached_property
    def _floor(self) -> float:
        """The likelihood of a codeword that is not near."""
        size, near = self.channel.atlas.size, self.channel.near_count
        if near == size:  # all have the same weight, and `near` marks none
            return 1 / size
        return 1 / (near * self.gain + size)

    @cached_property
    def _near_transposed(self) -> "csr_array[Any]":
        return near_matrix(self.channel, self.support, self.reports)

    def marginals(self, prior: Floats) -> Floats:
        # P(y) = sum of prior(x) P(y | x), where P(y | x) = floor (1 + gain [y near x]).
        near = self._near_transposed.T @ prior  # a view: fitting needs no second copy
        values: Floats = self._floor * (prior.sum() + self.gain * near)
        return values

    def weighted_likelihood(self, rates: Floats) -> Floats:
        near = self._near_transposed @ rates
        values: Floats = self._floor * (rates.sum() + self.gain * near)
        return values

    def posterior(self, prior: Floats, label: Ints, size: int, rows: slice) -> Mass:
        mass = self._label_sums(prior, self.gain, label, size, rows)
        mass /= mass.sum(axis=1, keepdims=True)
        return mass.astype(np.float32)

    def posterior_variance(self, prior: Floats, label: Ints, size: int, rows: slice) -> Mass:
        """The Monte Carlo variance of the posterior, as the support is a sample of truths.

        It is the sum of the squared posterior probabilities of the truths with each label.
        """
        near = self.gain**2 + 2 * self.gain  # (1 + gain)^2 - 1
        squares = self._label_sums(prior**2, near, label, size, rows)
        total = prior.sum() + self.gain * (self.near[rows] @ prior)
        posterior_variance: Mass = (squares / total[:, None] ** 2).astype(np.float32)
        return posterior_variance

    def _label_sums(
        self, values: Floats, gain: float, label: Ints, size: int, rows: slice
    ) -> Floats:
        """Sums of values over the truths of each label; near truths count 1 + gain times."""
        from scipy.sparse import csr_array

        truths = np.arange(len(self.support))
        of_label = csr_array((values, (truths, label)), shape=(len(values), size))
        sums: Floats = gain * (self.near[rows] @ of_label).toarray()
        sums += np.bincount(label, weights=values, minlength=size)
        return sums

    def label_shares(self, prior: Floats, table: Any, rows: slice) -> Floats:
        weighted = (table.multiply(prior)).tocsr().T  # truths by labels
        shares: Floats = self.gain * (self.near[rows] @ weighted).toarray()
        shares += np.asarray(table @ prior)
        shares /= shares.sum(axis=1, keepdims=True)
        return shares


@dataclass(frozen=True, eq=False)
class TableEvidence(Evidence):
    """Reports of single points, by a dense table; the support is all public locations."""

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
        """The likelihood of each report (row) given each location (column)."""
        truths = self.support[:, 0]
        blocks = [
            probabilities(self.channel, truths[start : start + _AT_ONCE])[:, self.reports]
            for start in range(0, len(truths), _AT_ONCE)
        ]
        return np.ascontiguousarray(np.concatenate(blocks).T)

    def marginals(self, prior: Floats) -> Floats:
        values: Floats = self.table @ prior
        return values

    def weighted_likelihood(self, rates: Floats) -> Floats:
        values: Floats = rates @ self.table
        return values

    def posterior(self, prior: Floats, label: Ints, size: int, rows: slice) -> Mass:
        joint = self.table[rows] * prior
        mass = np.zeros((len(joint), size))
        mass[:, label] = joint  # labels of single locations are distinct
        mass /= mass.sum(axis=1, keepdims=True)
        return mass.astype(np.float32)

    def label_shares(self, prior: Floats, table: Any, rows: slice) -> Floats:
        values: Floats = np.asarray((table @ (self.table[rows] * prior).T).T)
        values /= values.sum(axis=1, keepdims=True)
        return values
