"""The value of a report on the wire: the same number of characters for all reports of a task.

A report releases a few integers. Each is written big-endian in as many bytes as the largest one
needs. A set of labels is written as one bit per label if that is shorter. The result is
base64url without padding. Its size reveals nothing about a trajectory.
"""

import base64
import binascii
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nomadp.errors import ReportRefused
from nomadp.laws import Ints, LabelLaw
from nomadp.laws.selection import SubsetSelection
from nomadp.mechanisms import Mechanism, Report
from nomadp.mechanisms.oracles import FrequencyOracle
from nomadp.protocol.canonical import base64url

__all__ = ["ValueCode"]


@dataclass(frozen=True, eq=False)
class ValueCode:
    """Encoding of ``entries`` integers below ``size``, as a list or, if ``bits``, a bit set."""

    entries: int
    size: int
    bits: bool = False
    law: LabelLaw | None = None
    """Defines which rows of integers are reports; None if all are."""
    mechanism: Mechanism | None = None
    """The mechanism whose reports are written; None for an encoding that only reads."""

    @classmethod
    def of(cls, mechanism: Mechanism, length: int) -> "ValueCode":
        """The encoding of the reports of a mechanism."""
        if isinstance(mechanism, FrequencyOracle):
            law = mechanism.channel
            listed = law.entries * _width(law.entry_size)
            # A subset of k of n labels: k integers, or n bits if that is shorter.
            bits = isinstance(law, SubsetSelection) and -(-law.size // 8) < listed
            return cls(law.entries, law.entry_size, bits, law, mechanism)
        report_law = mechanism.report_law(length)
        if report_law is None or not report_law.whole:
            raise ReportRefused(
                "reports to send must be of atlas or of a frequency oracle, but are not",
                code="reports_not_sendable",
                mechanism=mechanism.name,
            )
        return cls(1, len(report_law.channel.outputs), mechanism=mechanism)

    @property
    def byte_count(self) -> int:
        return -(-self.size // 8) if self.bits else self.entries * _width(self.size)

    @property
    def characters(self) -> int:
        """Length of every value."""
        return -(-self.byte_count * 4 // 3)

    def released(self, report: Report) -> tuple[int, ...]:
        """The integers of a real report; a simulated one is refused."""
        if type(report) is not Report:
            raise ReportRefused(
                "a report to send must be drawn by Mechanism.report, got "
                f"{type(report).__name__}",
                code="report_not_drawn",
            )
        if not self._is_of(report.mechanism):
            raise ReportRefused(
                "a report to send must be drawn with the mechanism of its task, but another "
                f"{report.mechanism.name} drew this one",
                code="report_of_another_mechanism",
            )
        return report.values if report.number is None else (report.number,)

    def _is_of(self, mechanism: Mechanism) -> bool:
        own = self.mechanism
        return own is not None and (mechanism is own or mechanism.identity == own.identity)

    def text(self, numbers: tuple[int, ...]) -> str:
        """The value as it is sent."""
        return base64url(self.raw(numbers))

    def raw(self, numbers: tuple[int, ...]) -> bytes:
        if self.bits:
            bits = np.zeros(self.byte_count * 8, dtype=np.uint8)
            bits[list(numbers)] = 1
            return np.packbits(bits, bitorder="little").tobytes()
        width = _width(self.size)
        return b"".join(int(number).to_bytes(width, "big") for number in numbers)

    def parse_text(self, text: str) -> bytes:
        """The bytes of a received value; refused unless in canonical form."""
        if len(text) != self.characters:
            raise _refused()
        try:
            raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            raise _refused() from None
        # The last character may have unused bits; only zeros there are canonical.
        if base64url(raw) != text:
            raise _refused()
        return raw

    def numbers(self, raws: list[bytes]) -> tuple[Ints, NDArray[np.bool_]]:
        """The integers of many values, (n, entries), and which rows are possible reports.

        Other rows are undefined.
        """
        joined = np.frombuffer(b"".join(raws), dtype=np.uint8).reshape(
            len(raws), self.byte_count
        )
        if self.bits:
            is_set = np.unpackbits(joined, axis=1, bitorder="little")
            # Exactly `entries` bits, and none of the padding beyond the last label.
            good = (is_set.sum(axis=1) == self.entries) & ~is_set[:, self.size :].any(axis=1)
            labels = np.zeros((len(raws), self.entries), dtype=np.int64)
            labels[good] = np.nonzero(is_set[good])[1].reshape(-1, self.entries)
            return labels, good
        width = _width(self.size)
        digits = joined.reshape(len(raws), self.entries, width).astype(np.int64)
        numbers = digits @ (256 ** np.arange(width - 1, -1, -1, dtype=np.int64))
        good = np.asarray((numbers < self.size).all(axis=1))
        if self.law is not None:
            good &= self.law.possible(numbers)
        return numbers, good

    def parse(self, text: str) -> tuple[int, ...]:
        """The integers of one value; refused if it is not a possible report."""
        numbers, good = self.numbers([self.parse_text(text)])
        if not good[0]:
            raise _refused()
        return tuple(numbers[0].tolist())


def _width(size: int) -> int:
    """Bytes that hold every integer below ``size``."""
    return max(1, -(-(size - 1).bit_length() // 8))


def _refused() -> ReportRefused:
    return ReportRefused(
        "a value must be a possible report of the task's mechanism, in canonical form, but is "
        "not",
        code="report_value_malformed",
    )
