"""The header of reports: how they were made.

The sender of reports writes their header, so it is untrusted. Its size, fields and types are
checked before anything is built from it, and an error names the first thing that is wrong.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import nomadp
from nomadp.budget import as_epsilon
from nomadp.errors import (
    DomainError,
    InvalidArgument,
    NomadpError,
    SchemaError,
    WrongType,
)
from nomadp.locations import LocationSet
from nomadp.mechanisms import Mechanism, make_mechanism
from nomadp.mechanisms.atlas import PinnedCodebooks
from nomadp.mechanisms.base import MOST
from nomadp.protocol.canonical import named_once
from nomadp.randomness import KeyedRandom, RandomSource, SystemRandom

__all__ = ["FORMAT", "Header", "check_locations", "parse_metadata"]

FORMAT = 1
"""Version of header and columns. 0 means a file from before there were versions."""
BYTES_MAX = 65_536
TEXT_MAX = 256
OPTIONS_MAX = 64

SYSTEM, KEYED, SIMULATED, UNKNOWN = "system", "keyed", "simulated", "unknown"
_SOURCE_KINDS = {SYSTEM: SYSTEM, KEYED: KEYED, SIMULATED: SIMULATED, UNKNOWN: UNKNOWN}
_SOURCE_KINDS |= {"seeded": SIMULATED}  # the name in format 0
_TYPES: dict[str, type] = {
    "mechanism": str,
    "mechanism_version": int,
    "epsilon": str,
    "location_set_sha256": str,
    "rng": str,
    "private": bool,
    "nomadp_version": str,
    "linked": bool,
    "params": dict,
    "path": str,
}
_DEFAULTS: dict[str, Any] = {"linked": True, "params": {}, "path": ""}
_ATTRIBUTES = {name: name for name in _TYPES} | {
    "mechanism_version": "version",
    "rng": "randomness",
}
_EPSILON = re.compile(r"\d{1,20}(\.\d{1,20})?(/\d{1,20})?")


@dataclass(frozen=True)
class Header:
    """How reports were made: everything needed to read them, and whether they are private."""

    mechanism: str
    """The name of the mechanism."""
    version: int
    """The version of the mechanism."""
    epsilon: str
    """The epsilon of each report, as exact text."""
    location_set_sha256: str
    """The hash of the location set."""
    randomness: str
    """The random source: system, keyed, simulated, or unknown."""
    private: bool
    """Whether the reports are private: a private mechanism, and randomness that is secret."""
    nomadp_version: str
    """The version of NomaDP that made the reports."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """The options as plain values; pinned codebooks are named by their hash."""
    linked: bool = True
    """Whether ids are the tids of trajectories; otherwise they are random."""
    path: str = ""
    """The code path that drew them (mechanisms/dispatch.py), if known."""

    @classmethod
    def of(
        cls,
        mechanism: Mechanism,
        randomness: RandomSource | None,
        *,
        linked: bool = False,
        path: str = "",
    ) -> "Header":
        """The header of reports drawn here. ``None`` means fresh randomness from the system."""
        return cls.made_by(
            mechanism, randomness=_source_kind(randomness), linked=linked, path=path
        )

    @classmethod
    def made_by(
        cls,
        mechanism: Mechanism,
        *,
        randomness: str = UNKNOWN,
        linked: bool = True,
        path: str = "",
    ) -> "Header":
        """The header of reports of this mechanism from any source; by default not private."""
        return cls(
            mechanism.name,
            mechanism.version,
            str(mechanism.epsilon),
            mechanism.locations.sha256,
            randomness,
            mechanism.private and randomness in (SYSTEM, KEYED),
            nomadp.__version__,
            mechanism.get_params(),
            linked,
            path,
        )

    @classmethod
    def from_json(cls, content: bytes) -> "Header":
        """Parse an untrusted header."""
        given = parse_metadata(content)
        if "level" in given:
            raise SchemaError(
                "the input must be reports, got decoded estimates",
                code="estimates_not_reports",
            )
        _check_format(given)
        given = {**_DEFAULTS, **given}
        missing = [key for key in _TYPES if key not in given]
        if missing:
            raise SchemaError(
                f"reports must say how they were made; missing: {', '.join(missing)}",
                code="header_incomplete",
                missing=tuple(missing),
            )
        values = {key: _typed(key, given[key], kind) for key, kind in _TYPES.items()}
        _check_values(values)
        values["rng"] = _SOURCE_KINDS[values["rng"]]
        # A sender may claim less than the random source allows, never more.
        values["private"] &= values["rng"] in (SYSTEM, KEYED)
        return cls(**{_ATTRIBUTES[key]: value for key, value in values.items()})

    def as_dict(self) -> dict[str, Any]:
        values = {key: getattr(self, name) for key, name in _ATTRIBUTES.items()}
        return {**values, "format": FORMAT, "params": dict(self.params)}

    def to_json(self) -> bytes:
        return json.dumps(self.as_dict(), indent=2, sort_keys=True).encode()

    def mechanism_for(
        self, locations: LocationSet, pinned: PinnedCodebooks | None = None
    ) -> Mechanism:
        """The mechanism that made these reports; an error if it is not available here."""
        check_locations(self.location_set_sha256, locations)
        self._check_pinned(pinned)
        options = {k: v for k, v in self.params.items() if k not in ("epsilon", "pinned")}
        if pinned is not None:
            options["pinned"] = pinned
        try:
            mechanism = make_mechanism(self.mechanism, locations, self.epsilon, **options)
        except (InvalidArgument, WrongType):
            mechanism = None
        except NomadpError:  # before ValueError, which many of ours derive from
            raise
        except (TypeError, ValueError, ArithmeticError):  # by a mechanism of another package
            mechanism = None
        if mechanism is None or not _has_its_types(mechanism, options):
            raise SchemaError(
                f"the options of {self.mechanism} must have the names and types that it "
                "defines, got a header with others",
                code="options_invalid",
                mechanism=self.mechanism,
            )
        self.check_made_by(mechanism)
        return mechanism

    def check_made_by(self, mechanism: Mechanism) -> None:
        """Refuse reports of another law: decoding them would give wrong results."""
        actual = {"mechanism": mechanism.name, "mechanism_version": mechanism.version}
        actual |= {"epsilon": str(mechanism.epsilon)}
        claimed: dict[str, Any] = {"mechanism": self.mechanism}
        claimed |= {"mechanism_version": self.version}
        claimed |= {"epsilon": str(as_epsilon(self.epsilon))}
        if self.params:  # hand-made headers of format 0 may leave them out
            actual, claimed = mechanism.get_params() | actual, dict(self.params) | claimed
        keys = sorted({*actual, *claimed})
        differs = [key for key in keys if actual.get(key) != claimed.get(key)]
        if differs:
            claims = (f"{key}={claimed.get(key)} and not {actual.get(key)}" for key in differs)
            raise DomainError(
                "reports must be decoded with the mechanism that made them, but their header "
                f"says {'; '.join(claims)}",
                code="reports_of_another_mechanism",
                differs=tuple(differs),
            )
        check_locations(self.location_set_sha256, mechanism.locations)

    def _check_pinned(self, pinned: PinnedCodebooks | None) -> None:
        expected, given = self.params.get("pinned"), pinned and pinned.sha256
        if expected != given:
            codebook = f"sha256={expected}; name its file with --codebook"
            raise DomainError(
                "reports must be read with the codebook they were made with, "
                f"{codebook if expected else 'a built one'}{f', got {given}' if given else ''}",
                code="reports_of_another_codebook",
            )


def _source_kind(randomness: RandomSource | None) -> str:
    """The kind of a random source.

    A class of another package is unknown, whatever it claims: it could return a constant.
    """
    if randomness is None or type(randomness) is SystemRandom:
        return SYSTEM
    if randomness.simulated:
        return SIMULATED
    is_ours = (
        isinstance(randomness, KeyedRandom)
        and type(randomness).__module__ == KeyedRandom.__module__
    )
    return KEYED if is_ours else UNKNOWN


def _has_its_types(mechanism: Mechanism, options: Mapping[str, Any]) -> bool:
    """Whether every float among the options belongs to a field that may be a float."""
    may_be_float = {each.name for each in fields(mechanism) if "float" in str(each.type)}
    floats = {name for name, value in options.items() if isinstance(value, float)}
    return floats <= may_be_float


def check_locations(claimed: Any, locations: LocationSet) -> None:
    """Refuse a location set other than the one that the reports were made with."""
    if claimed != locations.sha256:
        raise DomainError(
            "reports must be read with the locations they were made with, "
            f"sha256={str(claimed)[:64]}, got {locations.sha256}",
            code="reports_of_other_locations",
            expected=str(claimed)[:64],
            given=locations.sha256,
        )


def parse_metadata(content: bytes) -> dict[str, Any]:
    """A JSON object of bounded size, without repeated names."""
    if len(content) > BYTES_MAX:
        raise SchemaError(
            f"the metadata of reports must have at most {BYTES_MAX} bytes, got {len(content)}",
            code="metadata_too_large",
            length=len(content),
            most=BYTES_MAX,
        )
    try:
        metadata = json.loads(
            content, object_pairs_hook=named_once, parse_constant=_refuse_constant
        )
    except (ValueError, RecursionError):
        metadata = None
    if not isinstance(metadata, dict):
        raise SchemaError(
            "the metadata of reports must be a readable JSON object, but is not",
            code="metadata_unreadable",
        )
    return metadata


def _refuse_constant(text: str) -> None:
    """Python's JSON parser accepts NaN and Infinity, which are not JSON."""
    raise InvalidArgument(f"{text} is not a number", code="number_not_finite")


