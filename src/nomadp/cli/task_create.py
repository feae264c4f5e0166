"""``nomadp task create``: writes a task and its public files."""

from datetime import date
from pathlib import Path
from typing import Any

import click

from nomadp.cli.exit_codes import BadOption
from nomadp.cli.file_options import out_option
from nomadp.cli.options import Whole, file_option, locations_option, parameter_option
from nomadp.cli.output import Result, json_option
from nomadp.cli.task import task_content

__all__ = ["create"]

CURATOR_TYPES = ("Government", "Industry", "Nonprofit")


def _day(context: click.Context, parameter: click.Parameter, text: str | None) -> date | None:
    if text is None:
        return None
    try:
        if len(text) != 10:
            raise ValueError
        return date.fromisoformat(text)
    except ValueError:
        raise BadOption(
            f"a day must be a date such as 2027-01-31, got {text[:40]}", code="not_a_day"
        ) from None


@click.command()
@locations_option
@click.option(
    "--mechanism",
    default="atlas",
    metavar="NAME",
    help="Mechanism (default: atlas). One of atlas, trips, starts, ends and visits.",
)
@click.option(
    "--epsilon", required=True, metavar="E", help="Privacy budget of one report; at most 10."
)
@click.option(
    "--length", type=Whole(1, 8), metavar="L", help="atlas: number of points of a report."
)
@click.option(
    "--size",
    type=Whole(1, 1024),
    metavar="K",
    help="atlas: maximum number of codewords (default: chosen by utility).",
)
@parameter_option("zones")
@parameter_option("when")
@click.option("--purpose", required=True, metavar="TEXT", help="Purpose, in one sentence.")
@click.option("--end", required=True, callback=_day, metavar="DAY", help="Last day (UTC).")
@click.option("--start", callback=_day, metavar="DAY", help="First day (UTC; default: today).")
@click.option(
    "--reports-per-contributor",
    type=Whole(1),
    metavar="N",
    help="Maximum number of reports per person (default: 1).",
)
@click.option(
    "--min-batch-size",
    type=Whole(1),
    metavar="N",
    help="Minimum number of reports for any estimate (default: 100).",
)
@click.option(
    "--retention-days",
    type=Whole(1),
    metavar="D",
    help="Days for which each report is kept (default: length of the task plus 30).",
)
@click.option(
    "--delete-counts",
    is_flag=True,
    help="Also delete the counts of deleted reports (default: keep them for queries).",
)
@click.option(
    "--time-precision",
    type=Whole(1),
    metavar="S",
    help="Precision of the time of a report, in seconds (default: one day).",
)
@click.option(
    "--send-within",
    type=Whole(0),
    metavar="S",
    help="Maximum random delay before a report is sent, in seconds (default: 3600).",
)
@file_option(
    "--registry", "Also write a draft record for the OpenDP deployments registry: .yaml."
)
@click.option("--curator", metavar="NAME", help="--registry: organisation that collects.")
@click.option("--curator-type", type=click.Choice(CURATOR_TYPES), help="--registry: its type.")
@click.option("--region", metavar="TEXT", help="--registry: region of the collection.")
@out_option("Folder of the task.", or_folder=True)
@json_option
def create(*, locations: Path, out: Path, registry: Path | None, **options: Any) -> Result:
    """Write a task with its public files, and print its id and its privacy guarantee.

    The files are the locations, and the codebook or zones. The command refuses any task that
    devices would refuse. The folder is public: publish it, so that anyone can verify it.

    \b
    Example:
      nomadp task create --locations places.csv --epsilon 4 --length 4 \\
        --purpose "Where buses should go." --end 2027-01-31 --out task
      nomadp task create --locations places.csv --epsilon 4 --mechanism trips --zones grid:4 \\
        --purpose "Where buses should go." --end 2027-01-31 --out task --registry task.yaml
    """
    from nomadp.formats.atomic import write_file
    from nomadp.formats.files import file_path
    from nomadp.formats.location_files import read_locations
    from nomadp.formats.zone_files import zones_from
    from nomadp.protocol.create import create_task
    from nomadp.protocol.folder import write_task_folder
    from nomadp.protocol.guarantee import Guarantee
    from nomadp.protocol.registry import Curator, registry_yaml

    if registry is not None:
        file_path(registry, (".yaml",))
    curator_facts = {"name": options.pop("curator"), "kind": options.pop("curator_type")}
    curator_facts |= {"region": options.pop("region")}
    world = read_locations(locations)
    parameters = {name: value for name, value in options.items() if value is not None}
    if "zones" in parameters:
        parameters["zones"] = zones_from(parameters["zones"], world)
    bundle = create_task(world, **parameters)
    write_task_folder(out, bundle)
    if registry is not None:
        curator = Curator(**{name: value for name, value in curator_facts.items() if value})
        write_file(registry, registry_yaml(bundle, curator).encode())
    guarantee = Guarantee(bundle)
    outputs = {"out": str(out), "registry": None if registry is None else str(registry)}
    lines = [f"task {bundle.task.id}", f"in {out}", "", *guarantee.lines()]
    return Result(
        {**task_content(bundle), "guarantee": guarantee.as_dict(), **outputs}, "\n".join(lines)
    )
