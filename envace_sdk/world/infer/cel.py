"""Writing CEL: the small vocabulary of which inferred expressions are made."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from envace_sdk.json import Json

from .arguments import Argument
from .words import bag

__all__ = ["argument", "dotted", "given", "literal", "member", "or_null", "text"]

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED = bag(
    "as break const continue else false for function if import in let loop namespace null package return true var "
    "void while has all exists exists_one map filter"
)


def member(of: str, path: Sequence[str]) -> str:
    """The expression of what lies at a path."""
    out = of
    for step in path:
        plain = _IDENTIFIER.fullmatch(step) and step not in _RESERVED
        out += f".{step}" if plain else f"[{literal(step)}]"
    return out


def argument(found: Argument, of: str = "args") -> str:
    """The expression of an argument's value; it must be given."""
    return member(of, found.path)


def or_null(expression: str) -> str:
    """The value, or null when it is absent."""
    return f"default({expression}, null)"


def value(found: Argument, of: str = "args") -> str:
    """The expression of an argument's value, null where an optional one is absent."""
    return argument(found, of) if found.required else or_null(argument(found, of))


def given(found: Argument, of: str = "args") -> str:
    """The condition that an argument is there and not null."""
    return f"{or_null(argument(found, of))} != null"


def literal(value: Json) -> str:
    """A JSON value as CEL."""
    return _SURROGATE.sub("\\\\ufffd", json.dumps(value, ensure_ascii=False))


_SURROGATE = re.compile("[\ud800-\udfff]")


def text(value: str) -> str:
    """A text as CEL, in single quotes where that reads better in YAML."""
    if re.fullmatch(r"[^'\\\x00-\x1f\x7f\ud800-\udfff]*", value):
        return f"'{value}'"
    return literal(value)


def dotted(path: Sequence[str]) -> str:
    """A path as dynamics files write it."""
    return ".".join(path)


def template(words: str) -> str:
    """Literal text in a template."""
    return words.replace("{", "{{").replace("}", "}}")
