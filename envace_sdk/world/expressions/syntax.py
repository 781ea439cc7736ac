"""From CEL source to a syntax tree, by the parser of cel-python, within bounds."""

from __future__ import annotations

import math
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from envace_sdk.errors import ExpressionError

from .nodes import (
    Binary,
    Call,
    Conditional,
    Index,
    ListLiteral,
    Literal,
    Logic,
    MapLiteral,
    Name,
    Node,
    Select,
    Unary,
)

if TYPE_CHECKING:
    from celpy.celparser import CELParser

__all__ = ["MAX_LENGTH", "MAX_NESTING", "parse"]

MAX_LENGTH = 10_000
"""Characters of one expression."""
MAX_NESTING = 100
"""How deep an expression may nest; a chain of operators counts as nesting."""

_BINARY = {
    "relation_lt": "<",
    "relation_le": "<=",
    "relation_gt": ">",
    "relation_ge": ">=",
    "relation_eq": "==",
    "relation_ne": "!=",
    "relation_in": "in",
    "addition_add": "+",
    "addition_sub": "-",
    "multiplication_mul": "*",
    "multiplication_div": "/",
    "multiplication_mod": "%",
}
_LOGIC = {"conditionalor": "||", "conditionaland": "&&"}
_ESCAPES = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "`": "`",
    "?": "?",
}
_ESCAPE = re.compile(
    r"\\(?:([abfnrtv\\'\"`?])|([0-3][0-7]{2})|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|)", re.ASCII
)
_INT64 = 2**63
_CONSTANTS = {"true": True, "false": False, "null": None}
_KEYWORDS = {"true", "false", "null", "in"}
_SIMPLE = re.compile(
    r"\s*(?:([A-Za-z_]\w*(?:\.[A-Za-z_]\w*){0,20})|'([^'\\\n\r]*)'|(-?\d{1,18}))\s*",
    re.ASCII,
)


def parse(source: str) -> Node:
    """The syntax tree.

    Raises:
        ExpressionError: the source is not CEL, or is too long or too deeply nested.
    """
    if len(source) > MAX_LENGTH:
        raise ExpressionError(f"an expression is longer than {MAX_LENGTH} characters: `{source[:60]}…`")
    if not source.strip():
        raise ExpressionError("an expression is empty")
    found = _SIMPLE.fullmatch(source)
    simple = _simple(*found.groups()) if found is not None else None
    if simple is not None:
        return simple
    try:
        _scan(source)
        return _node(_parser().parse(source), 0)
    except ExpressionError as error:
        raise ExpressionError(f"`{source}`: {error}") from None
    except RecursionError:
        raise ExpressionError(f"`{source[:60]}…`: nested too deeply") from None
    except Exception as error:
        if type(error).__name__ != "CELParseError":
            raise
        raise ExpressionError(f"`{source}`: {_syntax_message(source, error)}") from None


def _simple(path: str | None, text: str | None, digits: str | None) -> Node | None:
    """Most expressions of a dynamics file are a path or a plain literal, and need no grammar."""
    if path is None:
        return Literal(text if digits is None else int(digits))
    if path in _CONSTANTS:
        return Literal(_CONSTANTS[path])
    first, *fields = path.split(".")
    if not _KEYWORDS.isdisjoint((first, *fields)):
        return None
    node: Node = Name(first)
    for field in fields:
        node = Select(node, field)
    return node


@cache
def _parser() -> CELParser:
    # Building the grammar takes a quarter of a second, which a program that evaluates nothing should not pay.
    from celpy.celparser import CELParser

    return CELParser()


def _syntax_message(source: str, error: Any) -> str:
    line, column = error.line, error.column
    # cel-python keeps the place but not the token that its parser met there.
    if getattr(getattr(error.__context__, "token", None), "type", None) == "$END":
        return "it ends too early"
    if not isinstance(line, int) or not isinstance(column, int) or line < 1 or column < 1:
        return "not CEL"
    where = f"line {line}, column {column}" if "\n" in source.strip() else f"column {column}"
    rest = source.splitlines()[line - 1][column - 1 :][:20] if line <= len(source.splitlines()) else ""
    return f"not CEL at {where}" + (f", before {rest!r}" if rest else "")


def _scan(source: str) -> None:
    """Refuse open strings and deep brackets in one pass: the parser's own patterns would backtrack on them."""
    depth = at = 0
    while at < len(source):
        char = source[at]
        if char in "\"'":
            at = _string_end(source, at)
            continue
        if source.startswith("//", at):
            end = source.find("\n", at)
            at = len(source) if end < 0 else end
            continue
        if char in "([{":
            depth += 1
            if depth > MAX_NESTING:
                raise ExpressionError(f"nested deeper than {MAX_NESTING}")
        elif char in ")]}":
            depth -= 1
        at += 1


def _string_end(source: str, at: int) -> int:
    quote = source[at] * 3 if source.startswith(source[at] * 3, at) else source[at]
    place = at + len(quote)
    while place < len(source):
        if source.startswith(quote, place):
            return place + len(quote)
        if source[place] == "\n" and len(quote) == 1:
            break
        place += 2 if source[place] == "\\" else 1
    raise ExpressionError(f"the string at column {at + 1} has no end")


