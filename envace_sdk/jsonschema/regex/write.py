"""A tree written back as an ECMA-262 pattern, and whether matching it can take forever."""

from __future__ import annotations

from typing import Final

from .nodes import Alternatives, Anchor, Backreference, Chars, Group, Look, Node, Repeat, Sequence

__all__ = ["backtracks", "write"]

_ANCHORS: Final = {"start": "^", "end": "$", "edge": r"\b", "no edge": r"\B"}
_LOOKS: Final = {(True, False): "(?=", (True, True): "(?!", (False, False): "(?<=", (False, True): "(?<!"}


def write(node: Node) -> str:
    """The pattern, in the syntax that every ECMA-262 engine reads (names of groups are dropped)."""
    match node:
        case Chars():
            return node.text
        case Sequence():
            return "".join(_grouped(part) if isinstance(part, Alternatives) else write(part) for part in node.parts)
        case Alternatives():
            return "|".join(map(write, node.options))
        case Repeat():
            return _grouped(node.inner) + _quantifier(node)
        case Group():
            return f"({write(node.inner)})"
        case Look():
            return f"{_LOOKS[node.ahead, node.negative]}{write(node.inner)})"
        case Anchor():
            return _ANCHORS[node.kind]
        case Backreference():
            return f"\\{node.index}(?:)"


def _grouped(node: Node) -> str:
    return write(node) if isinstance(node, Chars | Group) else f"(?:{write(node)})"


def _quantifier(node: Repeat) -> str:
    match node.low, node.high:
        case 0, None:
            sign = "*"
        case 1, None:
            sign = "+"
        case 0, 1:
            sign = "?"
        case low, None:
            sign = f"{{{low},}}"
        case low, high:
            sign = f"{{{low}}}" if low == high else f"{{{low},{high}}}"
    return sign + node.style.replace("+", "")


def backtracks(node: Node, repeats: int = 0) -> bool:
    """Whether a backtracking engine may need exponential time: repeats within repeats, or references back."""
    match node:
        case Backreference():
            return True
        case Sequence():
            return any(backtracks(part, repeats) for part in node.parts) or _adjacent(node)
        case Alternatives():
            return repeats > 0 or any(backtracks(option, repeats) for option in node.options)
        case Group() | Look():
            return backtracks(node.inner, repeats)
        case Repeat():
            wide = node.high is None or node.high - node.low > 8
            return (wide and repeats > 0) or backtracks(node.inner, repeats + wide)
    return False


def _adjacent(node: Sequence) -> bool:
    """Three or more open-ended repeats in a row-like sequence: polynomial, but of a high degree."""
    return sum(isinstance(part, Repeat) and part.high is None for part in node.parts) > 4
