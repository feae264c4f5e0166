"""The address of a collector: one rule for devices, analysts and operators."""

import re
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from nomadp.errors import TaskRefused
from nomadp.protocol.task import is_task_id

__all__ = ["Address"]

URL_CHARACTERS_MAX = 1000
_PATH = re.compile(r"(/[A-Za-z0-9._~-]+)*/?")


@dataclass(frozen=True)
class Address:
    """The address of a collector: https, or http on this machine. Its text is the base URL."""

    is_tls: bool
    host: str
    port: int | None
    prefix: str
    """The path before /tasks; empty if there is none."""
    task_id: str | None = None
    """The id of the task, if the URL contains one."""

    @classmethod
    def parse(cls, url: str, *, insecure: bool = False) -> "Address":
        """Parse the URL of a collector or of one of its tasks.

        ``insecure`` allows http to another machine. Then anybody on the network path can read
        and change what is sent, including tokens.
        """
        parts, port = _split(url)
        host = parts.hostname or ""
        if parts.scheme not in ("http", "https") or not host or " " in url:
            raise TaskRefused(
                "the address of a collector must be https://HOST/tasks/ID, or the part before "
                "/tasks, but is not",
                code="address_malformed",
            )
        # A user name or query could differ between people, and so identify them.
        if any(mark in url for mark in "@?#"):
            raise TaskRefused(
                "the address of a collector must not contain a user name, password, query or "
                "fragment, since it must be the same for everybody",
                code="address_not_public",
            )
        if parts.scheme == "http" and not insecure and not _is_local(host):
            raise TaskRefused(
                "the address of a collector must start with https; http is allowed only for a "
                "collector on this machine",
                code="address_not_https",
            )
        if not _PATH.fullmatch(parts.path):
            raise TaskRefused(
                "the path of a collector's address must consist of letters, digits and ._~- "
                "between slashes, but does not",
                code="address_path_malformed",
            )
        prefix, task_id = _of_task(parts.path.rstrip("/"))
        return cls(parts.scheme == "https", host, port, prefix, task_id)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port is None else f":{self.port}"
        return ("https" if self.is_tls else "http") + "://" + f"{host}{port}{self.prefix}"

    def task(self, expected: str | None = None) -> str:
        """The id of the task, from the URL or from ``expected``; the two must agree."""
        task_id = expected or self.task_id
        if task_id is None or not is_task_id(task_id):
            raise TaskRefused(
                "the id of the task must be given (43 characters), but is not; pass it or use "
                "a URL that ends in it, and get it from somebody other than the collector if "
                "possible",
                code="task_id_missing",
            )
        if self.task_id not in (None, task_id):
            raise TaskRefused(
                "the task in the URL must be the expected one, but is another",
                code="task_id_mismatch",
            )
        return task_id


def _split(url: str) -> tuple[SplitResult, int | None]:
    if len(url) > URL_CHARACTERS_MAX or not url.isascii() or not url.isprintable():
        raise TaskRefused(
            f"the address of a collector must be at most {URL_CHARACTERS_MAX} printable ASCII "
            "characters, but is not",
            code="address_not_plain_text",
            limit=URL_CHARACTERS_MAX,
        )
    try:
        parts = urlsplit(url)
        return parts, parts.port
    except ValueError:
        raise TaskRefused(
            "the address of a collector must be a valid URL, but is not",
            code="address_malformed",
        ) from None


def _of_task(path: str) -> tuple[str, str | None]:
    before, separator, task_id = path.rpartition("/tasks/")
    return (before, task_id) if separator and is_task_id(task_id) else (path, None)


def _is_local(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
