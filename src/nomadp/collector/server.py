"""Run a collector: its listeners, its event loop and its clean shutdown."""

import asyncio
import logging
import signal
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import uvicorn

from nomadp.collector.app import operator_app, public_app
from nomadp.collector.basemap import Basemap
from nomadp.collector.connections import open_store
from nomadp.collector.limits import NOSNIFF, GuardedProtocol
from nomadp.collector.logs import log
from nomadp.collector.service import Service
from nomadp.collector.store import Store, StoreRefused

__all__ = ["Listeners", "Server", "listen_on", "run_process", "serve"]

BACKLOG = 2048
KEEP_ALIVE_S = 75
GRACE_S = 20
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Listeners(NamedTuple):
    public: socket.socket
    operator: socket.socket

    def close(self) -> None:
        for listener in self:
            listener.close()


class Server(uvicorn.Server):
    """Leaves signals to its caller, because there are two servers per process."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def listen_on(host: str, port: int) -> socket.socket:
    """Open a listening socket; port 0 chooses any free port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise StoreRefused(
            f"the address {host}:{port} must be a free address of this machine, but is not "
            f"({error.strerror}); choose another with --host and --port",
            code="address_unavailable",
            host=host,
            port=port,
        ) from None
    listener.listen(BACKLOG)
    listener.settimeout(0)
    return listener


def _server(app: Any) -> Server:
    logging.getLogger("uvicorn").disabled = True
    for name in ("uvicorn.error", "uvicorn.access", "uvicorn.asgi"):
        logging.getLogger(name).disabled = True  # because they quote addresses and requests
    config = uvicorn.Config(
        app,
        http=GuardedProtocol,
        ws="none",
        loop="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        headers=[(name.decode(), value.decode()) for name, value in (NOSNIFF,)],
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=GRACE_S,
    )
    return Server(config)


async def serve(
    service: Service, listeners: Listeners, stop: asyncio.Event, ready: Any = None
) -> None:
    """Serve until ``stop`` is set; then finish the running requests."""
    await service.start()
    servers = [_server(public_app(service)), _server(operator_app(service))]
    running = [
        asyncio.create_task(server.serve(sockets=[listener]))
        for server, listener in zip(servers, listeners, strict=True)
    ]
    try:
        while not all(server.started for server in servers):
            await asyncio.sleep(0.01)
        if ready is not None:
            ready()
        waiting = asyncio.create_task(stop.wait())
        await asyncio.wait([*running, waiting], return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        for server in servers:
            server.should_exit = True
        await asyncio.wait(running)  # wait for both, even if one has failed
        await asyncio.gather(*running)
    finally:
        await service.stop()


def run_process(
    store: str | Store,
    listeners: Listeners,
    addresses: Sequence[str] = (),
    basemap: Basemap | None = None,
    worker: str = "",
) -> int:
    """Run one collector in this process; returns the signal that ended it."""
    ended_by: list[int] = []

    async def main() -> None:
        stop, loop = asyncio.Event(), asyncio.get_running_loop()

        def on_signal(number: int) -> None:
            ended_by.append(number)
            stop.set()

        for number in _SIGNALS:
            with suppress(NotImplementedError):
                loop.add_signal_handler(number, on_signal, number)
        loaded = open_store(store) if isinstance(store, str) else store
        service = Service(loaded, basemap=basemap, worker=worker)
        await serve(
            service,
            listeners,
            stop,
            ready=lambda: log("ready", "ready", addresses=list(addresses)),
        )
        log("stopped", "stopped; every acknowledged report is on disk")

    _raise_file_limit()
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(main())
    return ended_by[0] if ended_by else 0


def _loop_factory() -> Any:
    try:
        import uvloop
    except ImportError:  # not available on Windows
        return None
    return uvloop.new_event_loop


def _raise_file_limit() -> None:
    """Every connection is an open file, so allow as many as the system permits."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        _, limit = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
