"""What an analyst asks: tasks and how they fare, collection jobs, counts of reports."""

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

QUESTION_BYTES = 16_384
RETRY_AFTER_S = "1"
ARROW = "application/vnd.apache.arrow.stream"
_EPOCH_MOST = 2**53


def analyst_routes(service: "Service") -> list[Route]:
    job = "/tasks/{task}/collection_jobs/{job}"
    routes: dict[tuple[str, str], Handle] = {
        ("GET", "/tasks"): _tasks,
        ("GET", "/tasks/{task}/progress"): _progress,
        ("POST", "/tasks/{task}/collection_jobs"): _ask,
        ("GET", job): _result,
        ("DELETE", job): _delete,
        ("GET", "/tasks/{task}/counts"): _counts,
    }
    return guarded(service, ANALYST, routes)


async def _tasks(service: "Service", request: Request) -> Response:
    found = await service.read(overview, await service.registry.all_tasks())
    basemap = service.basemap and service.basemap.address
    told = {"tasks": found["tasks"], "basemap": basemap}
    return json_reply(told, cache_control="no-store")


async def _progress(service: "Service", request: Request) -> Response:
    """How many reports there are, and what was refused and why."""
    loaded = await task_of(service, request)
    found = await service.read(overview, [loaded])
    return json_reply(found["tasks"][0], cache_control="no-store")


async def _ask(service: "Service", request: Request) -> Response:
    loaded = await task_of(service, request)
    said = await read_json(request, QUESTION_BYTES)
    if not _is_question(said):
        raise Problem("invalid_message", loaded.id)
    try:
        name, has_room = await service.jobs.ask(loaded, said)
    except SchemaError as refusal:
        raise Problem("invalid_query", loaded.id, str(refusal)) from None
    if not has_room:
        raise Problem("overloaded", loaded.id)
    address = f"/tasks/{loaded.id}/collection_jobs/{name}"
    return json_reply({"job": name}, 201, location=address)


def _is_question(said: dict[str, Any]) -> bool:
    return (
        {"query"} <= set(said) <= {"query", "start", "end"}
        and isinstance(said["query"], dict)
        and all(_is_epoch(said.get(name, 0)) for name in ("start", "end"))
    )


def _is_epoch(value: Any) -> bool:
    return type(value) is int and 0 <= value <= _EPOCH_MOST


async def _result(service: "Service", request: Request) -> Response:
    loaded = await task_of(service, request)
    found = await service.jobs.result(loaded, request.path_params["job"])
    if found is False:
        raise Problem("unrecognized_job", loaded.id)
    if not isinstance(found, dict):
        return json_reply({"status": "running"}, 202, retry_after=RETRY_AFTER_S)
    return json_reply({**found, "task_id": loaded.id})


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
    found = await service.read(counts_of, loaded, (low, high))
    if ARROW in request.headers.get("accept", ""):
        return Response(_arrow(found.to_arrow()), media_type=ARROW)
    rows = [[length, value, n] for (_, length, value), n in found.cells.items()]
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
    """The epochs that are asked about, in the query; by default all."""
    found = []
    for name, default in zip(("start", "end"), loaded.span[:2], strict=True):
        text = request.query_params.get(name, str(default))
        if not (text.isascii() and text.isdecimal() and len(text) <= 15):
            raise Problem("invalid_message", loaded.id)
        found.append(int(text))
    return found[0], found[1]
