"""Running it: listeners, a clean end, and several processes on one PostgreSQL."""

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
        for each in self:
            each.close()


class Server(uvicorn.Server):
    """Signals are taken by whoever runs it: there is more than one."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def listen_on(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise StoreRefused(
            f"the address {host}:{port} must be a free address of this machine, and is not "
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
        logging.getLogger(name).disabled = True  # they quote addresses and requests
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
    """Serve until told to stop; then answer what was begun, and end."""
    await service.start()
    servers = [_server(public_app(service)), _server(operator_app(service))]
    running = [
        asyncio.create_task(server.serve(sockets=[each]))
        for server, each in zip(servers, listeners, strict=True)
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
        await asyncio.wait(running)  # both, though one may have failed
        await asyncio.gather(*running)
    finally:
        await service.stop()


def run_process(
    store: str | Store,
    listeners: Listeners,
    said: Sequence[str] = (),
    basemap: Basemap | None = None,
    worker: str = "",
) -> int:
    """One collector in this process; returns the signal that ended it."""
    ended_by: list[int] = []

    async def main() -> None:
        stop, loop = asyncio.Event(), asyncio.get_running_loop()

        def told(number: int) -> None:
            ended_by.append(number)
            stop.set()

        for number in _SIGNALS:
            with suppress(NotImplementedError):
                loop.add_signal_handler(number, told, number)
        loaded = open_store(store) if isinstance(store, str) else store
        service = Service(loaded, basemap=basemap, worker=worker)
        await serve(
            service,
            listeners,
            stop,
            ready=lambda: log("ready", "ready", addresses=list(said)),
        )
        log("stopped", "stopped; every acknowledged report is on disk")

    _raise_file_limit()
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(main())
    return ended_by[0] if ended_by else 0


def _loop_factory() -> Any:
    try:
        import uvloop
    except ImportError:  # not made for Windows
        return None
    return uvloop.new_event_loop


def _raise_file_limit() -> None:
    """A connection is a file: as many as the system lets us."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
