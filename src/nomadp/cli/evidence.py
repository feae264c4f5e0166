"""Where a command that asks gets its evidence from: files of reports, or a running collector.

This is the one place that knows. Whatever the source, it becomes the same `Evidence`.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from nomadp.cli.addresses import address_of
from nomadp.cli.exit_codes import BadUsage
from nomadp.cli.options import chosen_options
from nomadp.cli.output import progress_bar

if TYPE_CHECKING:
    from nomadp.answers import Terms
    from nomadp.locations import LocationSet
    from nomadp.mechanisms import Mechanism
    from nomadp.protocol import TaskBundle
    from nomadp.protocol.address import Address
    from nomadp.reports import AnyReports, Counts
    from nomadp.zones import Zones

__all__ = ["Evidence", "collected_from", "evidence_from", "bundle_from", "reports_from"]

TOKEN = "NOMADP_ANALYST_TOKEN"


class Evidence(NamedTuple):
    """What is asked: counts of the reports of one mechanism, and on which terms."""

    mechanism: "Mechanism"
    counts: "Counts"
    refused: Mapping[str, int]
    """How many reports were left out, by reason."""
    terms: "Terms"


def evidence_from(
    world: "LocationSet",
    options: dict[str, Any],
    zones: "Zones | None",
    bundle: "TaskBundle | None" = None,
) -> Evidence:
    """The counts of all files that were named, and the mechanism that they say made them.

    Files of a task are asked on its terms.
    """
    from nomadp.answers import Terms
    from nomadp.reports.files import is_read_whole

    paths, terms = paths_in(options), Terms()
    if bundle is None:
        mechanism = _mechanism(world, options, zones, paths[0])
    else:
        mechanism, terms = bundle.mechanism, Terms(bundle.task.min_batch_size, bundle.task.id)
    if len(paths) == 1 and is_read_whole(paths[0]):  # then Arrow is not needed
        from nomadp.reports.counts import Counts

        whole = reports_from(world, options, mechanism)
        return Evidence(mechanism, Counts.of(mechanism, whole), whole.refused, terms)
    from nomadp.reports.counting import count_files

    with progress_bar("counting") as bar:
        found = count_files(mechanism, paths, progress=bar.advance)
    return Evidence(mechanism, found.counts, found.refused, terms)


def bundle_from(options: Mapping[str, Any]) -> "TaskBundle | None":
    """The task that a collector, or files beside its folder, are asked about, if any."""
    from nomadp.client.bundles import fetched
    from nomadp.protocol.fetch import with_fetched_outlines
    from nomadp.protocol.folder import read_task_folder
    from nomadp.protocol.outlines import read_outlines

    url, task_id = options["collector"], options["task"]
    has_files = bool(options["reports"] or options["files"])
    folder = Path(task_id) if url is None and task_id is not None else None
    named = url is not None and (task_id or _address(options).task_id)
    if (url is not None and (not named or has_files)) or (folder and not folder.is_dir()):
        raise BadUsage(
            "name a collector and the id of one of its tasks, or files of reports and, if they "
            "are of a task, its folder",
            code="not_one_source",
        )
    if url is None:
        if folder is not None:
            return read_outlines(folder, read_task_folder(folder))
        if options["locations"] is None:
            raise BadUsage(
                "name the public set that reports were made with: --locations",
                code="option_missing",
            )
        return None
    if options["question"] == "trajectories":
        raise BadUsage(
            'journeys are told report by report; ask of what "nomadp collector export" wrote',
            code="query_of_counts_only",
        )
    address = _address(options)
    return with_fetched_outlines(address, fetched(address, address.task(task_id)))


def collected_from(bundle: "TaskBundle", options: Mapping[str, Any]) -> Evidence:
    """The counts that a running collector gives an analyst."""
    from nomadp.answers import Terms
    from nomadp.errors import DomainError, SchemaError
    from nomadp.protocol.fetch import fetch_counts
    from nomadp.reports.counts import Counts

    token = os.environ.get(TOKEN)
    if not token:
        raise BadUsage(
            f"a collector must be shown the analyst's token; set {TOKEN}", code="token_missing"
        )
    task, law = bundle.task, bundle.mechanism.identity
    told = fetch_counts(_address(options), task.id, token)
    if isinstance(told, dict) and isinstance(told.get("missing"), int):
        raise DomainError(
            f"a task must have {task.min_batch_size} reports to be asked, and "
            f"{told['missing']} are missing; wait for them",
            code="too_few_reports",
            missing=told["missing"],
            min_batch_size=task.min_batch_size,
        )
    try:
        rows = [tuple(map(int, row)) for row in told["cells"]] if told["law"] == law else None
        cells = {(law, length, value): count for length, value, count in rows or ()}
    except (KeyError, TypeError, ValueError):
        rows = None
    if rows is None or any(min(row) < 0 or max(row) >= 2**63 for row in rows):
        raise SchemaError(
            "a collector must give counts of its task's own law, and does not",
            code="counts_malformed",
        )
    return Evidence(bundle.mechanism, Counts(cells), {}, Terms(task.min_batch_size, task.id))


def _address(options: Mapping[str, Any]) -> "Address":
    return address_of(options["collector"], insecure=options["insecure"])


def reports_from(
    world: "LocationSet", options: dict[str, Any], mechanism: "Mechanism"
) -> "AnyReports":
    """The reports themselves, for what is asked of each."""
    from nomadp.reports.counts import possible
    from nomadp.reports.files import read_reports

    paths = paths_in(options)
    if len(paths) > 1:
        raise BadUsage(
            "journeys are told file by file, each with its ids; name one file of reports",
            code="several_files",
        )
    return possible(mechanism, read_reports(paths[0], world, mechanism))


def paths_in(options: dict[str, Any]) -> list[Path]:
    paths = [*options["reports"], *options["files"]]
    if not paths:
        raise BadUsage(
            "name what to ask: --reports FILE, as often as there are files",
            code="option_missing",
        )
    return paths


def _mechanism(
    world: "LocationSet", options: dict[str, Any], zones: "Zones | None", path: Path
) -> "Mechanism":
    from nomadp.errors import SchemaError
    from nomadp.mechanisms import make_mechanism
    from nomadp.reports.files import header_of

    header = header_of(path)
    if header is None:
        raise SchemaError(
            f"{path} must say how its reports were made, and does not; ask of what "
            '"nomadp perturb" wrote',
            code="header_missing",
        )
    if zones is None or header.params.get("zones") != zones.rule:
        pinned = chosen_options({"pinned": options["pinned"]}).get("pinned")
        return header.mechanism_for(world, pinned)
    # Polygons are not in a header, only their hash: they are those that were named.
    more = {k: v for k, v in header.params.items() if k not in ("epsilon", "zones")}
    return make_mechanism(header.mechanism, world, header.epsilon, zones=zones, **more)
