"""Fetch a task from a collector and check it against the expected id.

The collector is not trusted: the id is the hash of the task.
"""

from nomadp.client.http import get
from nomadp.errors import NomadpError
from nomadp.protocol import Task, TaskBundle
from nomadp.protocol.address import Address
from nomadp.protocol.canonical import parse_object
from nomadp.protocol.ceilings import REPLY_BYTES_MAX, TASK_BYTES_MAX
from nomadp.protocol.public_files import FILE_BYTES_MAX

__all__ = ["fetched", "fetched_from", "is_address", "is_closed"]


def is_address(text: str) -> bool:
    """Whether ``text`` is the URL of a task rather than a folder."""
    return text.startswith(("http://", "https://"))


def fetched_from(
    url: str, expected_id: str | None = None, *, insecure: bool = False
) -> TaskBundle:
    """The bundle of the task at a URL: the task's own URL, or a base URL and the task's id."""
    address = Address.parse(url, insecure=insecure)
    return fetched(address, address.task(expected_id))


def fetched(address: Address, task_id: str) -> TaskBundle:
    """The bundle of the task with this id."""
    path = f"/tasks/{task_id}"
    task = Task.from_bytes(get(address, path, TASK_BYTES_MAX), task_id)
    names = ("locations", "zones" if task.is_oracle else "atlas")
    files = {name: get(address, f"{path}/{name}", FILE_BYTES_MAX) for name in names}
    return TaskBundle.from_files(task, files)


def is_closed(address: Address, task_id: str) -> bool:
    """Whether the collector no longer accepts reports to this task; False if unknown."""
    try:
        content = get(address, f"/tasks/{task_id}/status", REPLY_BYTES_MAX)
        return parse_object(content, "a status", REPLY_BYTES_MAX).get("closed") is True
    except NomadpError:
        return False
