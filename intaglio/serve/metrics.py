"""What the server counts, as text for Prometheus.

Counters of requests have the names that TensorFlow Serving exports, so that dashboards find them.
Format: https://prometheus.io/docs/instrumenting/exposition_formats/.
"""

from __future__ import annotations

import bisect
import threading
from collections.abc import Iterable, Mapping

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
PATH = "/monitoring/prometheus/metrics"
REQUESTS = ":tensorflow:serving:request_count"
LATENCY = ":tensorflow:serving:request_latency"
BATCH_ROWS = ":tensorflow:serving:batching_session:processed_batch_size"
PENDING = "intaglio_serve_pending_requests"
VERSIONS = "intaglio_serve_available_versions"

Labels = tuple[tuple[str, str], ...]


class Histogram:
    """How many values are at most each of some bounds, and their sum."""

    def __init__(self, bounds: Iterable[float]) -> None:
        self.bounds = tuple(bounds)
        self.counts = [0] * (len(self.bounds) + 1)
        self.total = 0.0

    def add(self, value: float) -> None:
        """Counts a value."""
        self.counts[bisect.bisect_left(self.bounds, value)] += 1
        self.total += value

    def lines(self, name: str, labels: Labels) -> Iterable[str]:
        """The histogram in the text form: cumulative counts."""
        count = 0
        for bound, own in zip((*self.bounds, float("inf")), self.counts, strict=True):
            count += own
            shown = "+Inf" if bound == float("inf") else f"{bound:g}"
            yield f"{name}_bucket{_labels((*labels, ('le', shown)))} {count}"
        yield f"{name}_sum{_labels(labels)} {self.total:g}"
        yield f"{name}_count{_labels(labels)} {count}"


# Microseconds, as TensorFlow Serving counts: 10 us, doubled until a minute is passed.
LATENCY_BOUNDS = tuple([10.0 * 2.0**i for i in range(24)])
ROWS_BOUNDS = tuple([2.0**i for i in range(13)])


class Metrics:
    """The counters of a server; threads may count at the same time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: dict[Labels, int] = {}
        self._latencies: dict[Labels, Histogram] = {}
        self._rows: dict[Labels, Histogram] = {}
        self.pending = 0

    def request(self, model: str, verb: str, status: int, seconds: float) -> None:
        """Counts a request that has been answered. `model` is "" for one that is not served."""
        labels = (("model_name", model), ("entrypoint", verb), ("status", str(status)))
        with self._lock:
            self._requests[labels] = self._requests.get(labels, 0) + 1
            found = self._latencies.get(labels[:2])
            if found is None:
                found = self._latencies[labels[:2]] = Histogram(LATENCY_BOUNDS)
            found.add(seconds * 1e6)

    def batch(self, model: str, rows: int) -> None:
        """Counts a call of a model with so many rows, of one request or several."""
        labels = (("model_name", model),)
        with self._lock:
            found = self._rows.get(labels)
            if found is None:
                found = self._rows[labels] = Histogram(ROWS_BOUNDS)
            found.add(rows)

    def text(self, versions: Mapping[str, int]) -> str:
        """All counters; `versions` is the number of versions in service of each model."""
        lines: list[str] = []
        with self._lock:
            lines.append(f"# TYPE {REQUESTS} counter")
            lines += [f"{REQUESTS}{_labels(k)} {n}" for k, n in self._requests.items()]
            for name, group in ((LATENCY, self._latencies), (BATCH_ROWS, self._rows)):
                lines.append(f"# TYPE {name} histogram")
                for labels, histogram in group.items():
                    lines += histogram.lines(name, labels)
            lines += [f"# TYPE {PENDING} gauge", f"{PENDING} {self.pending}"]
        lines.append(f"# TYPE {VERSIONS} gauge")
        lines += [f"{VERSIONS}{_labels((('model_name', m),))} {n}" for m, n in versions.items()]
        return "\n".join([*lines, ""])


def _labels(labels: Labels) -> str:
    return "{" + ",".join([f'{name}="{_escaped(value)}"' for name, value in labels]) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
