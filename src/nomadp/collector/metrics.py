"""Metrics in Prometheus' text format. They do not distinguish tasks or senders."""

from bisect import bisect_left
from collections import Counter

__all__ = ["Metrics"]

BOUNDS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class Metrics:
    """Metrics of this process since it started. One of several workers adds a label.

    Workers share a listener, so a scrape reaches any of them. Without the label, a counter
    would seem to decrease when two scrapes reach different workers.
    """

    def __init__(self, worker: str = "") -> None:
        self._label = f'worker="{worker}"' if worker else ""
        self.uploads: Counter[int] = Counter()
        self.reports = 0
        self.wrong_tokens: Counter[str] = Counter()
        self._buckets = [0] * (len(BOUNDS_S) + 1)
        self._seconds = 0.0

    def answered(self, status: int, seconds: float) -> None:
        self.uploads[status] += 1
        self._buckets[bisect_left(BOUNDS_S, seconds)] += 1
        self._seconds += seconds

    def rendered(self, gauges: dict[str, tuple[str, float]]) -> str:
        """All metrics as text, including these current values."""
        lines = self._lines()
        for name, (meaning, value) in gauges.items():
            kind = "counter" if name.endswith("_total") else "gauge"
            lines += [
                *_head(f"nomadp_{name}", kind, meaning),
                self._sample(name, f"{value:.0f}"),
            ]
        return "\n".join(lines) + "\n"

    def _lines(self) -> list[str]:
        lines = _head("nomadp_uploads_total", "counter", "Answered uploads by HTTP status.")
        lines += [
            self._sample("uploads_total", n, f'status="{status}"')
            for status, n in sorted(self.uploads.items())
        ]
        lines += _head(
            "nomadp_wrong_tokens_total", "counter", "Requests with a wrong token, by role."
        )
        lines += [
            self._sample("wrong_tokens_total", self.wrong_tokens[role], f'role="{role}"')
            for role in ("analyst", "operator")
        ]
        lines += _head(
            "nomadp_upload_seconds",
            "histogram",
            "Seconds from the last byte of an upload to its answer.",
        )
        total = 0
        for bound, n in zip((*BOUNDS_S, "+Inf"), self._buckets, strict=True):
            total += n
            lines.append(self._sample("upload_seconds_bucket", total, f'le="{bound}"'))
        lines.append(self._sample("upload_seconds_sum", f"{self._seconds:.6f}"))
        lines.append(self._sample("upload_seconds_count", total))
        return lines

    def _sample(self, name: str, value: int | str, label: str = "") -> str:
        labels = ",".join(text for text in (label, self._label) if text)
        return f"nomadp_{name}{{{labels}}} {value}" if labels else f"nomadp_{name} {value}"


def _head(name: str, kind: str, meaning: str) -> list[str]:
    return [f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"]
