"""Routes for operators: add, list and close tasks, see what was refused, read metrics."""

import base64
import binascii
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from nomadp.collector.loaded_task import add_task, close_task
from nomadp.collector.logs import log
from nomadp.collector.overview import overview
from nomadp.collector.problems import Problem
from nomadp.collector.replies import Handle, guarded, json_reply, read_json, task_of
from nomadp.collector.tokens import OPERATOR
from nomadp.errors import NomadpError
from nomadp.protocol.bundle import TaskBundle
from nomadp.protocol.outlines import OUTLINES, with_outlines
from nomadp.protocol.public_files import FILE_BYTES_MAX
from nomadp.protocol.task import Task

if TYPE_CHECKING:
    from nomadp.collector.service import Service

__all__ = ["operator_routes"]

TASK_MESSAGE_BYTES = 3 * FILE_BYTES_MAX
FILES = {"locations", "atlas", "zones", OUTLINES}
PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


def operator_routes(service: "Service") -> list[Route]:
    routes: dict[tuple[str, str], Handle] = {
        ("GET", "/operator/tasks"): _tasks,
        ("POST", "/operator/tasks"): _add,
        ("GET", "/operator/tasks/{task}"): _show,
        ("POST", "/operator/tasks/{task}/close"): _close,
    }
    metrics = Route("/metrics", partial(_metrics, service), methods=["GET"])
    return [*guarded(service, OPERATOR, routes), metrics]


async def _tasks(service: "Service", request: Request) -> Response:
    tasks = await service.registry.all_tasks()
    return json_reply(await service.read(overview, tasks))


async def _show(service: "Service", request: Request) -> Response:
    loaded = await task_of(service, request)
    (shown,) = (await service.read(overview, [loaded]))["tasks"]
    return json_reply(shown)


async def _add(service: "Service", request: Request) -> Response:
    bundle = _bundle(await read_json(request, TASK_MESSAGE_BYTES))
    await service.read(add_task, bundle)
    await service.registry.refresh()
    log("task_added", "task added", task=bundle.task.id)
    return json_reply({"task_id": bundle.task.id}, 201, location=f"/tasks/{bundle.task.id}")


async def _close(service: "Service", request: Request) -> Response:
    loaded = await task_of(service, request)
    await service.read(close_task, loaded.id)
    log("task_closed", "task closed", task=loaded.id)
    return json_reply({"task_id": loaded.id, "closed": True})


async def _metrics(service: "Service", request: Request) -> Response:
    free = service.store.free_bytes()
    gauges = {
        "reports_acknowledged_total": (
            "Reports acknowledged to their senders.",
            service.metrics.reports,
        ),
        "commits_total": ("Commits by the writer.", service.writer.commits),
        "queued_reports": ("Reports waiting to be written to disk.", service.writer.waiting),
        "deleted_reports_total": (
            "Report values deleted after their retention period.",
            service.retention.deleted,
        ),
        "ready": (
            "1 if the collector accepts reports.",
            float(await service.refusal() is None),
        ),
        "clock_suspect": (
            "1 if the operator must confirm the clock.",
            service.condition.clock.is_suspect,
        ),
        "store_corrupt": (
            "1 if the store is damaged.",
            service.condition.is_corrupt,
        ),
    }
    if free is not None:
        gauges["free_bytes"] = ("Free space on the disk of the store.", free)
    return PlainTextResponse(service.metrics.rendered(gauges), media_type=PROMETHEUS)


def _bundle(content: dict[str, Any]) -> TaskBundle:
    task, files = content.get("task"), content.get("files")
    if set(content) != {"task", "files"} or not isinstance(files, dict) or set(files) - FILES:
        raise Problem("invalid_message")
    task_bytes = _bytes(task)
    parts = {name: _bytes(text) for name, text in files.items()}
    try:
        bundle = TaskBundle.from_files(Task.from_bytes(task_bytes), parts)
        return with_outlines(bundle, parts[OUTLINES]) if OUTLINES in parts else bundle
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
