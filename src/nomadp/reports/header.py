"""The header of reports: how they were made.

Whoever sends reports wrote their header: it is untrusted. What is read is bounded and typed,
and refused in one sentence before anything is built from it.
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

__all__ = ["FORMAT", "Header", "check_locations", "parsed"]

FORMAT = 1
"""Of header and columns; 0 stands for files from before there was a number."""
BYTES_MAX = 65_536
TEXT_MAX = 256
OPTIONS_MAX = 64

SYSTEM, KEYED, SIMULATED, UNKNOWN = "system", "keyed", "simulated", "unknown"
_WORDS = {SYSTEM: SYSTEM, KEYED: KEYED, SIMULATED: SIMULATED, UNKNOWN: UNKNOWN}
_WORDS |= {"seeded": SIMULATED}  # its name in format 0
_KINDS: dict[str, type] = {
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
_WHERE_ABSENT: dict[str, Any] = {"linked": True, "params": {}, "path": ""}
_FIELDS = {name: name for name in _KINDS} | {
    "mechanism_version": "version",
    "rng": "randomness",
}
_EPSILON = re.compile(r"\d{1,20}(\.\d{1,20})?(/\d{1,20})?")


@dataclass(frozen=True)
class Header:
    """How reports were made: everything needed to read them, and whether they are private."""

    mechanism: str
    version: int
    epsilon: str
    location_set_sha256: str
    randomness: str
    """The random source: system, keyed, simulated, or unknown."""
    private: bool
    nomadp_version: str
    params: Mapping[str, Any] = field(default_factory=dict)
    """The options as plain values; pinned codebooks by their hash."""
    linked: bool = True
    """Whether ids are the tids of trajectories; otherwise they are random."""
    path: str = ""
    """The code path that drew them (mechanisms/paths.py), if known."""

    @classmethod
    def of(
        cls,
        mechanism: Mechanism,
        randomness: RandomSource | None,
        *,
        linked: bool = False,
        path: str = "",
    ) -> "Header":
        """For reports drawn here; ``None`` stands for fresh randomness of the system."""
        return cls.made_by(mechanism, randomness=_source(randomness), linked=linked, path=path)

    @classmethod
    def made_by(
        cls,
        mechanism: Mechanism,
        *,
        randomness: str = UNKNOWN,
        linked: bool = True,
        path: str = "",
    ) -> "Header":
        """For reports of this mechanism, wherever they come from."""
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
        """What a file says; refused unless it is of a form and size that can be read."""
        said = parsed(content)
        if "level" in said:
            raise SchemaError(
                "these must be reports, got estimates that were decoded already",
                code="estimates_not_reports",
            )
        _check_format(said)
        said = {**_WHERE_ABSENT, **said}
        missing = [key for key in _KINDS if key not in said]
        if missing:
            raise SchemaError(
                f"reports must say how they were made; missing: {', '.join(missing)}",
                code="header_incomplete",
                missing=tuple(missing),
            )
        read = {key: _typed(key, said[key], kind) for key, kind in _KINDS.items()}
        _check_values(read)
        read["rng"] = _WORDS[read["rng"]]
        read["private"] &= read["rng"] in (SYSTEM, KEYED)
        return cls(**{_FIELDS[key]: value for key, value in read.items()})

    def as_dict(self) -> dict[str, Any]:
        said = {key: getattr(self, name) for key, name in _FIELDS.items()}
        return {**said, "format": FORMAT, "params": dict(self.params)}

    def to_json(self) -> bytes:
        return json.dumps(self.as_dict(), indent=2, sort_keys=True).encode()

    def mechanism_for(
        self, locations: LocationSet, pinned: PinnedCodebooks | None = None
    ) -> Mechanism:
        """The mechanism that made these reports; refused if it is not available here."""
        check_locations(self.location_set_sha256, locations)
        self._check_pinned(pinned)
        options = {k: v for k, v in self.params.items() if k not in ("epsilon", "pinned")}
        if pinned is not None:
            options["pinned"] = pinned
        try:
            made = make_mechanism(self.mechanism, locations, self.epsilon, **options)
        except (InvalidArgument, WrongType):
            made = None
        except NomadpError:
            raise
        except (TypeError, ValueError, ArithmeticError):  # of a mechanism of another package
            made = None
        if made is None or not _of_its_kinds(made, options):
            raise SchemaError(
                f"the options of {self.mechanism} must be of its kinds, and a header says "
                "others",
                code="options_invalid",
                mechanism=self.mechanism,
            )
        self.check_made_by(made)
        return made

    def check_made_by(self, mechanism: Mechanism) -> None:
        """Refuse reports of another law: decoding them would give wrong results."""
        here = {"mechanism": mechanism.name, "mechanism_version": mechanism.version}
        here |= {"epsilon": str(mechanism.epsilon)}
        there: dict[str, Any] = {"mechanism": self.mechanism, "mechanism_version": self.version}
        there |= {"epsilon": str(as_epsilon(self.epsilon))}
        if self.params:  # hand-made headers of format 0 may leave them out
            here, there = mechanism.get_params() | here, dict(self.params) | there
        different = [key for key in sorted({*here, *there}) if here.get(key) != there.get(key)]
        if different:
            said = (f"{key}={there.get(key)} and not {here.get(key)}" for key in different)
            raise DomainError(
                "reports must be decoded with the mechanism that made them, and their header "
                f"says {'; '.join(said)}",
                code="reports_of_another_mechanism",
                differs=tuple(different),
            )
        check_locations(self.location_set_sha256, mechanism.locations)

    def _check_pinned(self, pinned: PinnedCodebooks | None) -> None:
        made_with, given = self.params.get("pinned"), pinned and pinned.sha256
        if made_with != given:
            pinning = f"sha256={made_with}; name its file with --codebook"
            raise DomainError(
                "reports must be read with the codebook they were made with, "
                f"{pinning if made_with else 'a built one'}{f', got {given}' if given else ''}",
                code="reports_of_another_codebook",
            )


def _source(randomness: RandomSource | None) -> str:
    """Somebody else's source is unknown, whatever it says: its words may be a constant."""
    if randomness is None or type(randomness) is SystemRandom:
        return SYSTEM
    if randomness.simulated:
        return SIMULATED
    is_ours = (
        isinstance(randomness, KeyedRandom)
        and type(randomness).__module__ == KeyedRandom.__module__
    )
    return KEYED if is_ours else UNKNOWN


