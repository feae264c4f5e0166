"""A task from a collector, who is not trusted: checked against the id that was expected."""

from nomadp.client.http import get
from nomadp.errors import NomadpError
from nomadp.protocol import Task, TaskBundle
from nomadp.protocol.address import Address
from nomadp.protocol.canonical import parse_object
from nomadp.protocol.ceilings import REPLY_BYTES_MAX, TASK_BYTES_MAX
from nomadp.protocol.files import FILE_BYTES_MAX

__all__ = ["fetched", "fetched_from", "is_address", "is_closed"]


def is_address(text: str) -> bool:
    """Whether it names a task by its address, and not a folder."""
    return text.startswith(("http://", "https://"))


def fetched_from(
    url: str, expected_id: str | None = None, *, insecure: bool = False
) -> TaskBundle:
    """The task at a URL (its own, or a base and its id), and its public files."""
    address = Address.parse(url, insecure=insecure)
    return fetched(address, address.task(expected_id))


def fetched(address: Address, task_id: str) -> TaskBundle:
    """The task of this id and its public files."""
    path = f"/tasks/{task_id}"
    task = Task.from_bytes(get(address, path, TASK_BYTES_MAX), task_id)
    names = ("locations", "zones" if task.is_oracle else "atlas")
    files = {name: get(address, f"{path}/{name}", FILE_BYTES_MAX) for name in names}
    return TaskBundle.from_files(task, files)


def is_closed(address: Address, task_id: str) -> bool:
    """Whether its collector drops every new report; False where that cannot be known."""
    try:
        content = get(address, f"/tasks/{task_id}/status", REPLY_BYTES_MAX)
        return parse_object(content, "a status", REPLY_BYTES_MAX).get("closed") is True
    except NomadpError:
        return False
