"""Outlines of a task's zones: a public file beside it, for maps.

No device reads it, and no hash names it: what a report says is fixed by the zones themselves.
So it is believed only if every location lies where the zones put it.
"""

import io
import logging
from dataclasses import replace
from pathlib import Path

import numpy as np

from nomadp.errors import NomadpError, TaskRefused
from nomadp.formats.archives import ByteSource
from nomadp.formats.zone_files import polygons_bytes, polygons_in
from nomadp.protocol.bundle import TaskBundle
from nomadp.protocol.canonical import unique_object
from nomadp.zones import Zones, polygon_zones

__all__ = [
    "OUTLINES",
    "OUTLINES_BYTES_MAX",
    "OUTLINES_FILE",
    "checked_outlines",
    "outlines_bytes",
    "read_outlines",
    "with_outlines",
]

log = logging.getLogger(__name__)

OUTLINES = "outlines"
OUTLINES_FILE = "outlines.geojson"
OUTLINES_BYTES_MAX = 4 * 2**20


def outlines_bytes(bundle: TaskBundle) -> bytes | None:
    """GeoJSON, or None of a task that has none to be drawn, or too many corners."""
    book = bundle.domain
    if not isinstance(book, Zones) or not book.polygons:
        return None
    content = polygons_bytes(book.polygons)
    return content if len(content) <= OUTLINES_BYTES_MAX else None


def checked_outlines(bundle: TaskBundle) -> bytes | None:
    """The same, to be published: polygons that lie over each other may not say it all."""
    content = outlines_bytes(bundle)
    try:
        return content and outlines_bytes(with_outlines(bundle, content))
    except TaskRefused as refusal:
        log.warning(f"maps of this task will have no outlines: {refusal}")
        return None


def with_outlines(bundle: TaskBundle, content: bytes) -> TaskBundle:
    """The same task, to be drawn with these; refused unless they are those of its zones."""
    book = bundle.domain
    if not isinstance(book, Zones):
        raise TaskRefused(
            f"{OUTLINES_FILE} must be of zones, and an ATLAS task has none",
            code="outlines_without_zones",
        )
    if len(content) > OUTLINES_BYTES_MAX:
        raise TaskRefused(
            f"{OUTLINES_FILE} must have at most {OUTLINES_BYTES_MAX} bytes",
            code="task_file_too_large",
            file=OUTLINES_FILE,
            limit=OUTLINES_BYTES_MAX,
        )
    try:
        unique_object(content)
    except ValueError:
        raise TaskRefused(
            f"{OUTLINES_FILE} must be a JSON object with every name once, and is not",
            code="outlines_malformed",
        ) from None
    source = ByteSource(OUTLINES_FILE, lambda: io.BytesIO(content), len(content))
    try:
        made = polygon_zones(bundle.locations, *polygons_in(source))
    except NomadpError as refusal:
        raise TaskRefused(str(refusal), **vars(refusal)) from refusal
    wrong = np.array(made.names)[made.of] != np.array(book.names)[book.of]
    if wrong.any():
        raise TaskRefused(
            f"{OUTLINES_FILE} must have every location in the zone that the task puts it in, "
            f"and has {np.count_nonzero(wrong)} of {len(wrong)} elsewhere; take the polygons "
            "that the zones were made by, or remove the file",
            code="outlines_mismatch",
            locations=len(wrong),
            elsewhere=int(np.count_nonzero(wrong)),
        )
    return replace(bundle, domain=replace(book, polygons=made.polygons))


def read_outlines(folder: Path, bundle: TaskBundle) -> TaskBundle:
    """With the outlines of its folder, if there are any."""
    try:
        with (folder / OUTLINES_FILE).open("rb") as file:
            content = file.read(OUTLINES_BYTES_MAX + 1)
    except FileNotFoundError:
        return bundle
    return with_outlines(bundle, content)
