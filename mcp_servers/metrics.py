"""What a server counts of itself, for Prometheus.

Where several processes serve, each counts into files of a folder that they share, named by `FOLDER`, and whichever is
asked tells of all: that variable must be set before this module is first used. The labels are bounded: toolsets and
tools by what is served, layers, statuses and kinds by the lists below.
"""

from __future__ import annotations

import asyncio
import os
from typing import Final, Protocol

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, multiprocess
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from envace_sdk.errors import (
    BusyWorldError,
    DoubtfulSaveError,
    MissError,
    OverdueCallError,
    UnknownToolError,
    UnsavedWorldError,
)
from envace_sdk.evidence.label import KEY
from envace_sdk.tools.model import ToolResult

__all__ = ["CONTENT_TYPE", "FOLDER", "CallMeter", "Metrics"]

FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"
"""Environment variable that names the folder of several processes."""
CONTENT_TYPE: Final = CONTENT_TYPE_LATEST
TOOLS: Final = 500
"""Most tools of a toolset that are counted by name; the rest are `other`."""
LAYERS: Final = frozenset({"arguments", "fault", "fixture", "dynamics", "model", "precedent", "schema", "none"})
STATUSES: Final = frozenset(
    {"success", "not_found", "validation_error", "permission_error", "conflict", "rate_limited", "unknown"}
)
_KINDS: Final[tuple[tuple[type[BaseException], str], ...]] = (
    (OverdueCallError, "timeout"),
    (BusyWorldError, "busy"),
    (UnsavedWorldError, "database"),
    (DoubtfulSaveError, "doubtful"),
    (UnknownToolError, "unknown_tool"),
    (MissError, "not_recorded"),
    (asyncio.CancelledError, "cancelled"),
)
_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class CallMeter(Protocol):
    """Hears of every call, and how long it took until it was rehearsed and saved."""

    def answered(self, tool: str, result: ToolResult, seconds: float) -> None:
        """A call was answered, be it with an error."""

    def failed(self, tool: str, error: BaseException, seconds: float) -> None:
        """A call had no answer."""


class Metrics:
    """The counters of one process."""

    def __init__(self) -> None:
        self._registry = own = CollectorRegistry()
        by_toolset = ("toolset",)
        self._calls = Counter("envace_calls", "Tool calls.", ("toolset", "tool", "layer", "status"), registry=own)
        self._seconds = Histogram(
            "envace_call_seconds",
            "Seconds from a call's arrival until it was rehearsed and saved.",
            ("toolset", "layer"),
            buckets=_SECONDS,
            registry=own,
        )
        self._errors = Counter("envace_errors", "Calls without an answer.", ("toolset", "kind"), registry=own)
        self._refused = Counter("envace_requests_refused", "Requests over a limit.", ("limit",), registry=own)
        self._evictions = Counter(
            "envace_world_evictions", "Worlds put out of memory for others.", by_toolset, registry=own
        )
        self._reloads = Counter(
            "envace_world_reloads", "Held worlds that others had changed.", by_toolset, registry=own
        )
        self._waits = Counter("envace_lock_waits", "Turns that had to be waited for.", by_toolset, registry=own)
        self._wait_seconds = Histogram(
            "envace_lock_wait_seconds",
            "Seconds that such turns were waited for.",
            by_toolset,
            buckets=_SECONDS,
            registry=own,
        )
        self._restarts = Counter("envace_worker_restarts", "Workers that died and were started anew.", registry=own)
        self._serving = Gauge("envace_workers", "Processes that serve.", multiprocess_mode="livesum", registry=own)
        self._held = Gauge(
            "envace_worlds_cached", "Worlds held in memory.", by_toolset, multiprocess_mode="livesum", registry=own
        )

    def of(self, toolset: str, tools: frozenset[str]) -> CallMeter:
        """What counts the calls of one toolset."""
        return _Meter(self, toolset, frozenset(sorted(tools)[:TOOLS]), tools)

    def refused(self, limit: str) -> None:
        """A request was over a limit."""
        self._refused.labels(limit).inc()

    def started(self) -> None:
        """Count this process among those that serve."""
        self._serving.set(1)

    def restarted(self) -> None:
        """A worker was started in the place of one that died."""
        self._restarts.inc()

    def waited(self, toolset: str, seconds: float) -> None:
        """As `envace_sdk.rehearse.shared.Watcher`."""
        self._waits.labels(toolset).inc()
        self._wait_seconds.labels(toolset).observe(seconds)

    def reloaded(self, toolset: str) -> None:
        """As `envace_sdk.rehearse.shared.Watcher`."""
        self._reloads.labels(toolset).inc()

    def evicted(self, toolset: str) -> None:
        """As `envace_sdk.rehearse.shared.Watcher`."""
        self._evictions.labels(toolset).inc()

    def holds(self, toolset: str, worlds: int) -> None:
        """As `envace_sdk.rehearse.shared.Watcher`."""
        self._held.labels(toolset).set(worlds)

    def text(self) -> bytes:
        """All that was counted, of all processes where there are several."""
        if FOLDER not in os.environ:
            return generate_latest(self._registry)
        everything = CollectorRegistry()
        multiprocess.MultiProcessCollector(everything)  # type: ignore[no-untyped-call]
        return generate_latest(everything)


class _Meter:
    """The calls of one toolset."""

    def __init__(self, metrics: Metrics, toolset: str, named: frozenset[str], tools: frozenset[str]) -> None:
        self._metrics = metrics
        self._toolset = toolset
        self._named = named
        self._tools = tools

    def answered(self, tool: str, result: ToolResult, seconds: float) -> None:
        """As `CallMeter`."""
        label = result.meta.get(KEY)
        found = label if isinstance(label, dict) else {}
        layer, status = found.get("layer"), found.get("outcome")
        self._count(tool, layer if layer in LAYERS else "none", status if status in STATUSES else "unknown", seconds)
        if layer == "none":
            self._metrics._errors.labels(self._toolset, "not_rehearsed").inc()

    def failed(self, tool: str, error: BaseException, seconds: float) -> None:
        """As `CallMeter`."""
        self._count(tool, "none", "error", seconds)
        causes = (error, error.__cause__)
        kind = next((kind for of, kind in _KINDS if any(isinstance(cause, of) for cause in causes)), "internal")
        self._metrics._errors.labels(self._toolset, kind).inc()

    def _count(self, tool: str, layer: str, status: str, seconds: float) -> None:
        name = tool if tool in self._named else "other" if tool in self._tools else "unknown"
        self._metrics._calls.labels(self._toolset, name, layer, status).inc()
        self._metrics._seconds.labels(self._toolset, layer).observe(seconds)
