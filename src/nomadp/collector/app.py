"""The two web applications: a public one, and one for the operator on another listener."""

from importlib import resources
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from nomadp.collector.analyst_routes import analyst_routes
from nomadp.collector.basemap import basemap_routes
from nomadp.collector.device_routes import device_routes
from nomadp.collector.ingest import Ingest
from nomadp.collector.logs import log_failure
from nomadp.collector.operator_routes import operator_routes
from nomadp.collector.page_routes import page_routes
from nomadp.collector.problems import Problem
from nomadp.collector.replies import json_reply, problem_reply
from nomadp.collector.store import StoreFull, StoreRefused

if TYPE_CHECKING:
    from nomadp.collector.service import Service

__all__ = ["make_app", "operator_app", "public_app"]

_BY_STATUS = {404: "not_found", 405: "method_not_allowed"}


def public_app(service: "Service") -> Any:
    """The application for devices, analysts and browsers."""
    own = [*device_routes(service), *analyst_routes(service), *page_routes()]
    own += basemap_routes(service)
    return Ingest(service, make_app(service, own))


def operator_app(service: "Service") -> Any:
    return make_app(service, operator_routes(service))


def make_app(service: "Service", routes: list[Route]) -> Starlette:
    """An application with these routes and the health routes, whose errors are all problems."""

    async def on_problem(request: Request, problem: Problem) -> Response:
        return problem_reply(_of_task(service, request, problem))

    async def on_http(request: Request, error: HTTPException) -> Response:
        problem = Problem(_BY_STATUS.get(error.status_code, "bad_request"))
        reply = problem_reply(_of_task(service, request, problem))
        for name, value in (error.headers or {}).items():  # such as Allow
            reply.headers[name] = value
        return reply

    handlers: dict[Any, Any] = {
        Problem: on_problem,
        HTTPException: on_http,
        StoreFull: _on_full,
        StoreRefused: _on_store,
        Exception: _on_failure,
    }
    app = Starlette(routes=[*routes, *_health_routes(service)], exception_handlers=handlers)
    # A redirect would repeat the Host header, which the sender controls.
    app.router.redirect_slashes = False
    return app


def _health_routes(service: "Service") -> list[Route]:
    document = resources.files("nomadp.collector").joinpath("openapi.json").read_bytes()

    async def healthz(request: Request) -> Response:
        return json_reply({"status": "alive"})

    async def readyz(request: Request) -> Response:
        if (refusal := await service.refusal()) is not None:
            raise Problem(refusal)
        return json_reply({"status": "ready"})

    async def openapi(request: Request) -> Response:
        return Response(document, media_type="application/json")

    pages = {"/healthz": healthz, "/readyz": readyz, "/openapi.json": openapi}
    return [Route(path, page, methods=["GET"]) for path, page in pages.items()]


def _of_task(service: "Service", request: Request, problem: Problem) -> Problem:
    """The problem with the id of the task in the path, if the collector has that task."""
    loaded = service.registry.get(request.path_params.get("task", ""))
    if loaded is not None:
        problem.task_id = loaded.id
    return problem


async def _on_full(request: Request, error: Exception) -> Response:
    return problem_reply(Problem("storage_full"))


async def _on_store(request: Request, error: Exception) -> Response:
    return problem_reply(Problem("unavailable"))


async def _on_failure(request: Request, error: Exception) -> Response:
    log_failure("request_failed", "request failed", error)
    return problem_reply(Problem("unavailable"))
