"""Read and answer requests other than uploads."""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from nomadp.collector.loaded_task import LoadedTask
from nomadp.collector.problems import Problem
from nomadp.collector.tokens import is_token
from nomadp.protocol.canonical import unique_object

if TYPE_CHECKING:
    from nomadp.collector.service import Service

__all__ = ["Handle", "guarded", "json_reply", "problem_reply", "read_json", "task_of"]

Handle = Callable[["Service", Request], Awaitable[Response]]


def json_reply(content: Mapping[str, Any], status: int = 200, **headers: str) -> Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    body = json.dumps(content, separators=(",", ":")).encode()
    return Response(body, status, named, "application/json")


def problem_reply(problem: Problem) -> Response:
    headers = {name.decode(): value.decode() for name, value in problem.headers}
    return Response(problem.body, problem.status, headers)


async def task_of(service: "Service", request: Request) -> LoadedTask:
    loaded = await service.registry.find(request.path_params["task"])
    if loaded is None:
        raise Problem("unrecognized_task")
    return loaded


def guarded(
    service: "Service", role: str, routes: Mapping[tuple[str, str], Handle]
) -> list[Route]:
    """Routes by method and path that require the token of this role."""

    def route(method: str, path: str, handle: Handle) -> Route:
        async def answer(request: Request) -> Response:
            scheme, _, token = request.headers.get("authorization", "").partition(" ")
            if scheme.lower() != "bearer":
                raise Problem("unauthorized")
            if not await service.read(is_token, role, token.strip()):
                await service.wrong_tokens.refuse(role)
                raise Problem("unauthorized")
            return await handle(service, request)

        return Route(path, answer, methods=[method])

    return [route(method, path, handle) for (method, path), handle in routes.items()]


async def read_json(request: Request, bytes_max: int) -> dict[str, Any]:
    """The body: a JSON object of at most ``bytes_max`` bytes without repeated names."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise Problem("unsupported_media_type")
    body = b""
    try:
        async for piece in request.stream():
            body += piece
            if len(body) > bytes_max:
                raise Problem("too_large")
        return unique_object(body)
    except ClientDisconnect:
        raise Problem("bad_request") from None
    except ValueError:
        raise Problem("invalid_message") from None
