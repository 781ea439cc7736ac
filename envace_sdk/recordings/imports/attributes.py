"""The attributes of spans, in every way they are written down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Final

from envace_sdk.json import UNSET, Json, Unset

__all__ = ["Attributes", "any_value", "nanoseconds"]

_NUMBERS: Final = {"intValue": int, "doubleValue": float}
_DEEPEST: Final = 30


class Attributes:
    """Attributes by name, from a list of keys and values, an object of full names, or objects within objects."""

    def __init__(self, written: Json) -> None:
        self._values: dict[str, Json] = {}
        if isinstance(written, dict):
            self._values = written
        elif isinstance(written, list):
            self._values = dict(_pairs(written))

    def __contains__(self, name: str) -> bool:
        return self.get(name) is not UNSET

    def get(self, *names: str) -> Json | Unset:
        """The first of these that is there."""
        for name in names:
            if name in self._values:
                return self._values[name]
            found = self._within(name)
            if found is not UNSET:
                return found
        return UNSET

    def text(self, *names: str) -> str:
        """The first of these that is there, as text; "" for none."""
        found = self.get(*names)
        if found is UNSET or found is None:
            return ""
        return found if isinstance(found, str) else str(found)

    def indexed(self, prefix: str) -> Json:
        """What is spread over names like `llm.input_messages.0.message.role`, put together; [] where nothing is."""
        whole = self.get(prefix)
        if isinstance(whole, list):
            return whole
        tree: dict[str, Json] = {}
        for name, value in self._values.items():
            if name.startswith(prefix + ".") and name.count(".") < _DEEPEST:
                _put(tree, name[len(prefix) + 1 :].split("."), value)
        return _lists(tree) if tree else []

    def _within(self, name: str) -> Json | Unset:
        found: Json = self._values
        for part in name.split("."):
            if not isinstance(found, dict) or part not in found:
                return UNSET
            found = found[part]
        return found


def any_value(value: Json) -> Json:
    """The value that OTLP's `AnyValue` says, with its type as the name; other values are themselves."""
    if not isinstance(value, dict) or len(value) != 1:
        return value
    [(kind, said)] = value.items()
    if kind in _NUMBERS:
        return _number(said, kind)
    if kind in ("stringValue", "boolValue", "bytesValue"):
        return said
    if kind == "arrayValue":
        items = said.get("values") if isinstance(said, dict) else None
        return [any_value(item) for item in items] if isinstance(items, list) else []
    if kind == "kvlistValue":
        items = said.get("values") if isinstance(said, dict) else None
        return dict(_pairs(items)) if isinstance(items, list) else {}
    return value


def nanoseconds(value: Json, *, unit: int = 1) -> int | None:
    """A time: a number of so many nanoseconds each, or text of a number or an ISO date."""
    if isinstance(value, bool) or value in (None, "", 0, "0"):
        return None
    try:
        if isinstance(value, int | float):
            return int(value * unit)
        if isinstance(value, str) and len(value) < 100:
            if value.isascii() and value.isdigit():
                return int(value) * unit
            moment = datetime.fromisoformat(value)
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            whole = moment - datetime(1970, 1, 1, tzinfo=UTC)
            return (whole.days * 86_400 + whole.seconds) * 10**9 + whole.microseconds * 1000
    except (ValueError, OverflowError):
        pass
    return None


def _pairs(items: list[Json]) -> Iterator[tuple[str, Json]]:
    for item in items:
        if isinstance(item, dict) and isinstance(item.get("key"), str):
            yield item["key"], any_value(item.get("value"))


def _number(said: Json, kind: str) -> Json:
    if isinstance(said, str):
        try:
            return _NUMBERS[kind](said)
        except ValueError:
            return said
    return said


def _put(tree: dict[str, Json], path: list[str], value: Json) -> None:
    for part in path[:-1]:
        inner = tree.setdefault(part, {})
        if not isinstance(inner, dict):
            return
        tree = inner
    tree[path[-1]] = value


def _lists(tree: Mapping[str, Json]) -> Json:
    """Objects whose names are numbers, as lists."""
    made = {name: _lists(member) if isinstance(member, dict) else member for name, member in tree.items()}
    if made and all(name.isascii() and name.isdigit() for name in made):
        return [made[name] for name in sorted(made, key=lambda name: (len(name), name))]
    return made
