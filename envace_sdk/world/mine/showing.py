"""What recorded answers show, as the rules say where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from envace_sdk.errors import DynamicsError
from envace_sdk.json import UNSET, Json, Unset
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.answer import Answer
from envace_sdk.world.dynamics import Dynamics, ToolRule
from envace_sdk.world.interpret import Interpreter
from envace_sdk.world.keys import Document, get_path, key_of, key_text
from envace_sdk.world.state import State

from .episodes import Step

__all__ = ["Shown", "Shows", "entity_in", "labels", "leaves"]

_LEAVES: Final = 400
_ITEMS: Final = 60
_DEPTH: Final = 8
_MEMBER: Final = re.compile(r"(entity|session)\.([A-Za-z_][\w.]*)")
_SESSION: Final = "session"

Shown: TypeAlias = tuple[str, str, list[tuple[str, Json]]]
"""Collection, key, and fields with their values."""


class Shows:
    """Which entities a recorded answer shows."""

    def __init__(self, toolset: Toolset, dynamics: Dynamics, interpreter: Interpreter) -> None:
        self._toolset = toolset
        self._dynamics = dynamics
        self._interpreter = interpreter

    def __call__(self, step: Step, rule: ToolRule, answer: Answer | None, state: State) -> Iterator[Shown]:
        """The entities in a recorded answer, as the rule says where they stand: collection, key, fields."""
        told = rule.returns
        if told.object is not None:
            yield from self._members(step, rule, answer, state)
        if rule.collection is None or (told.object, told.value, told.text) != (None, None, None):
            return
        key = self._dynamics.collections[rule.collection].key
        if rule.effect == "search":
            name = told.wrap or (rule.collection if isinstance(step.value, dict) else None)
            items = step.value.get(name) if isinstance(step.value, dict) and name else step.value
            for item in items[:_LEAVES] if isinstance(items, list) else ():
                found = key_of(item, key) if isinstance(item, dict) else None
                if found is not None:
                    yield rule.collection, found, parts_of(item, told.fields)
        elif rule.effect != "delete":
            shown = entity_in(step.value, rule)
            found = self._key(step, rule, answer, state) if shown is not None else None
            if shown is not None and found is not None:
                yield rule.collection, found, parts_of(shown, told.fields)

    def _members(self, step: Step, rule: ToolRule, answer: Answer | None, state: State) -> Iterator[Shown]:
        """Of an answer that is made member by member, those that are fields of the entity or of the session."""
        fields: dict[str, list[tuple[str, Json]]] = {}
        for name, source in (rule.returns.object or {}).items():
            found = _MEMBER.fullmatch(source)
            if found and isinstance(step.value, dict) and name in step.value:
                fields.setdefault(found[1], []).append((found[2], step.value[name]))
        key = self._key(step, rule, answer, state)
        if "entity" in fields and rule.collection is not None and key is not None and rule.effect != "delete":
            yield rule.collection, key, fields["entity"]
        if _SESSION in fields and _SESSION in self._dynamics.collections:
            yield _SESSION, _SESSION, fields[_SESSION]

    def _key(self, step: Step, rule: ToolRule, answer: Answer | None, state: State) -> str | None:
        if rule.effect == "create" and rule.collection is not None:
            written = sorted(key for name, key in answer.writes if name == rule.collection and key) if answer else []
            return written[0] if len(written) == 1 else None
        try:
            value = self._interpreter.key(self._toolset[step.tool], step.args, state)
        except DynamicsError:
            return None
        return None if value is None else key_text(value)


def labels(rule: ToolRule, collection: str) -> Iterator[tuple[str, str]]:
    """The fields of a collection's entities that a rule changes, and the parts of it that do."""
    for number, change in enumerate(rule.also):
        if change.collection == collection:
            for name in ("set", "append", "remove"):
                yield from ((path, f"also[{number}].{name}.{path}") for path in getattr(change, name))
    if rule.collection == collection:
        taken = () if rule.take == "*" else rule.take
        yield from ((path, f"take.{path}") for path in taken)
        for name in ("set", "append", "remove"):
            yield from ((path, f"{name}.{path}") for path in getattr(rule, name))


def entity_in(value: Json, rule: ToolRule) -> Document | None:
    """The entity in an answer that shows it as it is."""
    told = rule.returns
    if told.wrap is not None:
        value = value.get(told.wrap) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else None


def parts_of(document: Document, fields: Sequence[str] | None) -> list[tuple[str, Json]]:
    if fields is None:
        return [(name, value) for name, value in document.items() if name and "." not in name]
    found = [(path, get_path(document, path)) for path in fields]
    return [(path, value) for path, value in found if value is not UNSET]


def leaves(
    recorded: Json | Unset, given: Json | Unset, path: str = "", depth: int = 0
) -> Iterator[tuple[str, Json | Unset, Json | Unset]]:
    """Both answers leaf by leaf; where they differ in form, that is a leaf."""
    if isinstance(recorded, dict) and isinstance(given, dict) and depth < _DEPTH and (recorded or given):
        for name in list(dict.fromkeys([*recorded, *given]))[:_LEAVES]:
            inner = f"{path}.{name}" if path else name
            yield from leaves(recorded.get(name, UNSET), given.get(name, UNSET), inner, depth + 1)
    elif isinstance(recorded, list) and isinstance(given, list) and depth < _DEPTH and len(recorded) == len(given) > 0:
        for one, other in zip(recorded[:_ITEMS], given[:_ITEMS], strict=True):
            yield from leaves(one, other, f"{path}[]", depth + 1)
    else:
        yield path, recorded, given
