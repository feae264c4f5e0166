"""Why an export cannot be read: a stable word, and a sentence that never quotes it.

Another language's importer refuses the same files by the same words (tests/imports).
"""

from nomadp.errors import SchemaError

__all__ = ["REASONS", "BadContent", "BadRows", "Unreadable"]

READS = (
    "GeoJSON with features, a Google Timeline (Android or iOS), Records.json, a month of a "
    "Semantic Location History, Overland or OwnTracks"
)

REASONS = {
    "not_json": "must be well-formed JSON, and is cut short or damaged; export it again",
    "not_utf8": "must be encoded in UTF-8, and is not; save it as UTF-8",
    "unknown_json": f"must be {READS}, and is other JSON",
    "timeline_edits": (
        "holds the edits of a Google Timeline, which are no journeys; give the Timeline export "
        "of the phone, or Records.json of the same archive"
    ),
    "raw_only": (
        "is a Google Timeline that holds raw signals only; add --raw-signals to read them, or "
        "export again once the phone has made its Timeline"
    ),
    "no_places": (
        "must have at least one place with a time, and none of its entries has both in a form "
        "that is known; where its times name no zone, --time-zone says where the clock stood"
    ),
    "too_large": "must be of entries of at most 16 million characters, and one is longer",
    "not_xml": "must be well-formed XML, and is cut short or damaged",
    "doctype": "must not have a document type declaration, and has one",
    "too_deep": "must not nest elements more than 100 deep, and does",
    "unknown_xml": "must be GPX or KML, and is other XML",
    "web_page": "is a web page, not an export of journeys; download the file itself",
    "tcx": "is a TCX file, which is not read; export GPX instead",
    "fit": "is a FIT file, which is not read; export GPX instead",
    "damaged_archive": "must be a whole archive (zip or gzip), and is damaged or not one",
    "locked_archive": "must be an archive without a password or a rare method of packing",
    "bomb": (
        "unpacks to more than 200 times its size or over 4 GB, which no export does; unpack it "
        "yourself if you trust it"
    ),
    "empty_archive": "must hold at least one file that is read here, and holds none",
}
"""By their codes. Importers in other languages write them with hyphens."""


class Unreadable(SchemaError):
    """A file that is refused for one of `REASONS`; it is named, never quoted."""

    def __init__(self, label: object, *, code: str | None = None) -> None:
        # An error that comes from another process has its whole message, and no code yet.
        super().__init__(f"{label} {REASONS[code]}" if code else str(label), code=code)

    @property
    def reason(self) -> str:
        """The code as other languages write it."""
        return self.code.replace("_", "-")


class BadRows(SchemaError):
    """A file of a known form whose values break a rule: a device reports all the same."""


class BadContent(Exception):
    """What an importer raises of a stream it cannot read; its reader names the file."""

    def __init__(self, *, code: str) -> None:
        super().__init__(code)
        self.code = code
