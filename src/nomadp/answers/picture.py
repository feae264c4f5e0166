"""Pictures of answers: one page that opens offline, or the same as a figure."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import nomadp
from nomadp.answers.sections import fact_list, section
from nomadp.answers.sentences import facts, headline
from nomadp.answers.shapes import Shapes, shapes_of
from nomadp.errors import DomainError, SchemaError
from nomadp.formats.atomic import Write, write_atomically, write_file
from nomadp.formats.files import file_path
from nomadp.formats.measured_file import AnyPath
from nomadp.locations import LocationSet
from nomadp.page import listed, page
from nomadp.zones import zones_of

if TYPE_CHECKING:
    from nomadp.answers.estimate import Estimate

__all__ = ["picture_writes", "render", "with_shapes", "write_map", "write_png"]


def picture_writes(
    tables: "Estimate | Sequence[Estimate]",
    locations: LocationSet | None = None,
    *,
    map: AnyPath | None = None,  # as the option is called
    png: AnyPath | None = None,
) -> dict[Path, Write]:
    """What --map and --png ask for, to be written together with what they are of."""
    writes: dict[Path, Write] = {}
    if map is not None:
        page = render(tables, locations).encode()
        writes[file_path(map, (".html",))] = lambda part: part.write_bytes(page)
    if png is not None:
        writes |= _png_writes(png, tables, locations)
    return writes


def write_map(
    path: AnyPath, tables: "Estimate | Sequence[Estimate]", locations: LocationSet | None = None
) -> Path:
    """One self-contained page, a part for each table, at a ``path`` that ends in .html.

    ``locations`` are drawn beneath, and say where grids and cells are.
    """
    found = file_path(path, (".html",))
    return write_file(found, render(tables, locations).encode())


def write_png(
    path: AnyPath, tables: "Estimate | Sequence[Estimate]", locations: LocationSet | None = None
) -> Path:
    """The maps as one figure, at a ``path`` that ends in .png."""
    writes = _png_writes(path, tables, locations)
    write_atomically(writes)
    return next(iter(writes))


def _png_writes(
    path: AnyPath, tables: "Estimate | Sequence[Estimate]", locations: LocationSet | None
) -> dict[Path, Write]:
    from nomadp.answers.figure import draw  # slow to import, and an extra

    found = file_path(path, (".png",))
    several = [with_shapes(each, locations) for each in _several(tables)]
    return {found: lambda part: draw(part, several, locations)}


def render(
    tables: "Estimate | Sequence[Estimate]", locations: LocationSet | None = None
) -> str:
    """The page as text."""
    several = [with_shapes(each, locations) for each in _several(tables)]
    first = several[0]
    told = [facts(each) for each in several]
    shared = [each for each in told[0] if all(each in others for others in told)]
    sections = [
        section(each, locations, f"answer-{k}", shared, alone=len(several) == 1)
        for k, each in enumerate(several)
    ]
    about = first.about
    text = {
        "title": headline(first) if len(several) == 1 else "Where people go",
        "stamp": "synthetic trajectories" if first.kind == "synthetic" else "estimates",
        "lead": _lead(several),
        "version": str(about.get("nomadp_version", nomadp.__version__)),
        "places": "not given" if locations is None else f"{len(locations):,}",
        "location_set_sha256": str(
            about.get("location_set_sha256", locations.sha256 if locations else "not given")
        ),
    }
    markup = {"answers": "\n".join(sections), "facts": fact_list(shared)}
    return page("nomadp.answers", markup, text, ("map",))


def _several(tables: "Estimate | Sequence[Estimate]") -> "list[Estimate]":
    found = list(tables) if isinstance(tables, list | tuple) else [tables]
    if not found:
        raise SchemaError("a picture must be of at least one table, got none", code="no_tables")
    return found  # type: ignore[return-value]


def _lead(several: "list[Estimate]") -> str:
    named = {"synthetic": "synthetic trajectories", "density": "density of visits"}
    kinds = listed(list(dict.fromkeys(named.get(each.kind, each.kind) for each in several)))
    about = several[0].about
    reports = (
        f"{about['reports']:,} private reports" if "reports" in about else "private reports"
    )
    at = f" at ε\u00a0=\u00a0{about['epsilon']}" if "epsilon" in about else ""
    return (
        f"{kinds.capitalize()}, estimated from {reports}{at}. The less certain a share is, the "
        "fewer shades show it."
    )


def with_shapes(table: "Estimate", locations: LocationSet | None) -> "Estimate":
    """With the outlines of its grid or cells, where a table only says by which rule."""
    rule = str(table.about.get("areas", table.about.get("zones", "")))
    if table.shapes is not None or locations is None:
        return table
    if "origin" in table.columns and "zone" not in rule and rule == "locations":
        places = zip(locations.lat.tolist(), locations.lng.tolist(), strict=True)
        return replace(table, shapes=Shapes({}, dict(zip(locations.ids, places, strict=True))))
    if not rule.startswith(("grid:", "h3:")):
        return table
    try:
        return replace(table, shapes=shapes_of(zones_of(locations, rule)))
    except DomainError:  # of a rule that is not ours
        return table
