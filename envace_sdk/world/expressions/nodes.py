"""The syntax tree of an expression, after all punctuation is gone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from envace_sdk.json import Json

__all__ = [
    "Binary",
    "Call",
    "Conditional",
    "Index",
    "ListLiteral",
    "Literal",
    "Logic",
    "MapLiteral",
    "Name",
    "Node",
    "Select",
    "Unary",
    "children",
    "path_text",
    "walk",
]


@dataclass(frozen=True, slots=True)
class Literal:
    """A number, a text, true, false or null."""

    value: Json


@dataclass(frozen=True, slots=True)
class Name:
    """A bound name."""

    name: str


@dataclass(frozen=True, slots=True)
class Select:
    """`base.field`."""

    base: Node
    field: str


@dataclass(frozen=True, slots=True)
class Index:
    """`base[index]`."""

    base: Node
    index: Node


@dataclass(frozen=True, slots=True)
class Call:
    """`name(arguments)`, or `target.name(arguments)`."""

    name: str
    target: Node | None
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class ListLiteral:
    """`[a, b]`."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class MapLiteral:
    """`{a: b}`."""

    pairs: tuple[tuple[Node, Node], ...]


@dataclass(frozen=True, slots=True)
class Unary:
    """`!x` or `-x`."""

    operator: str
    operand: Node


@dataclass(frozen=True, slots=True)
class Binary:
    """Arithmetic and comparison."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Logic:
    """`a && b && c` or `a || b || c`."""

    operator: str
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Conditional:
    """`condition ? yes : no`."""

    condition: Node
    yes: Node
    no: Node


Node: TypeAlias = (
    Literal | Name | Select | Index | Call | ListLiteral | MapLiteral | Unary | Binary | Logic | Conditional
)


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly below."""
    match node:
        case Select(base, _):
            return (base,)
        case Index(base, index):
            return (base, index)
        case Call(_, target, arguments):
            return arguments if target is None else (target, *arguments)
        case ListLiteral(items) | Logic(_, items):
            return items
        case MapLiteral(pairs):
            return tuple(part for pair in pairs for part in pair)
        case Unary(_, operand):
            return (operand,)
        case Binary(_, left, right):
            return (left, right)
        case Conditional(condition, yes, no):
            return (condition, yes, no)
        case _:
            return ()


def walk(node: Node) -> list[Node]:
    """The node and all below it."""
    found: list[Node] = []
    waiting = [node]
    while waiting:
        found.append(waiting.pop())
        waiting.extend(children(found[-1]))
    return found


def path_text(node: Node) -> str:
    """How messages name the place: `entity.customer.name`, `args.items[0]`."""
    match node:
        case Name(name):
            return name
        case Select(base, field):
            return f"{path_text(base)}.{field}"
        case Index(base, Literal(value)):
            return f"{path_text(base)}[{value!r}]"
        case Index(base, Name() | Select() as index):
            return f"{path_text(base)}[{path_text(index)}]"
        case Call(name, target, _):
            return f"{path_text(target)}.{name}(…)" if target is not None else f"{name}(…)"
        case _:
            return "(…)"
