"""What has changed between two catalogues, and what of it breaks those who call.

A call breaks when it was valid before and is not any more, or when an answer may now be what it could not be before.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from envace_sdk.json import Json

__all__ = ["Change", "compare"]

_LOWER: Final = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_UPPER: Final = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
_WORDS: Final = frozenset({"description", "title", "examples", "$comment", "default", "$schema", "$id", "deprecated"})
_DEPTH: Final = 40


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between two catalogues."""

    tool: str
    pointer: str
    """Where in the definition, as a JSON pointer."""
    message: str
    is_breaking: bool

    def __str__(self) -> str:
        where = f"{self.tool}{self.pointer}" if self.pointer else self.tool
        return f"{'BREAKING' if self.is_breaking else 'change'}  {where}: {self.message}"

    def to_json(self) -> dict[str, Json]:
        """The change as JSON."""
        return {
            "tool": self.tool,
            "pointer": self.pointer,
            "message": self.message,
            "breaking": self.is_breaking,
        }


def compare(before: Sequence[Json], after: Sequence[Json]) -> list[Change]:
    """The changes from one list of MCP tool definitions to another, breaking ones first. Raises nothing."""
    old, new = _by_name(before), _by_name(after)
    changes: list[Change] = []
    for name, definition in old.items():
        if name not in new:
            changes.append(Change(name, "", "the tool is gone", True))
        else:
            changes += _Tool(name, definition, new[name]).changes()
    changes += [Change(name, "", "the tool is new", False) for name in new if name not in old]
    kept = [name for name in old if name in new]
    if kept != [name for name in new if name in old]:
        changes.append(Change("*", "", "the order of the tools is another", False))
    return sorted(changes, key=lambda change: not change.is_breaking)


