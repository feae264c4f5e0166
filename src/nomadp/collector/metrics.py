"""Numbers for those who watch, as Prometheus reads them. Of no task and no sender."""

from bisect import bisect_left
from collections import Counter

__all__ = ["Metrics", "rendered"]

BOUNDS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class Metrics:
    """Of this process since it started."""

    def __init__(self) -> None:
        self.uploads: Counter[int] = Counter()
        self.reports = 0
        self._buckets = [0] * (len(BOUNDS_S) + 1)
        self._seconds = 0.0

    def answered(self, status: int, seconds: float) -> None:
        self.uploads[status] += 1
        self._buckets[bisect_left(BOUNDS_S, seconds)] += 1
        self._seconds += seconds

    def lines(self) -> list[str]:
        lines = _head("nomadp_uploads_total", "counter", "Uploads answered, by status.")
        lines += [
            f'nomadp_uploads_total{{status="{status}"}} {n}'
            for status, n in sorted(self.uploads.items())
        ]
        lines += _head(
            "nomadp_upload_seconds", "histogram", "From the last byte to the answer."
        )
        total = 0
        for bound, n in zip((*BOUNDS_S, "+Inf"), self._buckets, strict=True):
            total += n
            lines.append(f'nomadp_upload_seconds_bucket{{le="{bound}"}} {total}')
        lines.append(f"nomadp_upload_seconds_sum {self._seconds:.6f}")
        lines.append(f"nomadp_upload_seconds_count {total}")
        return lines


def rendered(metrics: Metrics, gauges: dict[str, tuple[str, float]]) -> str:
    lines = metrics.lines()
    for name, (meaning, value) in gauges.items():
        kind = "counter" if name.endswith("_total") else "gauge"
        lines += [*_head(f"nomadp_{name}", kind, meaning), f"nomadp_{name} {value:g}"]
    return "\n".join(lines) + "\n"


def _head(name: str, kind: str, meaning: str) -> list[str]:
    return [f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"]
