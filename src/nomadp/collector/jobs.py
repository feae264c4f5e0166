"""Collection jobs: an analyst's questions, answered beside the requests and kept.

A question that is asked again is the same job, with the answer that it has. One that is not
answered is worked on by whichever process is asked for it, so a crash costs nothing but time.
Answers are worked out in a process of their own: learning must not hold up uploads. Questions
that wait together are answered together.
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
"""Of one task."""
AT_ONCE_S = 0.1
"""What is answered within this needs no second request."""
TOGETHER_S = 0.05
"""Questions that come within this are answered together."""
FRESH_MAX = 16
"""Questions that were asked and not yet answered: so many are answered beside another."""
TOO_FEW = "too_few"
_NAME = re.compile("[A-Za-z0-9_-]{43}")


def job_id(loaded: LoadedTask, asked: Mapping[str, Any]) -> str:
    """Of what is asked, not of how it is written: a default is the same where it is said.

    Raises `SchemaError` for what is no question.
    """
    from nomadp.answers.query import check_sent, shortest_query  # slow to import

    check_sent(loaded.bundle.mechanism, asked["query"])
    question = shortest_query(loaded.bundle.mechanism, asked["query"])
    span = zip(("start", "end"), loaded.span[:2], strict=True)
    said = {name: asked[name] for name, all_ in span if asked.get(name, all_) != all_}
    content = json.dumps(
        [loaded.id, {"query": question, **said}], sort_keys=True, separators=(",", ":")
    )
    return base64url(hashlib.sha256(content.encode()).digest())


class Jobs:
    def __init__(self, read: StoreReader) -> None:
        self._read = read
        self._running: dict[str, asyncio.Task[None]] = {}
        self._waiting: dict[str, tuple[LoadedTask, Mapping[str, Any]]] = {}
        self._fresh: dict[str, tuple[LoadedTask, Mapping[str, Any]]] = {}
        self._one_at_a_time = asyncio.Lock()

    async def ask(self, loaded: LoadedTask, asked: Mapping[str, Any]) -> tuple[str, bool]:
        """The job of a question, and whether there was room for it."""
        name = await asyncio.to_thread(job_id, loaded, asked)
        content = json.dumps(asked, sort_keys=True).encode()
        if not await self._read(_kept, name, loaded.number, content):
            return name, False
        self._fresh[name] = loaded, asked
        while len(self._fresh) > FRESH_MAX:
            del self._fresh[next(iter(self._fresh))]
        return name, True

    async def result(self, loaded: LoadedTask, name: str) -> dict[str, Any] | bool | None:
        """What it found; None while it works; False if there is no such job."""
        if not _NAME.fullmatch(name):
            return False
        rows = await self._read(_row, name, loaded.number)
        if not rows:
            return False
        question, answer = rows[0]
        if answer is not None:
            found: dict[str, Any] = json.loads(bytes(answer))
            return found
        asked = json.loads(bytes(question))
        if missing := await self._missing(loaded, asked):
            return {"status": TOO_FEW, "missing": missing}
        if name not in self._running:
            work = asyncio.create_task(self._work(loaded, name, asked))
            self._running[name] = work
            work.add_done_callback(lambda _: self._running.pop(name, None))
        await asyncio.wait([self._running[name]], timeout=AT_ONCE_S)
        ((_, answer),) = await self._read(_row, name, loaded.number) or [(None, None)]
        return None if answer is None else json.loads(bytes(answer))

    async def delete(self, loaded: LoadedTask, name: str) -> bool:
        if not _NAME.fullmatch(name):
            return False
        self._fresh.pop(name, None)
        is_deleted = await self._read(_deleted, name, loaded.number)
        if is_deleted and (work := self._running.get(name)):
            work.cancel()
        return is_deleted

    async def stop(self) -> None:
        """What is worked on is asked again at the next start."""
        running = list(self._running.values())
        for work in running:
            work.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _missing(self, loaded: LoadedTask, asked: Mapping[str, Any]) -> int:
        totals = await self._read(totals_of, loaded)
        low, high = span_of(loaded, asked)
        count = sum(n for epoch, n in totals.items() if low <= epoch < high)
        return max(0, loaded.bundle.task.min_batch_size - count)

    async def _work(self, loaded: LoadedTask, name: str, asked: Mapping[str, Any]) -> None:
        self._waiting[name] = loaded, asked
        try:
            await asyncio.sleep(TOGETHER_S)
            async with self._one_at_a_time:
                if name in self._waiting:  # else it was answered beside another
                    await self._work_out(loaded, await self._alike(loaded, asked))
        finally:
            self._waiting.pop(name, None)

    async def _alike(self, loaded: LoadedTask, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Takes the questions that wait and are of the same counts: learning is for all.

        Those that were just asked are among them: a browser asks after few at a time.
        """
        span = span_of(loaded, asked)
        found = {
            name: other["query"]
            for name, (task, other) in {**self._fresh, **self._waiting}.items()
            if task.id == loaded.id and span_of(task, other) == span
        }
        answered = {
            name
            for name in found
            if (await self._read(_row, name, loaded.number) or [("", b"")])[0][1] is not None
        }
        for name in found:
            self._fresh.pop(name, None)
            self._waiting.pop(name, None)
        questions = {name: found[name] for name in found if name not in answered}
        return {"span": span, "questions": questions}

    async def _work_out(self, loaded: LoadedTask, alike: Mapping[str, Any]) -> None:
        if not alike["questions"]:  # another process was faster
            return
        counts: Counts = await self._read(counts_of, loaded, alike["span"])
        request = {
            "files": {k: base64.b64encode(v).decode() for k, v in loaded.files.items()},
            "cells": [(*cell, n) for cell, n in counts.cells.items()],
            "questions": list(alike["questions"].values()),
        }
        found = await _worked_out(json.dumps(request).encode())
        if found is None:  # the next to ask starts again
            log("answer_failed", "a query could not be answered", task=loaded.id)
            return
        with suppress(NomadpError):  # a store that is away: worked out again when asked
            for name, each in zip(alike["questions"], json.loads(found), strict=True):
                await self._read(_answered, name, json.dumps(each).encode())
                self._waiting.pop(name, None)  # who asked for it in the meantime has it


async def _worked_out(request: bytes) -> bytes | None:
    """By a process of its own, which a deleted job or the end of the collector kills."""
    worker = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "nomadp.collector.answering",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,  # a traceback may quote the question
    )
    try:
        found, _ = await worker.communicate(request)
    finally:
        if worker.returncode is None:
            worker.kill()
            await worker.wait()
    return found if worker.returncode == 0 else None


def span_of(loaded: LoadedTask, asked: Mapping[str, Any]) -> tuple[int, int]:
    """The epochs that are asked about: by default all."""
    return asked.get("start", loaded.span[0]), asked.get("end", loaded.span[1])


def _row(connection: Connection, name: str, task: int) -> list[tuple[Any, ...]]:
    sql = "SELECT question, answer FROM job WHERE id = ? AND task = ?"
    return connection.rows(sql, name, task)


def _kept(connection: Connection, name: str, task: int, content: bytes) -> bool:
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


def _answered(connection: Connection, name: str, answer: bytes) -> None:
    with connection.transaction():
        connection.run("UPDATE job SET answer = ? WHERE id = ?", answer, name)


def _deleted(connection: Connection, name: str, task: int) -> bool:
    with connection.transaction():
        return connection.run("DELETE FROM job WHERE id = ? AND task = ?", name, task) > 0
