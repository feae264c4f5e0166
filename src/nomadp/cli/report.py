"""``nomadp report``: perturbs a trajectory on this device and sends the report."""

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from nomadp.cli.devices import all_settled, budget_content, home_option, receipt_sentence
from nomadp.cli.exit_codes import BadUsage, Stopped
from nomadp.cli.file_options import points_options, reading_of, sources_argument
from nomadp.cli.output import Result, json_option, reading_notes, say

if TYPE_CHECKING:
    from nomadp.client import Client, Receipt
    from nomadp.client.private_trajectory import PrivatePoints
    from nomadp.formats.points import Points
    from nomadp.protocol import TaskBundle

__all__ = ["report"]

LAST = "last"


class Choice(NamedTuple):
    """A chosen trajectory, which is private and not yet prepared for a task."""

    points: "PrivatePoints"
    hour: int | None
    """The hour of the week at which it starts; None if unknown."""


@click.command()
@sources_argument("files")
@click.option("--task", "source", metavar="URL|DIR", help="Address or folder of the task.")
@click.option("--id", "task_id", metavar="ID", help="Id of the task, if the URL contains none.")
@click.option(
    "--to", "send_to", metavar="URL", help="Address of the collector, if --task is a folder."
)
@click.option(
    "--choose",
    multiple=True,
    default=[LAST],
    metavar="last|N",
    help="Which trajectory in FILES to report, counted from 1 (default: last). If there are "
    "fewer, the last one is reported. Repeatable.",
)
@click.option("--now", is_flag=True, help="Send immediately, without the task's random delay.")
@click.option(
    "--queue", is_flag=True, help='Keep the report for "nomadp send"; needs no network.'
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option(
    "--lifetime",
    metavar="EPSILON",
    help="Your lifetime budget; an existing ledger can only lower it (default: 20).",
)
@home_option
@points_options
@json_option
def report(**options: Any) -> Result:
    """Perturb one of your trajectories on this machine, and send the report to a collector.

    Any other trajectory, of any length, could lead to the same report: its probability differs
    by at most a factor of e^epsilon. The task sets epsilon. It is charged to the ledger before
    anything is perturbed, and is never refunded.

    FILES are any files or folders that "nomadp data convert" reads. Points are moved to the
    nearest location of the task. A report is created whatever values FILES contain; a file in
    the wrong format is refused before any network request. The id of a task is the hash of all
    its parameters: compare it with the id that others were given.

    \b
    Example:
      nomadp report monday.gpx --task https://HOST/tasks/ID
      nomadp report monday.gpx --task commuters --to https://HOST --queue
      nomadp report tracks/ Timeline.json --stops --task https://HOST/tasks/ID
    """
    from nomadp.client import Client

    # Files are read first, so that the time between requests reveals nothing about them.
    with reading_notes() as notes:
        chosen = _choose(options, notes)
    with Client(options["home"], options["lifetime"]) as client:
        bundle = _join(client, options)
        client.check(bundle.task.id, count=len(chosen))  # refuses before anything is charged
        if not options["yes"]:
            _confirm(client, bundle, chosen, notes)
        receipts = _send_reports(client, bundle, chosen, options)
        budget = client.budget()
    content = {"purpose": bundle.task.purpose, "reports": [asdict(r) for r in receipts]}
    lines = [receipt_sentence(receipt) for receipt in receipts]
    lines.append(f"remaining lifetime budget: epsilon {budget.remaining} of {budget.lifetime}")
    ok = all_settled(receipts)
    return Result({**content, **budget_content(budget)}, "\n".join(lines), ok)


def _send_reports(
    client: "Client", bundle: "TaskBundle", chosen: list[Choice], options: dict[str, Any]
) -> "list[Receipt]":
    settings = {"task_id": bundle.task.id, "now": options["now"], "queue": options["queue"]}
    try:
        return [client.report(choice.points, hour=choice.hour, **settings) for choice in chosen]
    except Stopped as interruption:
        interruption.add_note('the charged budget remains used; see "nomadp ledger show"')
        raise


def _join(client: "Client", options: dict[str, Any]) -> "TaskBundle":
    if options["source"] is None:
        if options["task_id"] is None:
            raise BadUsage(
                "--task must be given, or the --id of a task that this device has joined",
                code="option_missing",
            )
        return client.bundle(options["task_id"])
    task = client.join(options["source"], options["task_id"], send_to=options["send_to"])
    return client.bundle(task.id)


def _choose(options: dict[str, Any], notes: list[str]) -> list[Choice]:
    """The chosen trajectories, whatever values the files contain (docs/device.md)."""
    from nomadp.formats.point_files import read_any_points

    numbers = [_number(text) for text in options["choose"]]
    points = read_any_points(options["files"], reading_of(options))
    count = 0 if points is None else len(points.tids)
    if any(k > count for k in numbers):
        notes.append(f"FILES contain {count} trajectories, so the last one is reported")
    return [_trajectory(points, (k or count) - 1) for k in numbers]


def _number(text: str) -> int:
    """The number of a trajectory, from 1; 0 for the last."""
    if text.lower() == LAST:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) >= 1):
        raise BadUsage(
            f"--choose must be last or a number from 1, got {text[:40]}",
            code="not_a_trajectory_number",
        )
    return int(text)


def _trajectory(points: "Points | None", k: int) -> Choice:
    """Trajectory k, or the last one; an empty trajectory if there are none."""
    import numpy as np

    from nomadp.client.private_trajectory import PrivatePoints

    if points is None:
        return Choice(PrivatePoints.placed(np.empty(0), np.empty(0)), None)
    k = min(k, len(points.tids) - 1)
    rows = slice(int(points.offsets[k]), int(points.offsets[k + 1]))
    ids = None if points.location_ids is None else points.location_ids[rows]
    private_points = PrivatePoints.placed(points.lat[rows], points.lng[rows], ids)
    return Choice(private_points, points.hour(k))


def _confirm(
    client: "Client", bundle: "TaskBundle", chosen: list[Choice], notes: list[str]
) -> None:
    """Ask for confirmation; what depends on the trajectory stays on this terminal."""
    if not sys.stdin.isatty():
        raise BadUsage(
            "--yes must be given if there is no terminal", code="confirmation_missing"
        )
    from nomadp.client.private_trajectory import FAR_KM, farthest_km

    for note in notes:
        say(f"nomadp: {note}", err=True)
    task, budget = bundle.task, client.budget()
    cost = task.epsilon * len(chosen)
    say(f"task {task.id}\n{task.purpose}", err=True)
    say(
        f"This uses epsilon {cost} of your remaining {budget.remaining} (lifetime budget: "
        f"{budget.lifetime}). A report changes the odds between your trajectory and any "
        f"other by at most a factor of e^{task.epsilon}.",
        err=True,
    )
    if any(farthest_km(choice.points, bundle) > FAR_KM for choice in chosen):
        say(
            f"Some points are more than {FAR_KM:g} km from every location of this task. They "
            "would be moved to the nearest location.",
            err=True,
        )
    if bundle.mechanism.timed and any(choice.hour is None for choice in chosen):
        say(
            "This task reports the time, but the files contain no times: Monday from 00:00 to "
            "01:00 would be perturbed instead.",
            err=True,
        )
    click.confirm("Continue?", abort=True, err=True)
