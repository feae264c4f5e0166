"""Routes for devices: a task and its public files, which never change, and its status."""

import asyncio
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from nomadp.collector.loaded_task import is_closed
from nomadp.collector.problems import Problem
from nomadp.collector.replies import json_reply, task_of
from nomadp.protocol.guarantee import Guarantee
from nomadp.protocol.outlines import OUTLINES

if TYPE_CHECKING:
    from nomadp.collector.service import Service

__all__ = ["device_routes"]

FOREVER = "public, max-age=31536000, immutable"
KINDS = {
    "task": "application/json",
    "locations": "text/csv; charset=utf-8",
    "atlas": "application/json",
    "zones": "application/json",
    OUTLINES: "application/geo+json",
}


def device_routes(service: "Service") -> list[Route]:
    def route(name: str) -> Route:
        async def fetch(request: Request) -> Response:
            loaded = await task_of(service, request)
            if name not in loaded.files:
                raise Problem("not_found", loaded.id)
            headers = {"etag": loaded.tags[name], "cache-control": FOREVER}
            tags = request.headers.get("if-none-match", "").split(",")
            # A proxy that compresses replies makes their tags weak, but the file is the same.
            if {tag.strip().removeprefix("W/") for tag in tags} & {loaded.tags[name], "*"}:
                return Response(status_code=304, headers=headers)
            return Response(loaded.files[name], headers=headers, media_type=KINDS[name])

        ending = "" if name == "task" else f"/{name}"
        return Route(f"/tasks/{{task}}{ending}", fetch, methods=["GET"])

    return [*(route(name) for name in KINDS), _guarantee(service), _status(service)]


def _guarantee(service: "Service") -> Route:
    """The task's privacy guarantee in words and numbers, for people; devices do not use it."""

    async def guarantee(request: Request) -> Response:
        loaded = await task_of(service, request)
        if loaded.id not in guarantees:
            guarantees[loaded.id] = await asyncio.to_thread(Guarantee(loaded.bundle).as_dict)
        return json_reply(
            {"task_id": loaded.id, **guarantees[loaded.id]}, cache_control=FOREVER
        )

    guarantees: dict[str, Any] = {}
    return Route("/tasks/{task}/promise", guarantee, methods=["GET"])


def _status(service: "Service") -> Route:
    """Whether the task is closed; devices check this before they use privacy budget."""

    async def status(request: Request) -> Response:
        loaded = await task_of(service, request)
        closed = await service.read(is_closed, loaded.id)
        return json_reply({"task_id": loaded.id, "closed": closed}, cache_control="no-store")

    return Route("/tasks/{task}/status", status, methods=["GET"])
