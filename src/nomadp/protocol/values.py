"""A report's value on the wire: as many characters for every report of a task.

What is released is a few whole numbers. They are written big-endian, each in as many bytes as
the largest takes; a set of labels as a bit for each label instead where that is shorter; then
base64url without padding. Nothing about a journey can be read off its size.
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
    """Of ``entries`` numbers below ``size`` each, listed or, if ``bits``, as a set of them."""

    entries: int
    size: int
    bits: bool = False
    law: LabelLaw | None = None
    """Which rows of numbers are reports, if not all."""
    mechanism: Mechanism | None = None
    """Whose reports are written; without one, none are."""

    @classmethod
    def of(cls, mechanism: Mechanism, length: int) -> "ValueCode":
        """How reports of this mechanism are written."""
        if isinstance(mechanism, FrequencyOracle):
            law = mechanism.channel
            listed = law.entries * _width(law.entry_size)
            bits = isinstance(law, SubsetSelection) and -(-law.size // 8) < listed
            return cls(law.entries, law.entry_size, bits, law, mechanism)
        report_law = mechanism.report_law(length)
        if report_law is None or not report_law.whole:
            raise ReportRefused(
                "reports must be of atlas or of a direct question to be sent",
                code="reports_not_sendable",
                mechanism=mechanism.name,
            )
        return cls(1, len(report_law.channel.outputs), mechanism=mechanism)

    @property
    def byte_count(self) -> int:
        return -(-self.size // 8) if self.bits else self.entries * _width(self.size)

    @property
    def characters(self) -> int:
        """Of every value."""
        return -(-self.byte_count * 4 // 3)

    def released(self, report: Report) -> tuple[int, ...]:
        """The numbers that a report of a person is; nothing simulated has any."""
        if type(report) is not Report:
            raise ReportRefused(
                "a report must be drawn by Mechanism.report to be sent, got "
                f"{type(report).__name__}",
                code="report_not_drawn",
            )
        if not self._is_of(report.mechanism):
            raise ReportRefused(
                "a report must be drawn with its task's mechanism to be sent, and another "
                f"{report.mechanism.name} drew this one",
                code="report_of_another_mechanism",
            )
        return report.values if report.number is None else (report.number,)

    def _is_of(self, mechanism: Mechanism) -> bool:
        own = self.mechanism
        return own is not None and (mechanism is own or mechanism.identity == own.identity)

    def text(self, numbers: tuple[int, ...]) -> str:
        """As it travels."""
        return base64url(self.raw(numbers))

    def raw(self, numbers: tuple[int, ...]) -> bytes:
        if self.bits:
            bits = np.zeros(self.byte_count * 8, dtype=np.uint8)
            bits[list(numbers)] = 1
            return np.packbits(bits, bitorder="little").tobytes()
        width = _width(self.size)
        return b"".join(int(number).to_bytes(width, "big") for number in numbers)

    def parse_text(self, text: str) -> bytes:
        """The bytes of a value somebody sent; refused unless written in the one way."""
        if len(text) != self.characters:
            raise _refused()
        try:
            raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            raise _refused() from None
        if base64url(raw) != text:
            raise _refused()
        return raw

    def numbers(self, raws: list[bytes]) -> tuple[Ints, NDArray[np.bool_]]:
        """What each of many values says, (n, entries), and which can have been released.

        The others' rows mean nothing.
        """
        joined = np.frombuffer(b"".join(raws), dtype=np.uint8).reshape(
            len(raws), self.byte_count
        )
        if self.bits:
            held = np.unpackbits(joined, axis=1, bitorder="little")
            good = (held.sum(axis=1) == self.entries) & ~held[:, self.size :].any(axis=1)
            found = np.zeros((len(raws), self.entries), dtype=np.int64)
            found[good] = np.nonzero(held[good])[1].reshape(-1, self.entries)
            return found, good
        width = _width(self.size)
        digits = joined.reshape(len(raws), self.entries, width).astype(np.int64)
        found = digits @ (256 ** np.arange(width - 1, -1, -1, dtype=np.int64))
        good = np.asarray((found < self.size).all(axis=1))
        if self.law is not None:
            good &= self.law.possible(found)
        return found, good

    def parse(self, text: str) -> tuple[int, ...]:
        """The numbers of one value, or a refusal."""
        found, good = self.numbers([self.parse_text(text)])
        if not good[0]:
            raise _refused()
        return tuple(found[0].tolist())


def _width(size: int) -> int:
    """Bytes that hold every number below a size."""
    return max(1, -(-(size - 1).bit_length() // 8))


def _refused() -> ReportRefused:
    return ReportRefused(
        "a value must be one that the task's mechanism releases, in its one form",
        code="report_value_malformed",
    )
