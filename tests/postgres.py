"""A PostgreSQL server for the tests: in a temporary folder, as an ordinary user, on loopback.

The folder is on a disk, so that a flush takes as long as in production. Set `IN_MEMORY` to 1 to
use memory instead, which is faster; measurements state which one was used.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from collecting import free_port
from processes import children, wait_until

PLACES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
TRIES, WAIT_S = 5, 60
IN_MEMORY = "NOMADP_POSTGRES_IN_MEMORY"
DISK, MEMORY = "on a disk", "in memory"
SHARED, FURTHER = Path("/dev/shm"), Path("/var/tmp")  # the latter survives a restart
MOUNTS = Path("/proc/self/mounts")


def program(name: str) -> str | None:
    """The path of a program of PostgreSQL, which Debian does not put on the PATH."""
    beside = [str(place) for place in PLACES]
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(beside))


def medium_of(folder: Path) -> str:
    """Whether a folder is on a disk or in memory, by the file system it is mounted from."""
    if not MOUNTS.is_file():
        return DISK
    kinds = {}
    for line in MOUNTS.read_text(encoding="utf-8").splitlines():
        _, where, kind, *_ = line.split()
        kinds[where] = kind
    real = folder.resolve()
    nearest = next(each for each in (real, *real.parents) if str(each) in kinds)
    return MEMORY if kinds[str(nearest)] in ("tmpfs", "ramfs") else DISK


def parent_folder() -> Path:
    """The parent of a server's data folder: on a disk if possible, unless set to memory."""
    temporary = Path(tempfile.gettempdir())
    if os.environ.get(IN_MEMORY) == "1" and SHARED.is_dir():
        return SHARED
    disks = [each for each in (temporary, FURTHER) if medium_of(each) == DISK]
    return next((each for each in disks if os.access(each, os.W_OK)), temporary)


class Postgres:
    """A server. Each call of `database` returns the address of a new schema without tables."""

    def __init__(self, encoding: str = "UTF8") -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="nomadp-postgres-", dir=parent_folder()))
        self.medium = medium_of(self._folder)
        sys.stderr.write(f"a PostgreSQL whose data are {self.medium}\n")
        self._user: dict[str, Any] = {}
        if os.geteuid() == 0:  # which it refuses to run as
            self._user = {"user": "nobody", "group": "nogroup", "extra_groups": []}
            shutil.chown(self._folder, "nobody", "nogroup")
        self.port, self._count = free_port(), 0
        self.process: subprocess.Popen[bytes] | None = None
        options = ("-U", "nomadp", "-A", "trust", "-E", encoding, "--locale", "C")
        made = self._run("initdb", "-D", self._data, *options)
        assert made.returncode == 0, made.stderr.decode()

    @property
    def _data(self) -> str:
        return str(self._folder / "data")

    def _run(self, name: str, *arguments: str) -> "subprocess.CompletedProcess[bytes]":
        command = [str(program(name)), *arguments]
        return subprocess.run(
            command, cwd=self._folder, capture_output=True, check=False, **self._user
        )

    def start(self) -> None:
        """Start the server, and try again if it ends or hangs before it is ready."""
        for _ in range(TRIES):
            self._begin()
            if wait_until(lambda: self._is_ready() or self._has_ended(), WAIT_S):
                if self._is_ready():
                    return
            else:
                self.kill()
        raise AssertionError((self._folder / "log").read_text())

    def _begin(self) -> None:
        command = [str(program("postgres")), "-D", self._data, "-p", str(self.port)]
        command += ["-h", "127.0.0.1", "-k", str(self._folder)]
        with (self._folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                command, cwd=self._folder, stdout=log, stderr=log, **self._user
            )

    def _is_ready(self) -> bool:
        ready = ("-h", "127.0.0.1", "-p", str(self.port), "-U", "nomadp")
        return self._run("pg_isready", "-q", *ready).returncode == 0

    def _has_ended(self) -> bool:
        return self.process is None or self.process.poll() is not None

    def database(self) -> str:
        import psycopg

        self._count += 1
        address = f"postgresql://nomadp@127.0.0.1:{self.port}/postgres"
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA test{self._count}".encode())
        return f"{address}?options=-csearch_path%3Dtest{self._count}"

    def damage(self, place: str, table: str, *, lose: bool = False) -> None:
        """Overwrite the first page of a table, or delete its file, after a checkpoint."""
        import psycopg

        with psycopg.connect(place, autocommit=True) as connection:
            found = connection.execute("SELECT pg_relation_filepath(%s)", (table,)).fetchone()
            connection.execute("CHECKPOINT")
        assert found is not None
        self.kill()
        file = Path(self._data) / found[0]
        if lose:
            file.unlink()
        else:
            file.write_bytes(os.urandom(8192) + file.read_bytes()[8192:])
        self.start()

    @contextmanager
    def told(self, setting: str) -> Iterator[None]:
        """Change a setting of the whole server for the duration of the context."""
        self._change(setting)
        try:
            yield
        finally:
            self._change("ALTER SYSTEM RESET ALL")

    def _change(self, statement: str) -> None:
        import psycopg

        address = f"postgresql://nomadp@127.0.0.1:{self.port}/postgres"
        with psycopg.connect(address, autocommit=True) as connection:
            before = connection.execute("SELECT pg_conf_load_time()").fetchone()
            connection.execute(statement.encode())
            connection.execute("SELECT pg_reload_conf()")
            # All are told at once; every server process reads it at its next statement.
            while connection.execute("SELECT pg_conf_load_time()").fetchone() == before:
                time.sleep(0.01)

    def kill(self) -> None:
        """Kill the server and all its child processes, as in a power failure."""
        assert self.process is not None
        started = children(self.process.pid)
        self.process.kill()
        for child in started:
            with suppress(ProcessLookupError):  # it has ended by itself
                os.kill(child, signal.SIGKILL)
        self.process.wait()

    def end(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.kill()  # its data are deleted with it
        shutil.rmtree(self._folder, ignore_errors=True)
