"""CEL as it is written: literals, paths, and brackets where they are needed."""

from __future__ import annotations

import math
import re
from enum import IntEnum

from envace_sdk.json import Json

__all__ = ["MAX_SOURCE", "Level", "literal", "literal_cost", "select"]

MAX_SOURCE = 8_000
"""Characters of an expression that is still worth having."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED = frozenset({"true", "false", "null", "in"})
_PLAIN_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_SPECIAL = re.compile("[\\\\'\x00-\x1f\x7f\x85\u2028\u2029\ufeff]")


class Level(IntEnum):
    """How tightly the outermost operator of an expression binds."""

    CHOICE = 0
    OR = 1
    AND = 2
    RELATION = 3
    SUM = 4
    PRODUCT = 5
    UNARY = 6
    MEMBER = 7


def _escaped(found: re.Match[str]) -> str:
    char = found[0]
    return _PLAIN_ESCAPES.get(char) or f"\\u{ord(char):04x}"


def literal(value: Json) -> str | None:
    """The value as CEL source; None for numbers that the language does not have."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if -(2**63) < value < 2**63 else None
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, str):
        return f"'{_SPECIAL.sub(_escaped, value)}'"
    if isinstance(value, list):
        items = [literal(item) for item in value]
        return None if None in items else f"[{', '.join(item for item in items if item is not None)}]"
    members = [(literal(name), literal(item)) for name, item in value.items()]
    if any(item is None for _, item in members):
        return None
    return f"{{{', '.join(f'{name}: {item}' for name, item in members)}}}"


def literal_cost(value: Json) -> int:
    """How much a literal adds to the size of an expression."""
    if isinstance(value, str):
        return 1 + len(value) // 24
    if isinstance(value, list):
        return 1 + sum(map(literal_cost, value))
    if isinstance(value, dict):
        return 1 + sum(1 + literal_cost(item) for item in value.values())
    return 1


def select(base: str, name: str) -> str:
    """`base.name`, or `base['name']` where the name is none that the language allows."""
    if _NAME.fullmatch(name) and name not in _RESERVED:
        return f"{base}.{name}"
    return f"{base}[{literal(name)}]"
