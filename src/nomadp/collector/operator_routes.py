"""What an operator does: add, list and close tasks, and see what was refused and why."""

import base64
import binascii
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from nomadp.collector.held import add_task, close_task
from nomadp.collector.logs import log
from nomadp.collector.metrics import rendered
from nomadp.collector.overview import overview
from nomadp.collector.problems import Problem
from nomadp.collector.replies import allowed, json_reply, read_json, task_of
from nomadp.collector.tokens import OPERATOR
from nomadp.errors import NomadpError
from nomadp.protocol.files import FILE_BYTES_MAX
from nomadp.protocol.kit import Kit
from nomadp.protocol.task import Task

if TYPE_CHECKING:
    from nomadp.collector.service import Service

__all__ = ["operator_routes"]

TASK_MESSAGE_BYTES = 3 * FILE_BYTES_MAX
FILES = {"locations", "atlas", "zones"}
PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


def operator_routes(service: "Service") -> list[Route]:
    return [
        Route("/operator/tasks", _listing(service), methods=["GET"]),
        Route("/operator/tasks", _adding(service), methods=["POST"]),
        Route("/operator/tasks/{task}", _showing(service), methods=["GET"]),
        Route("/operator/tasks/{task}/close", _closing(service), methods=["POST"]),
        Route("/metrics", _metrics(service), methods=["GET"]),
    ]


def _listing(service: "Service") -> Any:
    async def tasks(request: Request) -> Response:
        await allowed(service, request, OPERATOR)
        held = await service.registry.every()
        return json_reply(await service.reading(overview, held))

    return tasks


def _showing(service: "Service") -> Any:
    async def show(request: Request) -> Response:
        await allowed(service, request, OPERATOR)
        held = await task_of(service, request)
        found = await service.reading(overview, [held])
        return json_reply(found["tasks"][0])

    return show


def _adding(service: "Service") -> Any:
    async def add(request: Request) -> Response:
        await allowed(service, request, OPERATOR)
        said = await read_json(request, TASK_MESSAGE_BYTES)
        kit = _kit(said)
        await service.reading(add_task, kit)
        await service.registry.look()
        log("a task was added", task=kit.task.id)
        return json_reply({"task_id": kit.task.id}, 201, location=f"/tasks/{kit.task.id}")

    return add


def _closing(service: "Service") -> Any:
    async def close(request: Request) -> Response:
        await allowed(service, request, OPERATOR)
        held = await task_of(service, request)
        await service.reading(close_task, held.id)
        log("a task was closed", task=held.id)
        return json_reply({"task_id": held.id, "closed": True})

    return close


def _metrics(service: "Service") -> Any:
    async def metrics(request: Request) -> Response:
        free = service.store.free_bytes()
        gauges = {
            "reports_acknowledged_total": ("Reports told to be kept.", service.metrics.reports),
            "commits_total": ("Commits of the writer.", service.writer.commits),
            "queued_reports": ("Reports on their way to disk.", service.writer.waiting),
            "ready": ("1 if reports can be taken.", float(await service.is_ready())),
        }
        if free is not None:
            gauges["free_bytes"] = ("Room on the disk of the store.", free)
        return PlainTextResponse(rendered(service.metrics, gauges), media_type=PROMETHEUS)

    return metrics


def _kit(said: dict[str, Any]) -> Kit:
    task, files = said.get("task"), said.get("files")
    if set(said) != {"task", "files"} or not isinstance(files, dict) or set(files) - FILES:
        raise Problem("invalid_message")
    content = _bytes(task)
    parts = {name: _bytes(text) for name, text in files.items()}
    try:
        return Kit.from_files(Task.from_bytes(content), parts)
    except NomadpError:
        raise Problem("invalid_task") from None


def _bytes(text: Any) -> bytes:
    if not isinstance(text, str):
        raise Problem("invalid_message")
    try:
        padded = text + "=" * (-len(text) % 4)
        return base64.b64decode(padded, altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise Problem("invalid_message") from None
