"""Uploads: the route that has to be fast, so it does not use the web framework."""

import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from nomadp.collector.loaded_task import LoadedTask
from nomadp.collector.logs import log_failure
from nomadp.collector.messages import (
    ACCEPTED,
    ACCEPTED_AGAIN,
    INVALID_MESSAGE,
    LATE,
    NOT_STARTED,
    SIMULATED,
    TASK_EXPIRED,
    TOO_EARLY,
    BadMessage,
    Upload,
    failures_body,
    is_upload_type,
    parse_upload,
    report_id_bytes,
)
from nomadp.collector.problems import Problem
from nomadp.collector.store import EVERY_TASK, StoreCorrupt, StoreFull, StoreRefused
from nomadp.collector.writer import Overloaded
from nomadp.errors import ReportRefused
from nomadp.protocol.ceilings import UPLOAD_BYTES_MAX

if TYPE_CHECKING:
    from nomadp.collector.service import Service

__all__ = ["Ingest", "Receive", "Scope", "Send", "time_refusal"]

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_EMPTY = [(b"content-length", b"0")]


class Gone(Exception):
    """The sender closed the connection before the message was complete."""


class Ingest:
    """An ASGI application that handles ``POST /tasks/{id}/reports`` and passes on the rest."""

    def __init__(self, service: "Service", others: Any) -> None:
        self._service, self._others = service, others

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if (
            scope["type"] != "http"
            or scope["method"] != "POST"
            or not (
                path.startswith("/tasks/")
                and path.endswith("/reports")
                and path.count("/") == 3
            )
        ):
            await self._others(scope, receive, send)
            return
        loaded: LoadedTask | None = None
        headers, body, started_s = _EMPTY, b"", 0.0
        try:
            loaded = await self._task(path[7:-8])
            message = await self._message(scope, receive)
            started_s = time.perf_counter()
            body = await self._answer(loaded, message)
            status = 200
            if body:
                length = str(len(body)).encode()
                headers = [(b"content-type", b"application/json"), (b"content-length", length)]
        except Problem as problem:
            status, headers, body = self._refused(problem, loaded)
        except Gone:
            return
        except Exception as error:
            log_failure("upload_failed", "upload failed", error)
            status, headers, body = self._refused(Problem("unavailable"), loaded)
        elapsed_s = time.perf_counter() - started_s if started_s else 0.0
        self._service.metrics.answered(status, elapsed_s)
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _refused(
        self, problem: Problem, loaded: LoadedTask | None
    ) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
        problem.task_id = loaded.id if loaded else None
        number = loaded.number if loaded else EVERY_TASK
        self._service.writer.count(number, problem.kind)
        body = problem.body
        size = (b"content-length", str(len(body)).encode())
        return problem.status, [*problem.headers, size], body

    async def _task(self, task_id: str) -> LoadedTask:
        loaded = self._service.registry.get(task_id)
        if loaded is None:
            try:
                loaded = await self._service.registry.find(task_id)
            except StoreRefused:
                raise Problem("unavailable") from None
        if loaded is None:
            raise Problem("unrecognized_task")
        return loaded

    async def _message(self, scope: Scope, receive: Receive) -> bytes:
        """The body, if it has the upload's media type and is not too large."""
        kind = encoding = length = b""
        for name, value in scope["headers"]:
            if name == b"content-type":
                kind = value
            elif name == b"content-encoding":
                encoding = value
            elif name == b"content-length":
                length = value
        if encoding or not is_upload_type(kind):
            raise Problem("unsupported_media_type")
        if length.isdigit() and int(length[:20]) > UPLOAD_BYTES_MAX:
            raise Problem("too_large")
        if (refusal := self._service.condition.refusal) is not None:
            raise Problem(refusal)
        body: bytes = b""
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Gone
            body += message.get("body", b"")
            if len(body) > UPLOAD_BYTES_MAX:
                raise Problem("too_large")
            if not message.get("more_body", False):
                return body

    async def _answer(self, loaded: LoadedTask, message: bytes) -> bytes:
        """The reply's body: empty if all reports were accepted, else the failures."""
        try:
            upload = parse_upload(message)
        except BadMessage:
            raise Problem("invalid_message") from None
        if upload.simulated is not UNSET:
            self._service.writer.count(loaded.number, SIMULATED, len(upload.reports))
            return failures_body([(report.report_id, SIMULATED) for report in upload.reports])
        outcomes = await self._outcomes(loaded, upload)
        failed = [
            (report.report_id, outcome)
            for report, outcome in zip(upload.reports, outcomes, strict=True)
            if outcome not in (ACCEPTED, ACCEPTED_AGAIN)
        ]
        self._service.metrics.reports += len(outcomes) - len(failed)
        return failures_body(failed) if failed else b""

    async def _outcomes(self, loaded: LoadedTask, upload: Upload) -> list[str]:
        now_s, parse = self._service.clock(), loaded.code.parse_text
        outcomes: list[str] = []
        ids, epochs, values = [], [], []
        for report in upload.reports:
            outcome = (
                SIMULATED
                if report.simulated is not UNSET
                else time_refusal(loaded, report.time, now_s)
            )
            if not outcome:
                try:
                    values.append(parse(report.value))
                except ReportRefused:
                    outcome = INVALID_MESSAGE
                else:
                    ids.append(report_id_bytes(report.report_id))
                    epochs.append(report.time)
            outcomes.append(outcome)
            if outcome:
                self._service.writer.count(loaded.number, outcome)
        if not ids:
            return outcomes
        written = iter(await self._written(loaded, ids, epochs, values))
        return [outcome or next(written) for outcome in outcomes]

    async def _written(
        self, loaded: LoadedTask, ids: list[bytes], epochs: list[int], values: list[bytes]
    ) -> list[str]:
        try:
            return await self._service.writer.submit(loaded, ids, epochs, values)
        except Overloaded:
            raise Problem("overloaded") from None
        except StoreCorrupt:
            raise Problem("store_corrupt") from None
        except StoreFull:
            self._service.condition.space.mark_full()
            raise Problem("storage_full") from None
        except Exception:  # already logged; the sender keeps the report and sends it again
            raise Problem("unavailable") from None


def time_refusal(loaded: LoadedTask, time_: int, now_s: float) -> str:
    """Why a report with this time cannot be accepted now; empty if it can."""
    start, end, retention, precision = loaded.span
    now = int(now_s // precision)
    if time_ < start:
        return NOT_STARTED
    if time_ >= end:
        return TASK_EXPIRED
    if time_ > now + 1:
        return TOO_EARLY
    return LATE if now >= time_ + retention else ""