def _of_its_kinds(mechanism: Mechanism, options: Mapping[str, Any]) -> bool:
    """Whether only those options are decimals that may be."""
    may_be = {each.name for each in fields(mechanism) if "float" in str(each.type)}
    return all(name in may_be for name, value in options.items() if isinstance(value, float))


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


def parsed(content: bytes) -> dict[str, Any]:
    """A JSON object of bounded size, without repeated names."""
    if len(content) > BYTES_MAX:
        raise SchemaError(
            f"the metadata of reports must have at most {BYTES_MAX} bytes, got {len(content)}",
            code="metadata_too_large",
            length=len(content),
            most=BYTES_MAX,
        )
    try:
        said = json.loads(content, object_pairs_hook=named_once, parse_constant=_refused)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise SchemaError(
            "the metadata of reports must be a readable JSON object, and is not",
            code="metadata_unreadable",
        )
    return said


def _refused(text: str) -> None:
    raise InvalidArgument(f"{text} is no number", code="number_not_finite")


def _check_format(said: Mapping[str, Any]) -> None:
    number = _typed("format", said.get("format", 0), int)
    if number not in (0, FORMAT):
        raise SchemaError(
            f"reports must be of format {FORMAT} or older, got {number}; use a newer nomadp",
            code="format_unsupported",
            format=number,
        )
    known = {"format", *_KINDS}
    if number and (strange := len(set(said) - known)):
        raise SchemaError(
            f"a header of format {number} has no names but {', '.join(sorted(known))}, got "
            f"{strange} others",
            code="unknown_header_fields",
            unknown=strange,
        )


def _typed(name: str, value: Any, kind: type) -> Any:
    if type(value) is not kind or (isinstance(value, str) and len(value) > TEXT_MAX):
        wanted = {str: f"text of up to {TEXT_MAX} characters", int: "a whole number"}
        wanted |= {bool: "true or false", dict: "an object"}
        raise SchemaError(
            f"{name} of a header must be {wanted[kind]}, and is not",
            code="header_field_wrong_type",
            field=name,
        )
    return value


def _check_values(read: Mapping[str, Any]) -> None:
    rules = {
        "mechanism_version": 1 <= read["mechanism_version"] <= MOST,
        "epsilon": _EPSILON.fullmatch(read["epsilon"]) is not None,
        "location_set_sha256": re.fullmatch("[0-9a-f]{64}", read["location_set_sha256"]),
        "rng": read["rng"] in _WORDS,
        "params": len(read["params"]) <= OPTIONS_MAX
        and read["params"].get("epsilon", read["epsilon"]) == read["epsilon"],
    }
    wrong = [key for key, holds in rules.items() if not holds]
    wrong += [key for key, value in read["params"].items() if not _is_option(key, value)]
    if wrong:
        raise SchemaError(
            "a header must say what a mechanism can be, and is out of range in "
            f"{', '.join(key[:32] for key in wrong[:3])}",
            code="header_field_out_of_range",
            fields=tuple(key[:32] for key in wrong[:3]),
        )
    as_epsilon(read["epsilon"])


def _is_option(key: str, value: Any) -> bool:
    if isinstance(value, str):
        return len(key) <= TEXT_MAX and len(value) <= TEXT_MAX
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int):
        return abs(value) <= MOST  # its mechanism's own range may be narrower
    return value is None
