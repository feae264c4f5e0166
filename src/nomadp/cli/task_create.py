"""``nomadp task create``: a folder with a task and its public files."""

from datetime import date
from pathlib import Path
from typing import Any

import click

from nomadp.cli.exit_codes import BadOption
from nomadp.cli.files import out_option
from nomadp.cli.options import Whole, file_option, locations_option, variant_option
from nomadp.cli.output import Answer, json_option
from nomadp.cli.task import told

__all__ = ["create"]

KINDS = ("Government", "Industry", "Nonprofit")


def _day(context: click.Context, parameter: click.Parameter, text: str | None) -> date | None:
    if text is None:
        return None
    try:
        if len(text) != 10:
            raise ValueError
        return date.fromisoformat(text)
    except ValueError:
        raise BadOption(
            f"'{text[:40]}' is not a day such as 2027-01-31", code="not_a_day"
        ) from None


@click.command()
@locations_option
@click.option(
    "--mechanism",
    default="atlas",
    metavar="NAME",
    help="atlas (default), trips, starts, ends or visits.",
)
@click.option("--epsilon", required=True, metavar="E", help="Budget of one report, at most 10.")
@click.option(
    "--length", type=Whole(1, 8), metavar="L", help="atlas: points of a report, 1 to 8."
)
@click.option(
    "--size",
    type=Whole(1, 1024),
    metavar="K",
    help="atlas: how many journeys its book holds; by default few.",
)
@variant_option("zones")
@variant_option("when")
@click.option(
    "--purpose", required=True, metavar="TEXT", help="A sentence that contributors read."
)
@click.option("--end", required=True, callback=_day, metavar="DAY", help="The last day (UTC).")
@click.option(
    "--start", callback=_day, metavar="DAY", help="The first day (UTC); today by default."
)
@click.option(
    "--reports-per-contributor", type=Whole(1), metavar="N", help="At most; 1 by default."
)
@click.option(
    "--min-batch-size",
    type=Whole(1),
    metavar="N",
    help="Fewer reports are not analysed; 100 by default.",
)
@click.option(
    "--retention-days",
    type=Whole(1),
    metavar="D",
    help="How long a report is kept; by default until 30 days after the end.",
)
@click.option(
    "--delete-counts",
    is_flag=True,
    help="Delete the counts of reports with them, too; by default they stay to be asked.",
)
@click.option(
    "--time-precision",
    type=Whole(1),
    metavar="S",
    help="Seconds to which times are told; a day by default.",
)
@click.option(
    "--send-within",
    type=Whole(0),
    metavar="S",
    help="Seconds of random delay before a report is sent; 3600 by default.",
)
@file_option("--registry", "Also a draft record for the OpenDP deployments registry: .yaml.")
@click.option("--curator", metavar="NAME", help="Who collects, for that record.")
@click.option(
    "--curator-type", type=click.Choice(KINDS), help="What they are, for that record."
)
@click.option("--region", metavar="TEXT", help="Where, for that record.")
@out_option("The folder of the task.", or_folder=True)
@json_option
def create(*, locations: Path, out: Path, registry: Path | None, **options: Any) -> Answer:
    """Write a task, its locations and its atlas or zones; print its id and its promise.

    What no device would take part in is refused here already. The folder is public: publish
    it, or hand it to whoever should check it.

    \b
    Example:
      nomadp task create --locations places.csv --epsilon 4 --length 4 \\
        --purpose "Where buses should go." --end 2027-01-31 --out task
      nomadp task create --locations places.csv --epsilon 4 --mechanism trips --zones grid:4 \\
        --purpose "Where buses should go." --end 2027-01-31 --out task --registry task.yaml
    """
    from nomadp.formats.atomic import write_whole
    from nomadp.formats.files import file_path
    from nomadp.formats.location_files import read_locations
    from nomadp.formats.zone_files import zones_by
    from nomadp.protocol.create import create_task
    from nomadp.protocol.folder import write_task_folder
    from nomadp.protocol.guarantee import Guarantee
    from nomadp.protocol.registry import Curator, registry_yaml

    if registry is not None:
        file_path(registry, (".yaml",))
    about = {"name": options.pop("curator"), "kind": options.pop("curator_type")}
    about |= {"region": options.pop("region")}
    world = read_locations(locations)
    asked = {name: value for name, value in options.items() if value is not None}
    if "zones" in asked:
        asked["zones"] = zones_by(asked["zones"], world)
    bundle = create_task(world, **asked)
    write_task_folder(out, bundle)
    if registry is not None:
        curator = Curator(**{name: value for name, value in about.items() if value})
        write_whole(registry, registry_yaml(bundle, curator).encode())
    promise = Guarantee(bundle)
    written = {"out": str(out), "registry": None if registry is None else str(registry)}
    lines = [f"task {bundle.task.id}", f"in {out}", "", *promise.lines()]
    return Answer({**told(bundle), "promise": promise.as_dict(), **written}, "\n".join(lines))
