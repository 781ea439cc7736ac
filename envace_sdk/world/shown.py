"""Values as people are shown them in messages."""

from __future__ import annotations

import json

from envace_sdk.json import UNSET, Json, Unset

__all__ = ["shown"]


def shown(value: Json | Unset, limit: int = 60) -> str:
    """The value as JSON, cut to a readable length."""
    if value is UNSET:
        return "(absent)"
    if isinstance(value, list | dict) and len(value) > 50:
        return f"{'a list' if isinstance(value, list) else 'an object'} of {len(value)}"
    if isinstance(value, str) and len(value) > limit:
        return json.dumps(value[: limit - 1] + "…", ensure_ascii=False)
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return type(value).__name__
    return text if len(text) <= limit else text[: limit - 1] + "…"
