"""Outlines of a task's zones: a public file for maps.

Devices do not read it, and no hash covers it, since the zones alone define the reports. It is
therefore accepted only if it puts every location into the same zone as the task does.
"""

import io
import logging
from dataclasses import replace
from pathlib import Path

import numpy as np

from nomadp.errors import NomadpError, TaskRefused
from nomadp.formats.archives import ByteSource
from nomadp.formats.zone_files import polygons_bytes, polygons_of
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
    """GeoJSON; None if the task has no polygons, or if they are too large."""
    zones = bundle.domain
    if not isinstance(zones, Zones) or not zones.polygons:
        return None
    content = polygons_bytes(zones.polygons)
    return content if len(content) <= OUTLINES_BYTES_MAX else None


def checked_outlines(bundle: TaskBundle) -> bytes | None:
    """The outlines to publish; None if overlapping polygons do not reproduce the zones."""
    content = outlines_bytes(bundle)
    try:
        return content and outlines_bytes(with_outlines(bundle, content))
    except TaskRefused as refusal:
        log.warning(f"maps of this task will have no outlines: {refusal}")
        return None


def with_outlines(bundle: TaskBundle, content: bytes) -> TaskBundle:
    """The bundle with these outlines; refused unless they match its zones."""
    zones = bundle.domain
    if not isinstance(zones, Zones):
        raise TaskRefused(
            f"{OUTLINES_FILE} must belong to a task with zones, but an ATLAS task has none",
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
            f"{OUTLINES_FILE} must be a JSON object with distinct names, but is not",
            code="outlines_malformed",
        ) from None
    source = ByteSource(OUTLINES_FILE, lambda: io.BytesIO(content), len(content))
    try:
        drawn = polygon_zones(bundle.locations, *polygons_of(source))
    except NomadpError as refusal:
        raise TaskRefused(str(refusal), **vars(refusal)) from refusal
    # Compared by name, since the order of zones in a file does not matter.
    wrong = np.array(drawn.names)[drawn.of] != np.array(zones.names)[zones.of]
    if wrong.any():
        raise TaskRefused(
            f"{OUTLINES_FILE} must put every location into its zone in the task, got "
            f"{np.count_nonzero(wrong)} of {len(wrong)} in others; use the polygons that the "
            "zones were made from, or remove the file",
            code="outlines_mismatch",
            locations=len(wrong),
            elsewhere=int(np.count_nonzero(wrong)),
        )
    return replace(bundle, domain=replace(zones, polygons=drawn.polygons))


def read_outlines(folder: Path, bundle: TaskBundle) -> TaskBundle:
    """The bundle with the outlines in its folder, if there are any."""
    try:
        with (folder / OUTLINES_FILE).open("rb") as file:
            content = file.read(OUTLINES_BYTES_MAX + 1)
    except FileNotFoundError:
        return bundle
    return with_outlines(bundle, content)