def _node(tree: Any, depth: int) -> Node:
    """Each level of nesting passes through a dozen one-child rules of the grammar; they are skipped in a loop."""
    if depth > MAX_NESTING:
        raise ExpressionError(f"nested deeper than {MAX_NESTING}")
    while len(tree.children) == 1 and tree.data not in _LEAVES:
        tree = tree.children[0]
    kind, parts = str(tree.data), tree.children
    if kind in _LEAVES:
        leaf: Node = _LEAVES[kind](parts, depth + 1)
        return leaf
    if kind in _LOGIC:
        return _logic(tree, kind, depth + 1)
    if kind in {"relation", "addition", "multiplication"}:
        return _chain(tree, kind, depth + 1)
    if kind == "unary":
        operand = _node(parts[1], depth + 1)
        return Unary("!" if parts[0].data == "unary_not" else "-", operand)
    condition, yes, no = parts
    return Conditional(_node(condition, depth + 1), _node(yes, depth + 1), _node(no, depth + 1))


def _logic(tree: Any, kind: str, depth: int) -> Node:
    items: list[Node] = []
    while tree.data == kind and len(tree.children) == 2:
        items.append(_node(tree.children[1], depth))
        tree = tree.children[0]
    items.append(_node(tree, depth))
    return Logic(_LOGIC[kind], tuple(reversed(items)))


def _chain(tree: Any, kind: str, depth: int) -> Node:
    """`a + b - c` is a tree that leans left: walk down its spine, then build up."""
    steps: list[tuple[str, Any]] = []
    while tree.data == kind and len(tree.children) == 2:
        link, right = tree.children
        steps.append((_BINARY[str(link.data)], right))
        tree = link.children[0]
    if depth + len(steps) > MAX_NESTING:
        raise ExpressionError(f"nested deeper than {MAX_NESTING}")
    node = _node(tree, depth + len(steps))
    for operator, right in reversed(steps):
        node = Binary(operator, node, _node(right, depth + 1))
    return node


def _list(parts: Any, depth: int) -> tuple[Node, ...]:
    return tuple(_node(part, depth) for part in parts[0].children) if parts else ()


def _map(parts: Any, depth: int) -> Node:
    flat = _list(parts, depth)
    return MapLiteral(tuple(zip(flat[::2], flat[1::2], strict=True)))


def _object(_parts: Any, _: int) -> Node:
    raise ExpressionError("message construction is not part of this language; write {'field': value}")


def _literal(parts: Any, _: int) -> Node:
    token = parts[0]
    kind, text = token.type, str(token)
    if kind in {"INT_LIT", "UINT_LIT"}:
        digits = text.rstrip("uU").lower()
        value = int(digits, 16 if "0x" in digits else 10) if len(digits) < 25 else _INT64
        if not -_INT64 <= value < _INT64:
            raise ExpressionError(f"the integer {text[:40]} does not fit in 64 bits")
        return Literal(value)
    if kind == "FLOAT_LIT":
        number = float(text)
        if not math.isfinite(number):
            raise ExpressionError(f"the number {text} is too large")
        return Literal(number)
    if kind in {"STRING_LIT", "MLSTRING_LIT"}:
        return Literal(_string(text))
    if kind == "BYTES_LIT":
        raise ExpressionError("bytes are not JSON")
    return Literal({"true": True, "false": False}.get(text))


def _string(text: str) -> str:
    raw = text[0] in "rR"
    body = text[1:] if raw else text
    width = 3 if len(body) >= 6 and body[:3] in {'"""', "'''"} else 1
    body = body[width:-width]
    return body if raw else _ESCAPE.sub(_unescape, body)


def _unescape(found: re.Match[str]) -> str:
    simple, octal, *hexes = found.groups()
    if simple:
        return _ESCAPES[simple]
    digits = octal or next((digits for digits in hexes if digits), "")
    if not digits:
        raise ExpressionError(f"unknown escape in {found.string[found.start() : found.start() + 6]!r}")
    code = int(digits, 8 if octal else 16)
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise ExpressionError(f"{found.group()!r} is not a character")
    return chr(code)


_LEAVES: dict[str, Any] = {
    "literal": _literal,
    "ident": lambda parts, _: Name(str(parts[0])),
    "dot_ident": lambda parts, _: Name(str(parts[0])),
    "ident_arg": lambda parts, depth: Call(str(parts[0]), None, _list(parts[1:], depth)),
    "dot_ident_arg": lambda parts, depth: Call(str(parts[0]), None, _list(parts[1:], depth)),
    "paren_expr": lambda parts, depth: _node(parts[0], depth),
    "list_lit": lambda parts, depth: ListLiteral(_list(parts, depth)),
    "map_lit": _map,
    "member_dot": lambda parts, depth: Select(_node(parts[0], depth), str(parts[1])),
    "member_dot_arg": lambda parts, depth: Call(str(parts[1]), _node(parts[0], depth), _list(parts[2:], depth)),
    "member_index": lambda parts, depth: Index(_node(parts[0], depth), _node(parts[1], depth)),
    "member_object": _object,
}
