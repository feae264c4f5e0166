"""The exceptions of NomaDP.

NomadpError
 +-- SchemaError            (also ValueError)    a file or table has the wrong shape
 +-- DomainError            (also ValueError)    something does not fit the public location set
 +-- BudgetError            (also ValueError)    an epsilon or a split of it is not valid
 +-- TaskRefused            (also ValueError)    a task that violates the rules
 +-- ReportRefused          (also ValueError)    a report that cannot be sent or kept
 +-- LedgerRefused          (also RuntimeError)  the device's ledger forbids a report
 +-- UploadFailed           (also RuntimeError)  a collector did not take what was sent
 +-- RandomnessUnavailable  (also RuntimeError)  no random words, so no output
 +-- NotPrivateError        (also RuntimeError)  something not private, where it must be
 +-- OutputError            (also RuntimeError)  an output cannot be written
 +-- ExtraMissing           (also ImportError)   an optional package is not installed
 +-- InvalidArgument        (also ValueError)    an argument of a function is out of range
 +-- WrongType              (also TypeError)     an argument of a function is of another type
 +-- OutOfRange             (also IndexError)    an index is out of range

A message states the requirement, the value and the remedy, and never a private location.
Programs read ``code`` and the facts beside it, not the message, whose wording may change:

    raise DomainError("... got 3 unknown", code="unknown_locations", unknown=3)

docs/reference/errors.md lists every code; it is written from these calls.
"""

from typing import ClassVar

__all__ = [
    "BudgetError",
    "DomainError",
    "ExtraMissing",
    "InvalidArgument",
    "LedgerRefused",
    "NomadpError",
    "NotPrivateError",
    "OutOfRange",
    "OutputError",
    "RandomnessUnavailable",
    "ReportRefused",
    "SchemaError",
    "TaskRefused",
    "UploadFailed",
    "WrongType",
]


class NomadpError(Exception):
    """Base class of every error that NomaDP raises on purpose.

    ``code`` identifies the error. It is stable across versions and appears in ``--json``. The
    values in the message are attributes, such as ``unknown`` or ``length``. ``kind`` is the
    code of the class, and the default of ``code``.

    >>> import nomadp
    >>> try:
    ...     nomadp.as_epsilon(0)
    ... except nomadp.NomadpError as refusal:
    ...     print(refusal.kind)
    budget
    """

    kind: ClassVar[str] = "refused"
    code: str

    def __init__(self, message: str, *, code: str | None = None, **facts: object) -> None:
        super().__init__(message)
        # As attributes they survive the pickling between processes.
        self.__dict__.update(facts, code=code or self.kind)


class SchemaError(NomadpError, ValueError):
    """A file or table is malformed, or has missing columns or invalid values.

    >>> import nomadp
    >>> nomadp.LocationSet.from_columns(["a", "a"], [1, 2], [3, 4])
    Traceback (most recent call last):
    nomadp.errors.SchemaError: location ids must be unique, got 1 duplicates...
    """

    kind = "schema"


class DomainError(NomadpError, ValueError):
    """A value does not fit the public location set, the mechanism or the query.

    >>> import nomadp
    >>> nomadp.TrajectorySet.from_lists([[7]], size=3)
    Traceback (most recent call last):
    nomadp.errors.DomainError: every location must be an index into the public set of 3, ...
    """

    kind = "domain"


class BudgetError(NomadpError, ValueError):
    """An epsilon is out of range, or shares of it do not add up to the whole.

    >>> import nomadp
    >>> nomadp.as_epsilon(100)
    Traceback (most recent call last):
    nomadp.errors.BudgetError: epsilon must be a number above 0 and at most 20, ...
    """

    kind = "budget"


class TaskRefused(NomadpError, ValueError):
    """A task violates the rules, or its files do not match it."""

    kind = "task"


class ReportRefused(NomadpError, ValueError):
    """A report is simulated, or its task's mechanism cannot have released it."""

    kind = "report"


class LedgerRefused(NomadpError, RuntimeError):
    """A device's budget is used up, or its ledger is unusable: nothing was perturbed."""

    kind = "ledger"


class UploadFailed(NomadpError, RuntimeError):
    """A collector could not be reached or did not accept a report; the device keeps it."""

    kind = "upload"


class RandomnessUnavailable(NomadpError, RuntimeError):
    """The source of random words failed, so nothing may be released.

    >>> import nomadp
    >>> issubclass(nomadp.RandomnessUnavailable, RuntimeError)
    True
    """

    kind = "randomness"


class NotPrivateError(NomadpError, RuntimeError):
    """A mechanism or report that is not private was used where only private ones may be.

    >>> import nomadp
    >>> city = nomadp.synthetic_city(places=50, trips=1)
    >>> nomadp.make_mechanism("cgm", city.locations, epsilon=1).report([3])
    Traceback (most recent call last):
    nomadp.errors.NotPrivateError: a report must be private, got cgm, ...
    """

    kind = "not_private"


class ExtraMissing(NomadpError, ImportError):
    """An optional package is not installed; see `nomadp.extras`."""

    kind = "extra"


class OutputError(NomadpError, RuntimeError):
    """An output cannot be written: the disk is full or read-only, or access is denied."""

    kind = "output"


class InvalidArgument(NomadpError, ValueError):
    """An argument of a function has a value that is not allowed."""

    kind = "argument"


class WrongType(NomadpError, TypeError):
    """An argument of a function has a type that is not allowed."""

    kind = "type"


class OutOfRange(NomadpError, IndexError):
    """An index is out of range; a private index is not shown."""

    kind = "index"
