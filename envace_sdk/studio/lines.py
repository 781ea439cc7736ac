"""A text in lines that can be compared with those of another."""

from __future__ import annotations

import re
from typing import Final

from .shown import block

__all__ = ["lines"]

_MOST_TEXT: Final = 20_000
_PIECE: Final = re.compile(r'"(?:[^"\\]|\\.)*+"?|[{}\[\],]|[^"{}\[\],]+', re.DOTALL)
_INDENT: Final = "  "
_DEEPEST: Final = 20


def lines(text: str) -> list[str]:
    """The lines of a text; of JSON, also where it is broken off, a line for each member."""
    text = text[:_MOST_TEXT]
    if not text.startswith(("{", "[")):
        return block(text).split("\n")
    made, line, depth = [], "", 0
    for piece in _PIECE.findall(text):
        if piece in {"}", "]"}:
            made.append(line)
            depth -= 1
            line = _INDENT * min(depth, _DEEPEST) + piece
            continue
        if line or piece.strip():  # a blank between two members is none of either
            line += piece if line else _INDENT * min(depth, _DEEPEST) + piece.lstrip()
        if piece in {"{", "[", ","}:
            made.append(line)
            line = ""
            depth += piece != ","
    return [block(one) for one in (*made, line) if one.strip()]
