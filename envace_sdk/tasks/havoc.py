"""Episodes in which nothing is right, to find the conditions that hold nevertheless."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import immutables

from envace_sdk.errors import EnvaceError, WorldError
from envace_sdk.rehearse.environment import Environment
from envace_sdk.world.collection import Collection
from envace_sdk.world.expressions.compiler import Compiler
from envace_sdk.world.expressions.expression import Expression
from envace_sdk.world.expressions.nodes import Call, Literal, MapLiteral, Node, walk
from envace_sdk.world.expressions.values import to_json_like
from envace_sdk.world.keys import Document, set_path
from envace_sdk.world.state import State

from .checklist import FUNCTIONS, Scene
from .episode import CallRecord, Episode

__all__ = ["havoc"]


def havoc(condition: Expression, idle: Scene, start: State, environment: Environment) -> Iterator[Scene]:
    """Episodes made to fail this very condition, as far as its text tells how.

    In the first, every tool was called without arguments, the answer says every text that the condition knows, and
    of the world nothing is left; but entities are there that the condition asks for, by key or by fields. In the
    second, everything is gone and nothing was called.
    """
    known = [node.value for node in walk(condition.node) if isinstance(node, Literal) and isinstance(node.value, str)]
    names = dict.fromkeys((*environment.dynamics.collections, *start.collections))
    asked = _asked_for(condition.node, idle)
    calls = [CallRecord(tool.name, {}) for tool in environment.toolset]
    full = {name: _strange(known, asked.get(name, [])) for name in names}
    yield Scene(Episode(start, _with(start, full), calls, " ".join(known)))
    yield Scene(Episode(start, _with(start, dict.fromkeys(names, Collection()))))


def _with(start: State, collections: dict[str, Collection]) -> State:
    return start.replace(version=start.version + 1, collections=immutables.Map(collections))


def _strange(keys: list[str], documents: list[Document]) -> Collection:
    entities: dict[str, Document] = {"havoc": {}}
    entities.update({key: {} for key in keys})
    entities.update({f"havoc-{number}": document for number, document in enumerate(documents)})
    return Collection(entities.items())


def _asked_for(root: Node, idle: Scene) -> dict[str, list[Document]]:
    """Entities that `find` and `count` in a condition would find, by collection."""
    found: dict[str, list[Document]] = {}
    for node in walk(root):
        match node:
            case Call("find" | "count", None, (collection, MapLiteral(pairs))):
                name = _value(collection, idle)
                found.setdefault(getattr(name, "name", str(name)), []).append(_document(pairs, idle))
    return found


def _document(pairs: tuple[tuple[Node, Node], ...], idle: Scene) -> Document:
    document: Document = {}
    for path, value in pairs:
        # Paths that contradict one another are found in no entity.
        with suppress(WorldError):
            document = set_path(document, str(_value(path, idle)), to_json_like(_value(value, idle)))
    return document


def _value(node: Node, idle: Scene) -> Any:
    try:
        return Compiler(FUNCTIONS).compile(node)(idle.scope())
    except EnvaceError:  # it depends on what was done, or on a macro's names
        return None
