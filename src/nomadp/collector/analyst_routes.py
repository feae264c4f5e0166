"""Routes for analysts: tasks and their progress, collection jobs, and counts of reports."""

from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from nomadp.collector.loaded_task import LoadedTask, counts_of, totals_of
from nomadp.collector.overview import overview
from nomadp.collector.problems import Problem
from nomadp.collector.replies import Handle, guarded, json_reply, read_json, task_of
from nomadp.collector.tokens import ANALYST
from nomadp.errors import SchemaError

if TYPE_CHECKING:
    from nomadp.collector.service import Service

__all__ = ["analyst_routes"]

QUERY_BYTES = 16_384
RETRY_AFTER_S = "1"
ARROW = "application/vnd.apache.arrow.stream"
_EPOCH_MAX = 2**53


def analyst_routes(service: "Service") -> list[Route]:
    job = "/tasks/{task}/collection_jobs/{job}"
    routes: dict[tuple[str, str], Handle] = {
        ("GET", "/tasks"): _tasks,
        ("GET", "/tasks/{task}/progress"): _progress,
        ("POST", "/tasks/{task}/collection_jobs"): _create_job,
        ("GET", job): _result,
        ("DELETE", job): _delete,
        ("GET", "/tasks/{task}/counts"): _counts,
    }
    return guarded(service, ANALYST, routes)


async def _tasks(service: "Service", request: Request) -> Response:
    tasks = (await service.read(overview, await service.registry.all_tasks()))["tasks"]
    basemap = service.basemap and service.basemap.address
    return json_reply({"tasks": tasks, "basemap": basemap}, cache_control="no-store")


async def _progress(service: "Service", request: Request) -> Response:
    """The number of reports, and how many were refused for which reason."""
    loaded = await task_of(service, request)
    (progress,) = (await service.read(overview, [loaded]))["tasks"]
    return json_reply(progress, cache_control="no-store")


async def _create_job(service: "Service", request: Request) -> Response:
    loaded = await task_of(service, request)
    content = await read_json(request, QUERY_BYTES)
    if not _is_job_request(content):
        raise Problem("invalid_message", loaded.id)
    try:
        name, has_room = await service.jobs.create(loaded, content)
    except SchemaError as refusal:
        raise Problem("invalid_query", loaded.id, str(refusal)) from None
    if not has_room:
        raise Problem("overloaded", loaded.id)
    address = f"/tasks/{loaded.id}/collection_jobs/{name}"
    return json_reply({"job": name}, 201, location=address)


def _is_job_request(content: dict[str, Any]) -> bool:
    return (
        {"query"} <= set(content) <= {"query", "start", "end"}
        and isinstance(content["query"], dict)
        and all(_is_epoch(content.get(name, 0)) for name in ("start", "end"))
    )


def _is_epoch(value: Any) -> bool:
    return type(value) is int and 0 <= value <= _EPOCH_MAX


async def _result(service: "Service", request: Request) -> Response:
    loaded = await task_of(service, request)
    result = await service.jobs.result(loaded, request.path_params["job"])
    if result is False:
        raise Problem("unrecognized_job", loaded.id)
    if not isinstance(result, dict):
        return json_reply({"status": "running"}, 202, retry_after=RETRY_AFTER_S)
    return json_reply({**result, "task_id": loaded.id})


async def _delete(service: "Service", request: Request) -> Response:
    loaded = await task_of(service, request)
    if not await service.jobs.delete(loaded, request.path_params["job"]):
        raise Problem("unrecognized_job", loaded.id)
    return Response(status_code=204)


async def _counts(service: "Service", request: Request) -> Response:
    loaded = await task_of(service, request)
    low, high = _span(loaded, request)
    totals = await service.read(totals_of, loaded)
    total = sum(n for epoch, n in totals.items() if low <= epoch < high)
    task = loaded.bundle.task
    about = {"task_id": loaded.id, "start": low, "end": high}
    if total < task.min_batch_size:
        return json_reply({**about, "missing": task.min_batch_size - total})
    counts = await service.read(counts_of, loaded, (low, high))
    if ARROW in request.headers.get("accept", ""):
        return Response(_arrow(counts.to_arrow()), media_type=ARROW)
    rows = [[length, value, n] for (_, length, value), n in counts.cells.items()]
    law = loaded.bundle.mechanism.identity
    facts = {"reports": total, "law": law, "columns": ["length", "value", "count"]}
    return json_reply({**about, **facts, "cells": rows})


def _arrow(batch: Any) -> bytes:
    import pyarrow as pa  # slow to import

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _span(loaded: LoadedTask, request: Request) -> tuple[int, int]:
    """The range of epochs in the URL's query string; by default all epochs of the task."""
    span = []
    for name, default in zip(("start", "end"), loaded.span[:2], strict=True):
        text = request.query_params.get(name, str(default))
        if not (text.isascii() and text.isdecimal() and len(text) <= 15):
            raise Problem("invalid_message", loaded.id)
        span.append(int(text))
    return span[0], span[1]
