"""A regular expression as a tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from .charset import Charset

__all__ = ["Alternatives", "Anchor", "Backreference", "Chars", "Group", "Look", "Node", "Repeat", "Sequence"]


@dataclass(frozen=True, slots=True)
class Chars:
    """One character of a set. `text` is how ECMA-262 writes it."""

    members: Charset
    text: str


@dataclass(frozen=True, slots=True)
class Sequence:
    """One after the other; nothing at all when empty."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Alternatives:
    """Any one of them."""

    options: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """From `low` to `high` times (None: without end). `style` is "", "?" (lazy) or "+" (possessive)."""

    inner: Node
    low: int
    high: int | None
    style: str


@dataclass(frozen=True, slots=True)
class Group:
    """A capturing group."""

    inner: Node
    index: int


@dataclass(frozen=True, slots=True)
class Look:
    """A look-ahead or look-behind."""

    inner: Node
    ahead: bool
    negative: bool


@dataclass(frozen=True, slots=True)
class Anchor:
    """A place: start or end of the text, at or not at a word's edge."""

    kind: Literal["start", "end", "edge", "no edge"]


@dataclass(frozen=True, slots=True)
class Backreference:
    """What a group matched, again."""

    index: int


Node: TypeAlias = Chars | Sequence | Alternatives | Repeat | Group | Look | Anchor | Backreference
