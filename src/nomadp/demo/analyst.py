"""Questions to a running collector, over HTTP, as an analyst's own program would ask them."""

import http.client
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from nomadp.errors import NomadpError
from nomadp.protocol.address import Address
from nomadp.protocol.fetch import fetch_counts
from nomadp.reports.counts import Counts

__all__ = ["Analyst", "AnswerMissing", "Asked"]

PATIENCE_S = 600.0
"""A machine that does much else takes its time."""
PAUSE_S = 0.25


class AnswerMissing(NomadpError):
    """The collector refused a question, or took too long."""

    kind = "answer"


class Asked(NamedTuple):
    """A question that a collector works on."""

    task_id: str
    question: Mapping[str, Any]
    job: str


class Analyst(NamedTuple):
    """Who holds the analyst's token of a collector."""

    address: str
    token: str

    def ask(self, task_id: str, questions: Sequence[Mapping[str, Any]]) -> list[Asked]:
        """All at once: what the reports tell is learned once for all of them."""
        found = []
        for question in questions:
            status, said = self._request(
                "POST", f"/tasks/{task_id}/collection_jobs", {"query": question}
            )
            if status != 201:
                raise AnswerMissing(
                    f"a question must be taken, and was answered by {status}",
                    code="query_refused",
                    status=status,
                )
            found.append(Asked(task_id, question, said["job"]))
        return found

    def answer(self, asked: Asked) -> dict[str, Any]:
        """Waits for it."""
        path = f"/tasks/{asked.task_id}/collection_jobs/{asked.job}"
        deadline_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline_s:
            status, said = self._request("GET", path)
            if status == 200 and said["status"] == "done":
                answer: dict[str, Any] = said["answer"]
                return answer
            if status != 202:
                raise AnswerMissing(
                    f"{asked.question['ask']} must be answered, and the collector said "
                    f"{said.get('status', status)}",
                    code="query_unanswered",
                    status=status,
                )
            time.sleep(PAUSE_S)
        raise AnswerMissing(
            f"{asked.question['ask']} must be answered in {PATIENCE_S:g} s",
            code="answer_overdue",
        )

    def counts(self, task_id: str) -> Counts:
        """Of all reports: whoever has them works out answers on a machine of their own."""
        told = fetch_counts(Address.parse(self.address), task_id, self.token)
        if "cells" not in told:
            raise AnswerMissing(
                "counts must be told, and there are too few reports", code="counts_withheld"
            )
        return Counts({(told["law"], length, value): n for length, value, n in told["cells"]})

    def has_pages(self) -> bool:
        """Whether it serves the dashboard: a wheel does, a clone does once it is built."""
        status, _ = self._request("GET", "/")
        return status == 200

    def _request(self, method: str, path: str, content: Any = None) -> tuple[int, Any]:
        there = urlsplit(self.address)
        connection = http.client.HTTPConnection(str(there.hostname), there.port, timeout=30)
        headers = {"authorization": f"Bearer {self.token}"}
        body = None
        if content is not None:
            headers["content-type"], body = "application/json", json.dumps(content)
        try:
            connection.request(method, path, body, headers)
            reply = connection.getresponse()
            raw = reply.read()
            is_json = "json" in reply.getheader("content-type", "")
            return reply.status, json.loads(raw) if is_json else None
        finally:
            connection.close()