class _Tool:
    """Two definitions of one tool."""

    def __init__(self, name: str, before: Mapping[str, Json], after: Mapping[str, Json]) -> None:
        self._name = name
        self._before = before
        self._after = after

    def changes(self) -> Iterator[Change]:
        yield from self._schema("/inputSchema", self._before.get("inputSchema"), self._after.get("inputSchema"), True)
        old, new = self._before.get("outputSchema"), self._after.get("outputSchema")
        if old is not None and new is None:
            yield self._change("/outputSchema", "answers are no longer described", True)
        elif old is None and new is not None:
            yield self._change("/outputSchema", "answers are described now", False)
        elif old is not None:
            yield from self._schema("/outputSchema", old, new, False)
        yield from self._annotations()
        for key in [*self._before, *(key for key in self._after if key not in self._before)]:
            if key in ("name", "inputSchema", "outputSchema", "annotations"):
                continue
            if self._before.get(key) != self._after.get(key):
                yield self._change(f"/{_step(key)}", _said(self._before.get(key), self._after.get(key)), False)

    def _annotations(self) -> Iterator[Change]:
        old, new = _object(self._before.get("annotations")), _object(self._after.get("annotations"))
        for key in [*old, *(key for key in new if key not in old)]:
            if old.get(key) == new.get(key):
                continue
            # What was called harmless may not become harmful unnoticed.
            worse = (key == "readOnlyHint" and old.get(key) is True) or (
                key == "destructiveHint" and new.get(key) is True
            )
            yield self._change(f"/annotations/{_step(key)}", _said(old.get(key), new.get(key)), worse)

    def _schema(self, at: str, old: Json, new: Json, is_input: bool, depth: int = 0) -> Iterator[Change]:
        """The changes of a schema: an input may not admit less than before, an output not more."""
        if old == new or depth > _DEPTH:
            return
        if not isinstance(old, Mapping) or not isinstance(new, Mapping):
            yield self._change(at, _said(old, new), _admits_less(old, new) if is_input else _admits_less(new, old))
            return
        yield from self._types(at, old, new, is_input)
        yield from self._required(at, old, new, is_input)
        yield from self._properties(at, old, new, is_input, depth)
        yield from self._limits(at, old, new, is_input)
        if old.get("items") != new.get("items"):
            yield from self._schema(f"{at}/items", old.get("items", True), new.get("items", True), is_input, depth + 1)
        told = {"type", "enum", "const", "required", "properties", "additionalProperties", "items", *_LOWER, *_UPPER}
        for key in [*old, *(key for key in new if key not in old)]:
            if key in told or old.get(key) == new.get(key):
                continue
            # Of other keywords it is not known which way they went; words change nothing.
            yield self._change(f"{at}/{_step(key)}", _said(old.get(key), new.get(key)), key not in _WORDS)

    def _types(self, at: str, old: Mapping[str, Json], new: Mapping[str, Json], is_input: bool) -> Iterator[Change]:
        for key, values in (("type", _types), ("enum", _values), ("const", _constant)):
            before, after = values(old), values(new)
            if before == after:
                continue
            narrower, wider = (before, after) if is_input else (after, before)
            breaking = wider is not None and (narrower is None or not narrower <= wider)
            yield self._change(f"{at}/{key}", _said(old.get(key), new.get(key)), breaking)

    def _required(self, at: str, old: Mapping[str, Json], new: Mapping[str, Json], is_input: bool) -> Iterator[Change]:
        before, after = _names(old), _names(new)
        for name in [name for name in after if name not in before]:
            yield self._change(f"{at}/required", f"{name!r} is required now", is_input)
        for name in [name for name in before if name not in after]:
            yield self._change(f"{at}/required", f"{name!r} is no longer required", not is_input)

    def _properties(
        self, at: str, old: Mapping[str, Json], new: Mapping[str, Json], is_input: bool, depth: int
    ) -> Iterator[Change]:
        before, after = _object(old.get("properties")), _object(new.get("properties"))
        for name, schema in before.items():
            here = f"{at}/properties/{_step(name)}"
            if name in after:
                yield from self._schema(here, schema, after[name], is_input, depth + 1)
            else:
                yield self._change(here, "is gone", True)
        for name in after:
            if name not in before:
                yield self._change(f"{at}/properties/{_step(name)}", "is new", False)
        open_before, open_after = old.get("additionalProperties", True), new.get("additionalProperties", True)
        if open_before != open_after:
            breaking = open_after is False if is_input else open_before is False
            yield self._change(f"{at}/additionalProperties", _said(open_before, open_after), breaking)

    def _limits(self, at: str, old: Mapping[str, Json], new: Mapping[str, Json], is_input: bool) -> Iterator[Change]:
        for keys, sign in ((_LOWER, 1), (_UPPER, -1)):
            for key in keys:
                before, after = old.get(key), new.get(key)
                if before == after:
                    continue
                tighter = after is not None and (before is None or _number(after) * sign > _number(before) * sign)
                yield self._change(f"{at}/{key}", _said(before, after), tighter == is_input)

    def _change(self, at: str, message: str, is_breaking: bool) -> Change:
        return Change(self._name, at, message, is_breaking)


def _by_name(definitions: Sequence[Json]) -> dict[str, Mapping[str, Json]]:
    return {
        definition["name"]: definition
        for definition in definitions
        if isinstance(definition, Mapping) and isinstance(definition.get("name"), str)
    }


def _admits_less(old: Json, new: Json) -> bool:
    """Of schemas at least one of which is not an object: true admits all, false nothing."""
    if new is False:
        return True
    return old is True and new is not True


def _types(schema: Mapping[str, Json]) -> set[str] | None:
    found = schema.get("type")
    names = {str(one) for one in found} if isinstance(found, list) else {found} if isinstance(found, str) else None
    return names | {"integer"} if names is not None and "number" in names else names


def _values(schema: Mapping[str, Json]) -> set[str] | None:
    found = schema.get("enum")
    return {json.dumps(one, sort_keys=True) for one in found} if isinstance(found, list) else None


def _constant(schema: Mapping[str, Json]) -> set[str] | None:
    return {json.dumps(schema["const"], sort_keys=True)} if "const" in schema else None


def _names(schema: Mapping[str, Json]) -> list[str]:
    found = schema.get("required")
    return [str(name) for name in found] if isinstance(found, list) else []


def _object(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def _number(value: Json) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _step(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _said(before: Json, after: Json) -> str:
    if before is None:
        return f"is {_short(after)} now, was not there"
    if after is None:
        return f"was {_short(before)}, is gone"
    return f"was {_short(before)}, is {_short(after)}"


def _short(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:79] + "…"
