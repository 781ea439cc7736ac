"""Plans that are ready to use, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from envace_sdk.json import Json

__all__ = ["PRESETS"]

PRESETS: Final[Mapping[str, Mapping[str, Json]]] = {
    "flaky": {
        "name": "flaky",
        "faults": [
            {"kind": "error", "probability": 0.08, "text": "Service temporarily unavailable. Please try again."},
            {"kind": "rate_limit", "probability": 0.05, "retry_after": 5},
            {"kind": "timeout", "probability": 0.03, "bound": 20, "applied": True},
            {"kind": "malformed", "probability": 0.03, "breaks": "json"},
            {"kind": "latency", "probability": 0.15, "delay": [0.5, 2.0]},
        ],
    },
    "rate-limited": {
        "name": "rate-limited",
        "faults": [{"kind": "rate_limit", "every": 5, "in_a_row": 2, "retry_after": 30}],
    },
    "read-only": {
        "name": "read-only",
        "faults": [
            {"kind": "permission", "calls": "writes", "text": "Permission denied: this account may only read."},
        ],
    },
    "slow": {"name": "slow", "faults": [{"kind": "latency", "delay": [1.0, 4.0]}]},
}
"""`flaky`: about a third of the calls meet with something; `rate-limited`: every fifth call and the one after it are
refused; `read-only`: whatever may change the world is forbidden; `slow`: every answer takes seconds."""
