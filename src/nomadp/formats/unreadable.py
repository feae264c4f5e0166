"""Why an export cannot be read: a stable code, and a message that never quotes the file.

The importers in other languages reject the same files with the same codes (tests/imports).
"""

from nomadp.errors import SchemaError

__all__ = ["REASONS", "BadContent", "BadRows", "Unreadable"]

SUPPORTED_JSON = (
    "GeoJSON with features, a Google Timeline (Android or iOS), Records.json, a month of a "
    "Semantic Location History, Overland or OwnTracks"
)

REASONS = {
    "not_json": "must be well-formed JSON, but it is truncated or damaged; export it again",
    "not_utf8": "must be encoded in UTF-8, but it is not; save it as UTF-8",
    "unknown_json": f"must be {SUPPORTED_JSON}, but it is other JSON",
    "timeline_edits": (
        "contains the edits of a Google Timeline, which are not trajectories; use the phone's "
        "Timeline export, or Records.json from the same archive"
    ),
    "raw_only": (
        "is a Google Timeline that contains only raw signals; add --raw-signals to read them, "
        "or export it again after the phone has built its Timeline"
    ),
    "no_places": (
        "must contain at least one place with a time, but no entry has both in a known form; "
        "if its times have no time zone, set it with --time-zone"
    ),
    "too_large": "must have entries of at most 16 million characters, but one is longer",
    "not_xml": "must be well-formed XML, but it is truncated or damaged",
    "doctype": "must not have a document type declaration, but it has one",
    "too_deep": "must not nest elements more than 100 levels deep, but it does",
    "unknown_xml": "must be GPX or KML, but it is other XML",
    "web_page": "is a web page, not an export of trajectories; download the file itself",
    "tcx": "is a TCX file, which is not supported; export GPX instead",
    "fit": "is a FIT file, which is not supported; export GPX instead",
    "damaged_archive": "must be a complete zip or gzip archive, but it is damaged or not one",
    "locked_archive": (
        "must be an archive without a password that uses a common compression method, but it "
        "is not"
    ),
    "bomb": (
        "expands to more than 200 times its size or to over 4 GB, which no export does; unpack "
        "it yourself if you trust it"
    ),
    "empty_archive": "must contain at least one file of a supported format, but it has none",
}
"""Messages by error code. Importers in other languages write the codes with hyphens."""


class Unreadable(SchemaError):
    """A file that is rejected for one of `REASONS`. The error names it and never quotes it."""

    def __init__(self, label: object, *, code: str | None = None) -> None:
        # An error that comes from another process has a complete message, and no code yet.
        super().__init__(f"{label} {REASONS[code]}" if code else str(label), code=code)

    @property
    def reason(self) -> str:
        """The code with hyphens, as importers in other languages write it."""
        return self.code.replace("_", "-")


class BadRows(SchemaError):
    """A file of a known format whose values break a rule.

    A device reports anyway: whether it reports must not depend on private values.
    """


class BadContent(Exception):
    """An importer cannot read a stream. Its caller catches this and names the file."""

    def __init__(self, *, code: str) -> None:
        super().__init__(code)
        self.code = code
