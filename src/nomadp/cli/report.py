"""``nomadp report``: one journey of a person, perturbed here and sent to a collector."""

import sys
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from nomadp.cli.devices import all_settled, home_option, receipt_sentence, spending_said
from nomadp.cli.exit_codes import Stopped
from nomadp.cli.files import points_options, reading_of, sources_argument
from nomadp.cli.output import Answer, json_option, reading_notes, say

if TYPE_CHECKING:
    from nomadp.client import Client, Receipt
    from nomadp.formats.points import Points
    from nomadp.protocol import Kit

__all__ = ["report"]

LAST = "last"


class Chosen(NamedTuple):
    """A journey to be reported: private."""

    journey: Any
    hour: int | None


@click.command()
@sources_argument("files")
@click.option("--task", "source", metavar="URL|DIR", help="The task's address, or its folder.")
@click.option("--id", "task_id", metavar="ID", help="The task's id, if the URL has none.")
@click.option("--to", "send_to", metavar="URL", help="The collector, if --task is a folder.")
@click.option(
    "--choose",
    multiple=True,
    default=[LAST],
    metavar="last|N",
    help="Which journey of FILES, counted from 1; the last by default; repeatable.",
)
@click.option("--now", is_flag=True, help="Send at once, without the task's random delay.")
@click.option("--queue", is_flag=True, help='Keep it for "nomadp send"; needs no network.')
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option(
    "--lifetime",
    metavar="EPSILON",
    help="All you will ever spend; fixed when the ledger begins, 20 by default.",
)
@home_option
@points_options
@json_option
def report(**options: Any) -> Answer:
    """Report a journey of FILES to a task, at the cost that the task names.

    The whole journey is perturbed on this machine: what is sent is as likely, up to a factor
    e^epsilon, for any other journey of any length. What is spent is written into a ledger
    first, and never comes back. FILES are anything that "nomadp data convert" reads, folders
    too; points that are no location of the task go to the nearest. The id of a task is the hash
    of all that it is: compare it with what others were given.

    \b
    Example:
      nomadp report monday.gpx --task https://HOST/tasks/ID
      nomadp report monday.gpx --task commuters --to https://HOST --queue
      nomadp report tracks/ Timeline.json --stops --task https://HOST/tasks/ID
    """
    from nomadp.client import Client

    with Client(options["home"], options["lifetime"]) as client:
        kit = _joined(client, options)
        with reading_notes() as notes:
            chosen = _chosen(kit, options)
        client.check(kit.task.id, count=len(chosen))
        if not options["yes"]:
            _confirm(client, kit, chosen, notes)
        receipts = _reported(client, kit, chosen, options)
        spending = client.spending()
    said = {"purpose": kit.task.purpose, "reports": [asdict(each) for each in receipts]}
    lines = [receipt_sentence(each) for each in receipts]
    lines.append(f"epsilon {spending.left} of {spending.lifetime} are left for all your life")
    ok = all_settled(receipts)
    return Answer({**said, **spending_said(spending)}, "\n".join(lines), ok)


def _reported(
    client: "Client", kit: "Kit", chosen: list[Chosen], options: dict[str, Any]
) -> "list[Receipt]":
    how = {"task_id": kit.task.id, "now": options["now"], "queue": options["queue"]}
    try:
        return [client.report(each.journey, hour=each.hour, **how) for each in chosen]
    except Stopped as stop:
        stop.add_note('what was charged stays charged: see "nomadp ledger show"')
        raise


def _joined(client: "Client", options: dict[str, Any]) -> "Kit":
    if options["source"] is None:
        if options["task_id"] is None:
            raise click.UsageError("--task, or the --id of a task joined before, must be given")
        return client.kit(options["task_id"])
    task = client.join(options["source"], options["task_id"], send_to=options["send_to"])
    return client.kit(task.id)


def _chosen(kit: "Kit", options: dict[str, Any]) -> list[Chosen]:
    from nomadp.formats.point_files import read_points

    timed = kit.mechanism.timed
    how = reading_of({**options, "when": timed or None})
    split = how.split_hours is not None
    how = replace(how, clock=timed or split or bool(how.thinning))
    points = read_points(options["files"], how, kit.locations)
    hours = points.hours()
    if timed and hours is None:
        raise click.UsageError("this task asks when, and FILES must say when journeys began")
    numbers = [_number(text, len(points.tids)) for text in options["choose"]]
    return [
        Chosen(_journey(points, k, kit), None if hours is None else int(hours[k]))
        for k in numbers
    ]


def _number(text: str, count: int) -> int:
    if text.lower() == LAST:
        return count - 1
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= count):
        raise click.UsageError(
            f"--choose must be last or a number of a journey from 1 to {count}, got {text[:40]}"
        )
    return int(text) - 1


def _journey(points: "Points", k: int, kit: "Kit") -> Any:
    import numpy as np

    rows = slice(int(points.offsets[k]), int(points.offsets[k + 1]))
    if points.location_ids is not None:
        found, known = kit.locations.find_known(points.location_ids[rows])
        if known.all():
            return found
    return np.stack([points.lat[rows], points.lng[rows]], axis=1)


def _confirm(client: "Client", kit: "Kit", chosen: list[Chosen], notes: list[str]) -> None:
    """Ask the person; what depends on the journey is said on their own terminal only."""
    if not sys.stdin.isatty():
        raise click.UsageError("--yes must be given where nobody can be asked")
    from nomadp.client.journey import FAR_KM, farthest_km

    for note in notes:
        say(f"nomadp: {note}", err=True)
    task, spending = kit.task, client.spending()
    cost = task.epsilon * len(chosen)
    say(f"task {task.id}\n{task.purpose}", err=True)
    say(
        f"This spends epsilon {cost} of the {spending.left} that are left of your "
        f"{spending.lifetime}: whoever sees the report can tell your journey from any other "
        f"with odds of at most e^{task.epsilon} to 1.",
        err=True,
    )
    if any(farthest_km(each.journey, kit.locations) > FAR_KM for each in chosen):
        say(
            f"Some points are more than {FAR_KM:g} km from every location of this task, and "
            "would be reported as if they were at the nearest.",
            err=True,
        )
    click.confirm("Report?", abort=True, err=True)
