"""The pages, which are public because they contain no data.

The dashboard sends its queries with the token that the analyst types in. The contributor's page
is the same for every task and person. It reads the task's id from its own address.
"""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from nomadp.collector.device_routes import FOREVER
from nomadp.collector.problems import Problem
from nomadp.pages import CONTRIBUTE, INDEX, NOT_BUILT, POLICY, PageFile, built_pages

__all__ = ["page_routes"]

GUARDED = {
    "content-security-policy": POLICY,
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "vary": "accept-encoding",
}
AGAIN = "no-cache"


def page_routes() -> list[Route]:
    pages = built_pages()

    def page(path: str, name: str) -> Route:
        async def fetch(request: Request) -> Response:
            if not pages:
                return PlainTextResponse(
                    f"{NOT_BUILT}\n", 404, GUARDED | {"cache-control": AGAIN}
                )
            return _sent(request, pages[name], AGAIN)

        return Route(path, fetch, methods=["GET"])

    async def asset(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in pages or name in (INDEX, CONTRIBUTE):
            raise Problem("not_found")
        return _sent(request, pages[name], FOREVER)

    return [
        page("/", INDEX),
        page("/contribute/{task}", CONTRIBUTE),
        Route("/assets/{name}", asset, methods=["GET"]),
    ]


def _sent(request: Request, file: PageFile, keep: str) -> Response:
    headers = GUARDED | {"cache-control": keep}
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["content-encoding"] = "gzip"
        return Response(file.gzipped, headers=headers, media_type=file.media_type)
    return Response(file.content, headers=headers, media_type=file.media_type)
