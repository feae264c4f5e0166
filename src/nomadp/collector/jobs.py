"""Collection jobs: analysts' queries and their stored results.

The same query always has the same job and the same result. Whichever process receives a request
for a missing result computes it, so a crash costs only time. A separate process computes the
results, so that fitting a model does not delay uploads. Queries that wait at the same time are
answered together, by one model.
"""

import asyncio
import base64
import hashlib
import json
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from nomadp.collector.loaded_task import LoadedTask, counts_of, totals_of
from nomadp.collector.logs import log
from nomadp.collector.registry import StoreReader
from nomadp.collector.store import Connection
from nomadp.errors import NomadpError
from nomadp.protocol.canonical import base64url

if TYPE_CHECKING:
    from nomadp.reports.counts import Counts

__all__ = ["JOBS_MAX", "Jobs", "job_id"]

JOBS_MAX = 10_000
"""The maximum per task."""
AT_ONCE_S = 0.1
"""A request for a result waits this long, so that fast jobs need no second request."""
TOGETHER_S = 0.05
"""Queries that arrive within this time are answered together."""
FRESH_MAX = 16
"""At most this many new queries are answered together with one whose result is requested."""
TOO_FEW = "too_few"
_NAME = re.compile("[A-Za-z0-9_-]{43}")


def job_id(loaded: LoadedTask, request: Mapping[str, Any]) -> str:
    """The hash of the query's meaning: a stated default gives the same id as a missing member.

    Raises `SchemaError` if the query is invalid.
    """
    from nomadp.answers.query import check_untrusted_query, shortest_query  # slow to import

    check_untrusted_query(loaded.bundle.mechanism, request["query"])
    query = shortest_query(loaded.bundle.mechanism, request["query"])
    defaults = zip(("start", "end"), loaded.span[:2], strict=True)
    span = {name: request[name] for name, all_ in defaults if request.get(name, all_) != all_}
    content = json.dumps(
        [loaded.id, {"query": query, **span}], sort_keys=True, separators=(",", ":")
    )
    return base64url(hashlib.sha256(content.encode()).digest())


