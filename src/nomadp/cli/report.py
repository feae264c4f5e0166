"""``nomadp report``: one journey of a person, perturbed here and sent to a collector."""

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from nomadp.cli.devices import all_settled, budget_said, home_option, receipt_sentence
from nomadp.cli.exit_codes import BadUsage, Stopped
from nomadp.cli.files import points_options, reading_of, sources_argument
from nomadp.cli.output import Answer, json_option, reading_notes, say

if TYPE_CHECKING:
    from nomadp.client import Client, Receipt
    from nomadp.client.private_trajectory import PrivatePoints
    from nomadp.formats.points import Points
    from nomadp.protocol import TaskBundle

__all__ = ["report"]

LAST = "last"


class Chosen(NamedTuple):
    """A journey to be reported: private. Nothing of it is left out yet for any task."""

    steps: "PrivatePoints"
    hour: int | None
    """None where nobody knows."""


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
    help="Which journey of FILES, counted from 1; the last by default, or if there are fewer; "
    "repeatable.",
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
    too; points that are no location of the task go to the nearest. A report is made whatever
    the values in FILES are; a file of another form is refused before any request. The id of a
    task is the hash of all that it is: compare it with what others were given.

    \b
    Example:
      nomadp report monday.gpx --task https://HOST/tasks/ID
      nomadp report monday.gpx --task commuters --to https://HOST --queue
      nomadp report tracks/ Timeline.json --stops --task https://HOST/tasks/ID
    """
    from nomadp.client import Client

    # Files come first: how long they take must not be seen between two requests.
    with reading_notes() as notes:
        chosen = _chosen(options, notes)
    with Client(options["home"], options["lifetime"]) as client:
        bundle = _joined(client, options)
        client.check(bundle.task.id, count=len(chosen))
        if not options["yes"]:
            _confirm(client, bundle, chosen, notes)
        receipts = _reported(client, bundle, chosen, options)
        budget = client.budget()
    said = {"purpose": bundle.task.purpose, "reports": [asdict(each) for each in receipts]}
    lines = [receipt_sentence(each) for each in receipts]
    lines.append(f"epsilon {budget.remaining} of {budget.lifetime} are left for all your life")
    ok = all_settled(receipts)
    return Answer({**said, **budget_said(budget)}, "\n".join(lines), ok)


def _reported(
    client: "Client", bundle: "TaskBundle", chosen: list[Chosen], options: dict[str, Any]
) -> "list[Receipt]":
    how = {"task_id": bundle.task.id, "now": options["now"], "queue": options["queue"]}
    try:
        return [client.report(each.steps, hour=each.hour, **how) for each in chosen]
    except Stopped as stop:
        stop.add_note('what was charged stays charged: see "nomadp ledger show"')
        raise


def _joined(client: "Client", options: dict[str, Any]) -> "TaskBundle":
    if options["source"] is None:
        if options["task_id"] is None:
            raise BadUsage(
                "--task, or the --id of a task joined before, must be given",
                code="option_missing",
            )
        return client.bundle(options["task_id"])
    task = client.join(options["source"], options["task_id"], send_to=options["send_to"])
    return client.bundle(task.id)


def _chosen(options: dict[str, Any], notes: list[str]) -> list[Chosen]:
    """The journeys that were chosen, whatever is in the files (docs/device.md)."""
    from nomadp.formats.point_files import read_any_points

    wanted = [_number(text) for text in options["choose"]]
    points = read_any_points(options["files"], reading_of(options))
    count = 0 if points is None else len(points.tids)
    if any(k > count for k in wanted):
        notes.append(f"there are {count} journeys, and the last of them is reported")
    return [_journey(points, (k or count) - 1) for k in wanted]


def _number(text: str) -> int:
    """Of a journey, counted from 1; 0 for the last."""
    if text.lower() == LAST:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) >= 1):
        raise BadUsage(
            f"--choose must be last or a number of a journey from 1 on, got {text[:40]}",
            code="not_a_journey_number",
        )
    return int(text)


def _journey(points: "Points | None", k: int) -> Chosen:
    """Journey k, or the last; one without any point if there is none."""
    import numpy as np

    from nomadp.client.private_trajectory import PrivatePoints

    if points is None:
        return Chosen(PrivatePoints.placed(np.empty(0), np.empty(0)), None)
    k = min(k, len(points.tids) - 1)
    rows = slice(int(points.offsets[k]), int(points.offsets[k + 1]))
    ids = None if points.location_ids is None else points.location_ids[rows]
    steps = PrivatePoints.placed(points.lat[rows], points.lng[rows], ids)
    return Chosen(steps, points.hour(k))


def _confirm(
    client: "Client", bundle: "TaskBundle", chosen: list[Chosen], notes: list[str]
) -> None:
    """Ask the person; what depends on the journey is said on their own terminal only."""
    if not sys.stdin.isatty():
        raise BadUsage(
            "--yes must be given where nobody can be asked", code="confirmation_missing"
        )
    from nomadp.client.private_trajectory import FAR_KM, farthest_km

    for note in notes:
        say(f"nomadp: {note}", err=True)
    task, budget = bundle.task, client.budget()
    cost = task.epsilon * len(chosen)
    say(f"task {task.id}\n{task.purpose}", err=True)
    say(
        f"This spends epsilon {cost} of the {budget.remaining} that are left of your "
        f"{budget.lifetime}: whoever sees the report can tell your journey from any other "
        f"with odds of at most e^{task.epsilon} to 1.",
        err=True,
    )
    if any(farthest_km(each.steps, bundle) > FAR_KM for each in chosen):
        say(
            f"Some points are more than {FAR_KM:g} km from every location of this task, and "
            "would be reported as if they were at the nearest.",
            err=True,
        )
    if bundle.mechanism.timed and any(each.hour is None for each in chosen):
        say(
            "This task asks when, and the files do not say: Monday from 0 to 1 h would be "
            "perturbed instead.",
            err=True,
        )
    click.confirm("Report?", abort=True, err=True)
