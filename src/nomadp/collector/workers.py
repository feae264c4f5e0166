"""Run several collector processes that share two listeners and one PostgreSQL."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from nomadp.collector.basemap import Basemap, load_basemap
from nomadp.collector.logs import log
from nomadp.collector.server import Listeners

__all__ = ["run_workers"]

GRACE_S = 30.0
PAUSE_S = 1.0
STORE_VARIABLE = "NOMADP_WORKER_STORE"
"""Passes the store's address, whose password a command line would show to everybody."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def run_workers(
    store: str, listeners: Listeners, count: int, basemap: Basemap | None = None
) -> int:
    """Start workers, restart those that die, and pass on the signal that ends them all."""
    ended_by: list[int] = []
    before = {n: signal.signal(n, lambda number, _: ended_by.append(number)) for n in _SIGNALS}
    basemap_path = [] if basemap is None else [str(basemap.path)]
    workers = [_start_worker(store, listeners, [str(k), *basemap_path]) for k in range(count)]
    try:
        while not ended_by:
            time.sleep(0.2)
            for k, worker in enumerate(workers):
                if worker.poll() is not None and not ended_by:
                    log(
                        "worker_restarted",
                        "a worker ended and is being restarted",
                        exit_code=worker.returncode,
                    )
                    time.sleep(PAUSE_S)
                    workers[k] = _start_worker(store, listeners, [str(k), *basemap_path])
    finally:
        _end(workers)
        for number, handler in before.items():
            signal.signal(number, handler)
    return ended_by[0]


def _start_worker(
    store: str, listeners: Listeners, arguments: list[str]
) -> "subprocess.Popen[bytes]":
    fds = [listener.fileno() for listener in listeners]
    return subprocess.Popen(
        [sys.executable, "-m", "nomadp.collector.workers", *map(str, fds), *arguments],
        pass_fds=fds,
        env={**os.environ, STORE_VARIABLE: store},
        start_new_session=True,  # Ctrl-C reaches only the parent, which passes it on
    )


def _end(workers: list["subprocess.Popen[bytes]"]) -> None:
    for worker in workers:
        with suppress(ProcessLookupError):
            worker.terminate()
    deadline_s = time.monotonic() + GRACE_S
    for worker in workers:
        try:
            worker.wait(max(0.1, deadline_s - time.monotonic()))
        except subprocess.TimeoutExpired:
            worker.kill()
            worker.wait()


def _watch_parent(parent: int) -> None:
    """End this worker if its parent was killed, because nothing else would end it."""
    while os.getppid() == parent:
        time.sleep(PAUSE_S)
    os.kill(os.getpid(), signal.SIGTERM)


def _main() -> None:
    import socket

    from nomadp.collector.server import run_process

    public, operator = (socket.socket(fileno=int(each)) for each in sys.argv[1:3])
    threading.Thread(target=_watch_parent, args=(os.getppid(),), daemon=True).start()
    basemap = load_basemap(Path(sys.argv[4])) if len(sys.argv) > 4 else None
    listeners, worker = Listeners(public, operator), sys.argv[3]
    code = run_process(os.environ[STORE_VARIABLE], listeners, basemap=basemap, worker=worker)
    sys.exit(128 + code if code else 0)


if __name__ == "__main__":
    _main()