class Jobs:
    def __init__(self, read: StoreReader) -> None:
        self._read = read
        self._running: dict[str, asyncio.Task[None]] = {}
        self._waiting: dict[str, tuple[LoadedTask, Mapping[str, Any]]] = {}
        self._fresh: dict[str, tuple[LoadedTask, Mapping[str, Any]]] = {}
        self._one_at_a_time = asyncio.Lock()

    async def create(self, loaded: LoadedTask, request: Mapping[str, Any]) -> tuple[str, bool]:
        """The id of a query's job, and whether there was room for the job."""
        name = await asyncio.to_thread(job_id, loaded, request)
        content = json.dumps(request, sort_keys=True).encode()
        if not await self._read(_insert, name, loaded.number, content):
            return name, False
        self._fresh[name] = loaded, request
        while len(self._fresh) > FRESH_MAX:
            del self._fresh[next(iter(self._fresh))]
        return name, True

    async def result(self, loaded: LoadedTask, name: str) -> dict[str, Any] | bool | None:
        """The result of a job; None while it runs; False if there is no such job."""
        if not _NAME.fullmatch(name):
            return False
        rows = await self._read(_row, name, loaded.number)
        if not rows:
            return False
        stored_request, answer = rows[0]
        if answer is not None:
            result: dict[str, Any] = json.loads(bytes(answer))
            return result
        request = json.loads(bytes(stored_request))
        if missing := await self._missing(loaded, request):
            return {"status": TOO_FEW, "missing": missing}
        if name not in self._running:
            work = asyncio.create_task(self._work(loaded, name, request))
            self._running[name] = work
            work.add_done_callback(lambda _: self._running.pop(name, None))
        await asyncio.wait([self._running[name]], timeout=AT_ONCE_S)
        ((_, answer),) = await self._read(_row, name, loaded.number) or [(None, None)]
        return None if answer is None else json.loads(bytes(answer))

    async def delete(self, loaded: LoadedTask, name: str) -> bool:
        if not _NAME.fullmatch(name):
            return False
        self._fresh.pop(name, None)
        is_deleted = await self._read(_delete, name, loaded.number)
        if is_deleted and (work := self._running.get(name)):
            work.cancel()
        return is_deleted

    async def stop(self) -> None:
        """Cancel all running jobs; they start again when somebody requests their results."""
        running = list(self._running.values())
        for work in running:
            work.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _missing(self, loaded: LoadedTask, request: Mapping[str, Any]) -> int:
        totals = await self._read(totals_of, loaded)
        low, high = span_of(loaded, request)
        count = sum(n for epoch, n in totals.items() if low <= epoch < high)
        return max(0, loaded.bundle.task.min_batch_size - count)

    async def _work(self, loaded: LoadedTask, name: str, request: Mapping[str, Any]) -> None:
        self._waiting[name] = loaded, request
        try:
            await asyncio.sleep(TOGETHER_S)
            async with self._one_at_a_time:
                if name in self._waiting:  # otherwise another query took it along
                    span, queries = await self._take_matching(loaded, request)
                    await self._answer_together(loaded, span, queries)
        finally:
            self._waiting.pop(name, None)

    async def _take_matching(
        self, loaded: LoadedTask, request: Mapping[str, Any]
    ) -> tuple[tuple[int, int], dict[str, Any]]:
        """Take the waiting queries of the same counts, which one fitted model can answer.

        This includes queries whose results nobody has requested yet, because a browser requests
        only a few results at a time.
        """
        span = span_of(loaded, request)
        # The same task and epochs mean the same counts, so the minimum batch size that was
        # checked for this query holds for all of them.
        matching = {
            name: other["query"]
            for name, (task, other) in {**self._fresh, **self._waiting}.items()
            if task.id == loaded.id and span_of(task, other) == span
        }
        answered = {
            name
            for name in matching
            if (await self._read(_row, name, loaded.number) or [("", b"")])[0][1] is not None
        }
        for name in matching:
            self._fresh.pop(name, None)
            self._waiting.pop(name, None)
        queries = {name: query for name, query in matching.items() if name not in answered}
        return span, queries

    async def _answer_together(
        self, loaded: LoadedTask, span: tuple[int, int], queries: Mapping[str, Any]
    ) -> None:
        if not queries:  # another process was faster
            return
        counts: Counts = await self._read(counts_of, loaded, span)
        request = {
            "files": {k: base64.b64encode(v).decode() for k, v in loaded.files.items()},
            "cells": [(*cell, n) for cell, n in counts.cells.items()],
            "queries": list(queries.values()),
        }
        results = await _run_worker(json.dumps(request).encode())
        if results is None:  # the next request for a result starts again
            log("answer_failed", "a query could not be answered", task=loaded.id)
            return
        with suppress(NomadpError):  # if the store is away, the next request starts again
            for name, result in zip(queries, json.loads(results), strict=True):
                await self._read(_store_answer, name, json.dumps(result).encode())
                self._waiting.pop(name, None)


async def _run_worker(request: bytes) -> bytes | None:
    """Answer queries in a separate process, which is killed if the job is cancelled."""
    worker = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "nomadp.collector.answering",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,  # a traceback may quote the query
    )
    try:
        results, _ = await worker.communicate(request)
    finally:
        if worker.returncode is None:
            worker.kill()
            await worker.wait()
    return results if worker.returncode == 0 else None


def span_of(loaded: LoadedTask, request: Mapping[str, Any]) -> tuple[int, int]:
    """The range of epochs of a request: by default all epochs of the task."""
    return request.get("start", loaded.span[0]), request.get("end", loaded.span[1])


def _row(connection: Connection, name: str, task: int) -> list[tuple[Any, ...]]:
    sql = "SELECT question, answer FROM job WHERE id = ? AND task = ?"
    return connection.rows(sql, name, task)


def _insert(connection: Connection, name: str, task: int, content: bytes) -> bool:
    with connection.transaction():
        ((count,),) = connection.rows("SELECT COUNT(*) FROM job WHERE task = ?", task)
        if count >= JOBS_MAX and not _row(connection, name, task):
            return False
        connection.run(
            "INSERT INTO job (id, task, question) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            name,
            task,
            content,
        )
    return True


def _store_answer(connection: Connection, name: str, answer: bytes) -> None:
    with connection.transaction():
        connection.run("UPDATE job SET answer = ? WHERE id = ?", answer, name)


def _delete(connection: Connection, name: str, task: int) -> bool:
    with connection.transaction():
        return connection.run("DELETE FROM job WHERE id = ? AND task = ?", name, task) > 0
