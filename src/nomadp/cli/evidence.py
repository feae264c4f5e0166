"""The counts that a query is estimated from: of files of reports, or of a running collector."""

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

__all__ = ["Evidence", "bundle_from", "collector_evidence", "file_evidence", "reports_from"]

TOKEN = "NOMADP_ANALYST_TOKEN"


class Evidence(NamedTuple):
    """Counts of the reports of one mechanism, and the terms of their task."""

    mechanism: "Mechanism"
    counts: "Counts"
    refused: Mapping[str, int]
    """Number of reports that were skipped, by reason."""
    terms: "Terms"


def file_evidence(
    world: "LocationSet",
    options: dict[str, Any],
    zones: "Zones | None",
    bundle: "TaskBundle | None" = None,
) -> Evidence:
    """The counts of all given files, and the mechanism that the first file names.

    With a task, its mechanism and its minimum batch size apply instead.
    """
    from nomadp.answers import Terms
    from nomadp.reports.report_files import is_read_whole

    paths, terms = report_paths(options), Terms()
    if bundle is None:
        mechanism = _mechanism(world, options, zones, paths[0])
    else:
        mechanism, terms = bundle.mechanism, Terms(bundle.task.min_batch_size, bundle.task.id)
    if len(paths) == 1 and is_read_whole(paths[0]):  # without Arrow
        from nomadp.reports.counts import Counts

        reports = reports_from(world, options, mechanism)
        return Evidence(mechanism, Counts.of(mechanism, reports), reports.refused, terms)
    from nomadp.reports.counting import count_files

    with progress_bar("counting") as bar:
        totals = count_files(mechanism, paths, progress=bar.advance)
    return Evidence(mechanism, totals.counts, totals.refused, terms)


def bundle_from(options: Mapping[str, Any]) -> "TaskBundle | None":
    """The task of the collector, or of files with a task folder; None without a task."""
    from nomadp.client.bundles import fetched
    from nomadp.protocol.fetch import with_fetched_outlines
    from nomadp.protocol.folder import read_task_folder
    from nomadp.protocol.outlines import read_outlines

    url, task_id = options["collector"], options["task"]
    has_files = bool(options["reports"] or options["files"])
    folder = Path(task_id) if url is None and task_id is not None else None
    has_task = url is not None and (task_id or _address(options).task_id)
    if (url is not None and (not has_task or has_files)) or (folder and not folder.is_dir()):
        raise BadUsage(
            "give either --collector URL and --task ID, or files of reports; --task DIR names "
            "the folder of their task",
            code="not_one_source",
        )
    if url is None:
        if folder is not None:
            return read_outlines(folder, read_task_folder(folder))
        if options["locations"] is None:
            raise BadUsage(
                "--locations must name the public set that the reports were made with",
                code="option_missing",
            )
        return None
    if options["kind"] == "trajectories":
        raise BadUsage(
            'trajectories cannot be estimated from counts; query a file that "nomadp collector '
            'export" wrote',
            code="query_of_counts_only",
        )
    address = _address(options)
    return with_fetched_outlines(address, fetched(address, address.task(task_id)))


def collector_evidence(bundle: "TaskBundle", options: Mapping[str, Any]) -> Evidence:
    """The counts that a running collector returns to an analyst."""
    from nomadp.answers import Terms
    from nomadp.errors import DomainError, SchemaError
    from nomadp.protocol.fetch import fetch_counts
    from nomadp.reports.counts import Counts

    token = os.environ.get(TOKEN)
    if not token:
        raise BadUsage(f"the analyst's token must be in {TOKEN}; set it", code="token_missing")
    task, law = bundle.task, bundle.mechanism.identity
    response = fetch_counts(_address(options), task.id, token)
    if isinstance(response, dict) and isinstance(response.get("missing"), int):
        raise DomainError(
            f"a task must have at least {task.min_batch_size} reports; wait for "
            f"{response['missing']} more",
            code="too_few_reports",
            missing=response["missing"],
            min_batch_size=task.min_batch_size,
        )
    # The response is checked because a collector may send anything.
    try:
        same_law = response["law"] == law
        rows = [tuple(map(int, row)) for row in response["cells"]] if same_law else None
        cells = {(law, length, value): count for length, value, count in rows or ()}
    except (KeyError, TypeError, ValueError):
        rows = None
    if rows is None or any(min(row) < 0 or max(row) >= 2**63 for row in rows):
        raise SchemaError(
            "the collector must return counts of the task's own law, but it did not",
            code="counts_malformed",
        )
    return Evidence(bundle.mechanism, Counts(cells), {}, Terms(task.min_batch_size, task.id))


def _address(options: Mapping[str, Any]) -> "Address":
    return address_of(options["collector"], insecure=options["insecure"])


def reports_from(
    world: "LocationSet", options: dict[str, Any], mechanism: "Mechanism"
) -> "AnyReports":
    """The reports themselves, for one estimate per report."""
    from nomadp.reports.counts import drop_impossible
    from nomadp.reports.report_files import read_reports

    paths = report_paths(options)
    if len(paths) > 1:
        raise BadUsage(
            "trajectories must be estimated from one file, because estimates keep its ids; "
            "name one file",
            code="several_files",
        )
    return drop_impossible(mechanism, read_reports(paths[0], world, mechanism))


def report_paths(options: dict[str, Any]) -> list[Path]:
    paths = [*options["reports"], *options["files"]]
    if not paths:
        raise BadUsage(
            "reports must be given: --reports FILE, repeatable",
            code="option_missing",
        )
    return paths


def _mechanism(
    world: "LocationSet", options: dict[str, Any], zones: "Zones | None", path: Path
) -> "Mechanism":
    from nomadp.errors import SchemaError
    from nomadp.mechanisms import make_mechanism
    from nomadp.reports.report_files import header_of

    header = header_of(path)
    if header is None:
        raise SchemaError(
            f"{path} must name the mechanism of its reports, but does not; use a file that "
            '"nomadp perturb" wrote',
            code="header_missing",
        )
    if zones is None or header.params.get("zones") != zones.rule:
        pinned = chosen_options({"pinned": options["pinned"]}).get("pinned")
        return header.mechanism_for(world, pinned)
    # A header contains only the hash of polygons, so the polygons come from the options.
    params = {k: v for k, v in header.params.items() if k not in ("epsilon", "zones")}
    return make_mechanism(header.mechanism, world, header.epsilon, zones=zones, **params)
