"""What NomaDP refuses, and why.

NomadpError
 +-- SchemaError            (also ValueError)    a file or table has the wrong shape
 +-- DomainError            (also ValueError)    something does not fit the public location set
 +-- BudgetError            (also ValueError)    an epsilon or a split of it cannot be spent
 +-- RandomnessUnavailable  (also RuntimeError)  no random words, so no output
 +-- NotPrivateError        (also RuntimeError)  an experiment-only variant, not named in full
 +-- AuditFailed            (also RuntimeError)  a mechanism loses more than it claims
 +-- OutputError            (also RuntimeError)  an output cannot be written
 +-- ExtraMissing           (also ImportError)   an optional package is not installed

A message says what must hold, what came, and what to do; it never holds a private location.
"""

from typing import ClassVar

__all__ = [
    "AuditFailed",
    "BudgetError",
    "DomainError",
    "ExtraMissing",
    "NomadpError",
    "NotPrivateError",
    "OutputError",
    "RandomnessUnavailable",
    "SchemaError",
]


class NomadpError(Exception):
    """Base of every refusal; ``code`` is stable across versions and appears in ``--json``."""

    code: ClassVar[str] = "refused"


class SchemaError(NomadpError, ValueError):
    """A file or table cannot be read as what it was said to be."""

    code = "schema"


class DomainError(NomadpError, ValueError):
    """Locations or trajectories do not fit the public location set."""

    code = "domain"


class BudgetError(NomadpError, ValueError):
    """An epsilon is out of range, or shares of it do not add up to the whole."""

    code = "budget"


class RandomnessUnavailable(NomadpError, RuntimeError):
    """The source of random words failed, so nothing may be released."""

    code = "randomness"


class NotPrivateError(NomadpError, RuntimeError):
    """A variant that is not private was reached without asking for it by its full name."""

    code = "not-private"


class AuditFailed(NomadpError, RuntimeError):
    """A mechanism loses more privacy than the epsilon it claims."""

    code = "audit"


class ExtraMissing(NomadpError, ImportError):
    """A package that only some people need is not installed; see `nomadp.extras`."""

    code = "extra"


class OutputError(NomadpError, RuntimeError):
    """An output cannot be written: the disk is full or read-only, or the place not ours."""

    code = "output"
