"""``nomadp task verify``: recomputes everything about a task."""

import click

from nomadp.cli.addresses import insecure_option
from nomadp.cli.output import Result, json_option
from nomadp.cli.task import bundle_of, task_content

__all__ = ["verify"]


@click.command()
@click.argument("source", metavar="FOLDER|URL")
@click.option("--id", "expected_id", metavar="ID", help="Expected id, as published elsewhere.")
@insecure_option
@json_option
def verify(*, source: str, expected_id: str | None, insecure: bool) -> Result:
    """Recompute the id, hashes, law and privacy bound of a task, and print its guarantee.

    From a URL, only the task and its files are requested. Exits with 1 if a device would refuse
    the task, or if its codebook or zones differ from those that their public rule gives.

    \b
    Example:
      nomadp task verify task --id 0vqbrPzXiYs1aYFBjHRzqM-JLSRWZFRwGW7xyKOLwUg
    """
    from nomadp.errors import TaskRefused
    from nomadp.protocol.verify import Verified

    try:
        verified = Verified(bundle_of(source, expected_id, insecure=insecure))
    except TaskRefused as refusal:
        content = {"ok": False, "refused": str(refusal), "code": refusal.code}
        return Result(content, f"refused: {refusal}", ok=False)
    bundle, guarantee = verified.bundle, verified.guarantee
    content = verified.as_dict() | {
        "task": task_content(bundle),
        "guarantee": guarantee.as_dict(),
    }
    heading = [f'"{bundle.task.purpose}"', "", *verified.lines(), ""]
    return Result(content, "\n".join([*heading, *guarantee.lines()]), verified.ok)
