"""Send queries to a running collector over HTTP, as an analyst's own program would."""

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

__all__ = ["Analyst", "AnswerMissing", "Job"]

PATIENCE_S = 600.0
"""A busy machine may need long for one query."""
PAUSE_S = 0.25


class AnswerMissing(NomadpError):
    """The collector refused a query, or took too long."""

    kind = "answer"


class Job(NamedTuple):
    """A query that a collector works on."""

    task_id: str
    query: Mapping[str, Any]
    job_id: str


class Analyst(NamedTuple):
    """A client of one collector that has the analyst's token."""

    address: str
    token: str

    def start(self, task_id: str, queries: Sequence[Mapping[str, Any]]) -> list[Job]:
        """Create all jobs before the first result is fetched, so that they share one fit."""
        jobs = []
        for query in queries:
            status, reply = self._request(
                "POST", f"/tasks/{task_id}/collection_jobs", {"query": query}
            )
            if status != 201:
                raise AnswerMissing(
                    f"the collector must accept the query, but replied with status {status}",
                    code="query_refused",
                    status=status,
                )
            jobs.append(Job(task_id, query, reply["job"]))
        return jobs

    def result(self, job: Job) -> dict[str, Any]:
        """Wait for a job and return its result."""
        path = f"/tasks/{job.task_id}/collection_jobs/{job.job_id}"
        deadline_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline_s:
            status, reply = self._request("GET", path)
            if status == 200 and reply["status"] == "done":
                result: dict[str, Any] = reply["answer"]
                return result
            if status != 202:
                raise AnswerMissing(
                    f"the collector must answer {job.query['kind']}, but replied "
                    f"{reply.get('status', status)}",
                    code="query_unanswered",
                    status=status,
                )
            time.sleep(PAUSE_S)
        raise AnswerMissing(
            f"the collector must answer {job.query['kind']} within {PATIENCE_S:g} s",
            code="answer_overdue",
        )

    def counts(self, task_id: str) -> Counts:
        """The counts of all reports, from which estimates can be computed locally."""
        reply = fetch_counts(Address.parse(self.address), task_id, self.token)
        if "cells" not in reply:
            raise AnswerMissing(
                "the collector must return the counts, but it has too few reports",
                code="counts_withheld",
            )
        return Counts({(reply["law"], length, value): n for length, value, n in reply["cells"]})

    def has_pages(self) -> bool:
        """Whether the collector serves the dashboard; in a clone it has to be built first."""
        status, _ = self._request("GET", "/")
        return status == 200

    def _request(self, method: str, path: str, content: Any = None) -> tuple[int, Any]:
        parts = urlsplit(self.address)
        connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=30)
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