def _check_format(given: Mapping[str, Any]) -> None:
    number = _typed("format", given.get("format", 0), int)
    if number not in (0, FORMAT):
        raise SchemaError(
            f"reports must be of format {FORMAT} or older, got {number}; use a newer nomadp",
            code="format_unsupported",
            format=number,
        )
    known = {"format", *_TYPES}
    if number and (unknown := len(set(given) - known)):
        raise SchemaError(
            f"a header of format {number} must have no names but {', '.join(sorted(known))}, "
            f"got {unknown} others",
            code="unknown_header_fields",
            unknown=unknown,
        )


def _typed(name: str, value: Any, kind: type) -> Any:
    if type(value) is not kind or (isinstance(value, str) and len(value) > TEXT_MAX):
        expected = {str: f"text of up to {TEXT_MAX} characters", int: "a whole number"}
        expected |= {bool: "true or false", dict: "an object"}
        raise SchemaError(
            f"{name} of a header must be {expected[kind]}, but is not",
            code="header_field_wrong_type",
            field=name,
        )
    return value


def _check_values(values: Mapping[str, Any]) -> None:
    rules = {
        "mechanism_version": 1 <= values["mechanism_version"] <= MOST,
        "epsilon": _EPSILON.fullmatch(values["epsilon"]) is not None,
        "location_set_sha256": re.fullmatch("[0-9a-f]{64}", values["location_set_sha256"]),
        "rng": values["rng"] in _SOURCE_KINDS,
        "params": len(values["params"]) <= OPTIONS_MAX
        and values["params"].get("epsilon", values["epsilon"]) == values["epsilon"],
    }
    invalid = [key for key, holds in rules.items() if not holds]
    invalid += [key for key, value in values["params"].items() if not _is_option(key, value)]
    if invalid:
        # The names are a sender's too: a few, cut short.
        shown = tuple(key[:32] for key in invalid[:3])
        raise SchemaError(
            f"a header must describe a possible mechanism, got invalid {', '.join(shown)}",
            code="header_field_out_of_range",
            fields=shown,
        )
    as_epsilon(values["epsilon"])


def _is_option(key: str, value: Any) -> bool:
    if isinstance(value, str):
        return len(key) <= TEXT_MAX and len(value) <= TEXT_MAX
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int):
        return abs(value) <= MOST  # its mechanism's own range may be narrower
    return value is None
