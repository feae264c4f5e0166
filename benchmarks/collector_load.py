"""Load generator for a collector: raw HTTP over many connections, in a separate process.

    python benchmarks/collector_load.py < options.json

Prints one JSON object: the number of acknowledged reports, of each status, and latencies.
"""

import asyncio
import base64
import json
import os
import sys
import time
from collections import Counter
from typing import Any

UPLOAD_TYPE = "application/vnd.nomadp+json;message=upload-req;version=1"


class Sender(asyncio.Protocol):
    """One connection: sends a request, waits for the reply, and sends again when told to."""

    def __init__(self, load: "Load") -> None:
        self.load, self.buffer, self.sent_s = load, b"", 0.0
        self.transport: Any = None
        self.size = load.batch

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.load.free(self)

    def send(self) -> None:
        if time.monotonic() >= self.load.end_s:
            self.transport.close()
            return
        self.sent_s = time.perf_counter()
        self.transport.write(self.load.request())

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, separator, body = self.buffer.partition(b"\r\n\r\n")
        if not separator:
            return
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        if len(body) < length:
            return
        self.buffer = b""
        status = int(head[9:12])
        self.load.answered(status, length, time.perf_counter() - self.sent_s)
        if status == 200:
            self.load.free(self)
        else:  # like a device, only sooner
            asyncio.get_running_loop().call_later(self.load.pause_s, self.load.free, self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.load.open -= 1
        if time.monotonic() < self.load.end_s:
            self.load.broken += 1


class Load:
    def __init__(self, port: int, task: str, epoch: int, **how: Any) -> None:
        self.port, self.epoch = port, epoch
        self.values: list[str] = how["values"]
        self.batch: int = how.get("batch", 1)
        self.connections: int = how.get("connections", 64)
        self.pause_s: float = how.get("pause_s", 0.1)
        self.per_s: float | None = how.get("per_s")
        """The rate of reports to send; by default each connection sends one after the other."""
        self.seconds: float = how.get("seconds", 5)
        self.end_s = time.monotonic() + self.seconds
        self._idle: list[Sender] = []
        self.offered = 0
        self.head = (
            f"POST /tasks/{task}/reports HTTP/1.1\r\nhost: localhost\r\n"
            f"content-type: {UPLOAD_TYPE}\r\ncontent-length: "
        ).encode()
        self.statuses: Counter[int] = Counter()
        self.latencies: list[float] = []
        self.failures = self.broken = self.open = self._next = 0

    def request(self) -> bytes:
        raw = os.urandom(16 * self.batch)
        parts = []
        for k in range(self.batch):
            name = base64.urlsafe_b64encode(raw[16 * k : 16 * k + 16])[:22].decode()
            self._next = (self._next + 1) % len(self.values)
            value = self.values[self._next]
            parts.append(f'{{"report_id":"{name}","time":{self.epoch},"value":"{value}"}}')
        body = f'{{"reports":[{",".join(parts)}]}}'.encode()
        return b"%s%d\r\n\r\n%s" % (self.head, len(body), body)

    def answered(self, status: int, length: int, seconds: float) -> None:
        self.statuses[status] += 1
        if status == 200:
            self.failures += length > 0
            self.latencies.append(seconds)

    def free(self, sender: Sender) -> None:
        """Let a connection send again."""
        if self.per_s is None or time.monotonic() >= self.end_s:
            sender.send()
        else:
            self._idle.append(sender)

    async def _offer(self, per_s: float) -> None:
        """Offer reports at a fixed rate. If no connection is free, a report is only counted."""
        began_s = time.monotonic()
        self.end_s = began_s + self.seconds
        while (now_s := time.monotonic()) < self.end_s:
            for _ in range(int((now_s - began_s) * per_s / self.batch) - self.offered):
                self.offered += 1
                if self._idle:
                    self._idle.pop().send()
            await asyncio.sleep(0.005)
        for sender in self._idle:
            sender.send()  # closes the connection, because the time is over

    async def run(self) -> dict[str, Any]:
        loop, began_s = asyncio.get_running_loop(), time.monotonic()
        for _ in range(self.connections):
            await loop.create_connection(lambda: Sender(self), "127.0.0.1", self.port)
            self.open += 1
        if self.per_s is not None:
            await self._offer(self.per_s)
            began_s = self.end_s - self.seconds
        while self.open and time.monotonic() < self.end_s + 30:
            await asyncio.sleep(0.05)
        elapsed_s = time.monotonic() - began_s
        ordered = sorted(self.latencies) or [0.0]
        acknowledged = (self.statuses[200] - self.failures) * self.batch
        return {
            "acknowledged": acknowledged,
            "per_s": acknowledged / elapsed_s,
            "statuses": {str(k): n for k, n in self.statuses.items()},
            "failures": self.failures,
            "offered": self.offered * self.batch,
            "broken": self.broken,
            "p50_ms": 1000 * ordered[len(ordered) // 2],
            "p99_ms": 1000 * ordered[int(len(ordered) * 0.99)],
            "max_ms": 1000 * ordered[-1],
        }


def main() -> None:
    import uvloop

    options = json.load(sys.stdin)
    results = uvloop.run(Load(**options).run())
    print(json.dumps(results))


if __name__ == "__main__":
    main()
