"""``nomadp task verify``: everything about a task derived again."""

import click

from nomadp.cli.addresses import insecure_option
from nomadp.cli.output import Answer, json_option
from nomadp.cli.task import bundle_of, told

__all__ = ["verify"]


@click.command()
@click.argument("source", metavar="FOLDER|URL")
@click.option("--id", "expected_id", metavar="ID", help="The id that others were given.")
@insecure_option
@json_option
def verify(*, source: str, expected_id: str | None, insecure: bool) -> Answer:
    """Derive a task's id, hashes, law and bound again, and say what taking part means.

    Nothing is asked of anybody but, for a URL, the task and its files. Exit 1 if a device would
    refuse the task, or if atlas or zones are not what their public rule gives.

    \b
    Example:
      nomadp task verify task --id 0vqbrPzXiYs1aYFBjHRzqM-JLSRWZFRwGW7xyKOLwUg
    """
    from nomadp.errors import TaskRefused
    from nomadp.protocol.verify import Verified

    try:
        checked = Verified(bundle_of(source, expected_id, insecure=insecure))
    except TaskRefused as refusal:
        said = {"ok": False, "refused": str(refusal), "code": refusal.code}
        return Answer(said, f"refused: {refusal}", ok=False)
    bundle, promise = checked.bundle, checked.guarantee
    content = checked.as_dict() | {"task": told(bundle), "promise": promise.as_dict()}
    heading = [f'"{bundle.task.purpose}"', "", *checked.lines(), ""]
    return Answer(content, "\n".join([*heading, *promise.lines()]), checked.ok)
