"""Maps of estimates, as one page that opens offline or as a figure."""

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
    """The files of --map and --png, to be written together with those of the tables."""
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
    """One self-contained page with a section for each table; ``path`` ends in .html.

    ``locations`` are drawn on the map, and locate the cells of grids and of H3.
    """
    return write_file(file_path(path, (".html",)), render(tables, locations).encode())


def write_png(
    path: AnyPath, tables: "Estimate | Sequence[Estimate]", locations: LocationSet | None = None
) -> Path:
    """One figure with all maps; ``path`` ends in .png."""
    writes = _png_writes(path, tables, locations)
    write_atomically(writes)
    return next(iter(writes))


def _png_writes(
    path: AnyPath, tables: "Estimate | Sequence[Estimate]", locations: LocationSet | None
) -> dict[Path, Write]:
    from nomadp.answers.figure import draw_maps  # slow to import, and an extra

    target = file_path(path, (".png",))
    shaped = [with_shapes(table, locations) for table in _table_list(tables)]
    return {target: lambda part: draw_maps(part, shaped, locations)}


def render(
    tables: "Estimate | Sequence[Estimate]", locations: LocationSet | None = None
) -> str:
    """The page as HTML."""
    shaped = [with_shapes(table, locations) for table in _table_list(tables)]
    first = shaped[0]
    table_facts = [facts(table) for table in shaped]
    shared = [fact for fact in table_facts[0] if all(fact in others for others in table_facts)]
    sections = [
        section(table, locations, f"answer-{k}", shared, alone=len(shaped) == 1)
        for k, table in enumerate(shaped)
    ]
    about = first.about
    text = {
        "title": headline(first) if len(shaped) == 1 else "Where people go",
        "stamp": "synthetic trajectories" if first.kind == "synthetic" else "estimates",
        "lead": _lead(shaped),
        "version": str(about.get("nomadp_version", nomadp.__version__)),
        "places": "not given" if locations is None else f"{len(locations):,}",
        "location_set_sha256": str(
            about.get("location_set_sha256", locations.sha256 if locations else "not given")
        ),
    }
    markup = {"answers": "\n".join(sections), "facts": fact_list(shared)}
    return page("nomadp.answers", markup, text, ("map",))


def _table_list(tables: "Estimate | Sequence[Estimate]") -> "list[Estimate]":
    listed_tables = list(tables) if isinstance(tables, list | tuple) else [tables]
    if not listed_tables:
        raise SchemaError("a map needs at least one estimate, got none", code="no_tables")
    return listed_tables  # type: ignore[return-value]


def _lead(tables: "list[Estimate]") -> str:
    plural = {"synthetic": "synthetic trajectories", "density": "density of visits"}
    kinds = listed(list(dict.fromkeys(plural.get(one.kind, one.kind) for one in tables)))
    about = tables[0].about
    reports = (
        f"{about['reports']:,} private reports" if "reports" in about else "private reports"
    )
    epsilon = f" at ε\u00a0=\u00a0{about['epsilon']}" if "epsilon" in about else ""
    return (
        f"{kinds.capitalize()}, estimated from {reports}{epsilon}. Less certain shares are "
        "drawn in fewer shades."
    )


def with_shapes(table: "Estimate", locations: LocationSet | None) -> "Estimate":
    """The table with outlines and places, which are derived from its rule if it has none."""
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
    except DomainError:  # the rule was written by another program
        return table
