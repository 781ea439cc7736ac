"""Whether a value is JSON that every MCP peer can read: finite, UTF-8, of bounded depth and size, free of cycles."""

from __future__ import annotations

import json
import math
from typing import Final

from envace_sdk.json import Json

from .finding import Finding, error
from .walk import Path

__all__ = ["MAX_DEPTH", "MAX_DIGITS", "MAX_NODES", "MAX_TOOL_BYTES", "json_finding"]

MAX_DEPTH: Final = 128
"""Levels of one definition. Common JSON-RPC readers stop at 200 for the whole message."""

MAX_NODES: Final = 200_000
"""Values in one definition; also what stops a small document that refers to itself over and over."""

MAX_DIGITS: Final = 4_300
"""Decimal digits of one integer: what Python and the MCP SDK read without being told otherwise."""

MAX_TOOL_BYTES: Final = 1024 * 1024
"""Bytes of one definition as JSON: MCP clients take no larger server-sent event by default."""

_MAX_BITS: Final = int((MAX_DIGITS - 1) * math.log2(10))


def json_finding(value: Json) -> Finding | None:
    """The first reason why `value` is not JSON that can be carried, or None."""
    stack: list[tuple[Path, Json]] = [((), value)]
    nodes = 0
    while stack:
        path, here = stack.pop()
        nodes += 1
        if nodes > MAX_NODES:
            return error((), "too-large", f"more than {MAX_NODES:,} values", "shorten the definition")
        if len(path) > MAX_DEPTH:
            return error(
                path[:4], "too-deep", f"nested more than {MAX_DEPTH} levels deep", "flatten it, or use $defs and $ref"
            )
        problem = _leaf_problem(here)
        if problem is not None:
            return error(path, *problem)
        if isinstance(here, dict):
            for key, child in here.items():
                if not isinstance(key, str):
                    return error(path, "not-json", f"the key {key!r} is not a string", "quote the key")
                if _is_broken(key):
                    return error(path, *_SURROGATE)
                stack.append(((*path, key), child))
        elif isinstance(here, list):
            stack.extend(((*path, index), child) for index, child in enumerate(here))
    size = len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())
    if size > MAX_TOOL_BYTES:
        return error((), "too-large", f"{size:,} bytes, more than {MAX_TOOL_BYTES:,}", "shorten the definition")
    return None


_SURROGATE: Final = ("unicode", "half of a surrogate pair, which is no character", "replace it: UTF-8 cannot hold it")


def _leaf_problem(value: Json) -> tuple[str, str, str] | None:
    if value is None or isinstance(value, bool | dict | list):
        return None
    if isinstance(value, str):
        return _SURROGATE if _is_broken(value) else None
    if isinstance(value, int):
        if value.bit_length() > _MAX_BITS:
            return ("number", f"an integer of more than {MAX_DIGITS:,} digits", "write it as a string")
        return None
    if isinstance(value, float):
        return None if math.isfinite(value) else ("number", "not a finite number", "JSON has no NaN and no infinity")
    return ("not-json", f"{type(value).__name__} is not a JSON type", "use strings, numbers, lists and objects")


def _is_broken(text: str) -> bool:
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
