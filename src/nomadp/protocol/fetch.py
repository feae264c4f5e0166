"""Requests of operators and analysts to a collector: bounded, and without redirects."""

import logging
import urllib.error
import urllib.request
from http.client import HTTPException
from typing import Any, NoReturn

from nomadp.errors import SchemaError, TaskRefused, UploadFailed
from nomadp.protocol.address import Address
from nomadp.protocol.bundle import TaskBundle
from nomadp.protocol.canonical import base64url, canonical_bytes, unique_object
from nomadp.protocol.ceilings import REPLY_BYTES_MAX

__all__ = ["Operator", "fetch_counts", "with_fetched_outlines"]

log = logging.getLogger(__name__)

TIMEOUT_S = 30.0
_LISTED_BYTES_MAX = 16 * 2**20
_COUNTS_BYTES_MAX = 256 * 2**20


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *facts: Any) -> None:
        return None


def fetch_counts(address: Address, task_id: str, token: str) -> Any:
    """The counts of all reports of a task, as a collector returns them to an analyst."""
    request = urllib.request.Request(
        f"{address}/tasks/{address.task(task_id)}/counts",
        headers={"Accept": "application/json"} | _authorization(token),
    )
    return _parsed(_read(request, _COUNTS_BYTES_MAX))


def with_fetched_outlines(address: Address, bundle: TaskBundle) -> TaskBundle:
    """The bundle with the collector's outlines for maps, if it has any and they match."""
    if not str(bundle.task.params.get("zones", "")).startswith("polygons:"):
        return bundle
    from nomadp.protocol.outlines import OUTLINES, OUTLINES_BYTES_MAX, with_outlines

    request = urllib.request.Request(f"{address}/tasks/{bundle.task.id}/{OUTLINES}")
    try:
        return with_outlines(bundle, _read(request, OUTLINES_BYTES_MAX + 1))
    except UploadFailed:  # the collector has none
        return bundle
    except TaskRefused as refusal:
        log.warning(f"zones will be drawn without outlines: {refusal}")
        return bundle


class Operator:
    """An operator's access to a collector, by address and token."""

    def __init__(self, address: Address, token: str) -> None:
        self._address, self._token = address, token

    def tasks(self) -> Any:
        return self._call("GET", "")

    def close(self, task_id: str) -> Any:
        return self._call("POST", f"/{self._address.task(task_id)}/close", b"")

    def publish(self, bundle: TaskBundle) -> Any:
        from nomadp.protocol.outlines import OUTLINES, checked_outlines  # few tasks have any

        self._address.task(bundle.task.id)  # refuses a URL with the id of another task
        outlines = checked_outlines(bundle)
        public = bundle.files
        if outlines is not None:
            public = {**public, OUTLINES: outlines}
        files = {name: base64url(content) for name, content in public.items()}
        return self._call(
            "POST",
            "",
            canonical_bytes({"task": base64url(bundle.task.content), "files": files}),
        )

    def _call(self, method: str, path: str, body: bytes | None = None) -> Any:
        request = urllib.request.Request(
            f"{self._address}/operator/tasks{path}",
            data=body,
            method=method,
            headers=_authorization(self._token)
            | ({} if body is None else {"Content-Type": "application/json"}),
        )
        return _parsed(_read(request, _LISTED_BYTES_MAX))


def _authorization(token: str) -> dict[str, str]:
    """The header with a token; checked here, since http.client would quote it in an error."""
    plain = token.strip()
    if not (plain.isascii() and plain.isprintable()):
        raise SchemaError(
            "a token must be one line of printable ASCII characters, but is not; its value is "
            "withheld",
            code="token_malformed",
        )
    return {"Authorization": f"Bearer {plain}"}


def _parsed(content: bytes) -> dict[str, Any]:
    try:
        return unique_object(content) if content else {}
    except ValueError:
        raise UploadFailed(
            "the collector must reply with a JSON object with distinct names, but does not",
            code="reply_not_json",
        ) from None


def _read(request: urllib.request.Request, most: int) -> bytes:
    opener = urllib.request.build_opener(_NoRedirect)
    opener.addheaders = []
    try:
        with opener.open(request, timeout=TIMEOUT_S) as reply:
            return bytes(reply.read(most))
    except urllib.error.HTTPError as error:
        with error:
            _fail(error.code, error.read(REPLY_BYTES_MAX))
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise UploadFailed(
            f"the collector must be reachable, but is not: {str(reason)[:80]}",
            code="collector_unreachable",
        ) from None


def _fail(status: int, body: bytes) -> NoReturn:
    """Raise the failure; of the server's text, only codes of this protocol are repeated."""
    try:
        kind = str(unique_object(body)["type"])
    except (ValueError, KeyError):
        kind = ""
    known = kind.removeprefix("urn:nomadp:error:")
    is_ours = known != kind and known.replace("_", "").isalpha()
    name = f" ({known})" if is_ours else ""
    hint = "; check the token" if status == 401 else ""
    if known == "not_found":
        hint = "; operators use another address than devices and analysts"
    raise UploadFailed(
        f"the collector must accept the request, got status {status}{name[:60]}{hint}",
        code="unexpected_status",
        status=status,
        problem=known[:60] if is_ours else None,
    )
