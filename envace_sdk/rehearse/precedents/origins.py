"""Where the values of an answer come from: an argument, or an earlier call, as they are or in another form."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final, Literal, NamedTuple

from envace_sdk.json import UNSET, Json, Unset
from envace_sdk.world.keys import key_text, number_text

from .events import Event
from .scene import Scene

__all__ = ["Origin", "equal", "is_distinctive", "origins", "value_of"]

_MOST_TOOLS = 8
_MOST_LEAVES = 16
_MOST_KEYS = 6
_MOST_ARGUMENTS = 24
_DEPTH = 3
_DISTINCTIVE = 4


Path = tuple[str, ...]
"""The names on the way through objects to a value."""


class Origin(NamedTuple):
    """A place to take a value from, and how."""

    kind: Literal["tool", "argument", "about", "linked", "last"]
    """The name of the tool; an argument of the call; what was said last of the thing that the argument at `by` names;
    the latest success of `tool` that has to do with that thing; the latest success of `tool`."""
    path: Path
    how: str = "same"
    tool: str = ""
    side: Literal["", "given", "shown"] = ""
    by: Path = ()


def value_of(origin: Origin, scene: Scene) -> Json | Unset:
    """The value that an origin has in a situation; UNSET where there is none."""
    if origin.kind == "argument":
        value = _at(scene.arguments, origin.path)
        return UNSET if value is UNSET else _derived(origin.how, value)
    if origin.kind == "tool":
        return scene.tool
    if origin.kind == "last":
        event = scene.last(origin.tool)
    else:
        by = _at(scene.arguments, origin.by)
        if not _is_key(by):
            return UNSET
        if origin.kind == "about":
            return scene.about(key_text(by)).get(origin.path[0], UNSET)
        event = scene.linked(origin.tool, key_text(by))
    return UNSET if event is None else _at(event.arguments if origin.side == "given" else event.value, origin.path)


def origins(scene: Scene) -> Iterator[tuple[Origin, Json]]:
    """Everything that a value of the answer may come from in this situation, simplest first."""
    for path, value in islice(_nodes(scene.arguments), _MOST_ARGUMENTS):
        for how in _DERIVED:
            derived = _derived(how, value)
            if derived is not UNSET and (how == "same" or derived != value):
                yield Origin("argument", path, how), derived
    yield Origin("tool", ()), scene.tool
    keys = [(path, key_text(value)) for path, value in _nodes(scene.arguments) if _is_key(value)][:_MOST_KEYS]
    for path, text in keys:
        for name, value in scene.about(text).items():
            yield Origin("about", (name,), by=path), value
    for tool in list(scene.done)[:_MOST_TOOLS]:
        for path, text in keys:
            event = scene.linked(tool, text)
            if event is not None:
                for side, at, value in _sides(event, own=tool == scene.tool):
                    yield Origin("linked", at, "same", tool, side, path), value
        for side, at, value in _sides(scene.done[tool][0], own=tool == scene.tool):
            yield Origin("last", at, "same", tool, side), value


def equal(one: Json, other: Json) -> bool:
    """Whether two values are the same JSON value; 2 and 2.0 are, true and 1 are not."""
    if isinstance(one, bool) is not isinstance(other, bool):
        return False
    return bool(one == other)


def is_distinctive(value: Json) -> bool:
    """Whether two equal values like this one are hardly equal by chance."""
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, int | float):
        return abs(value) >= 100 or not float(value).is_integer()
    return len(value) >= (_DISTINCTIVE if isinstance(value, str) else 1)


def _is_key(value: Json) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""


def _sides(event: Event, *, own: bool) -> Iterator[tuple[Literal["given", "shown"], Path, Json]]:
    """What an event holds; of an earlier call of the same tool not the answer, which is no cause of this one."""
    for path, value in islice(_nodes(event.arguments), _MOST_LEAVES):
        yield "given", path, value
    if not own:
        for path, value in islice(_nodes(event.value), _MOST_LEAVES):
            yield "shown", path, value


def _nodes(value: Json, path: Path = ()) -> Iterator[tuple[Path, Json]]:
    """What can be named by a path through objects: members, lists as wholes, and single values."""
    if isinstance(value, dict) and len(path) < _DEPTH:
        for name, part in value.items():
            yield from _nodes(part, (*path, name))
    if path:
        yield path, value


def _at(value: Json, path: Path) -> Json | Unset:
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return UNSET
        value = value[name]
    return value


def _derived(how: str, value: Json) -> Json | Unset:
    return _DERIVED[how](value)


def _of_text(change: Callable[[str], Json]) -> Callable[[Json], Json | Unset]:
    return lambda value: change(value) if isinstance(value, str) and value else UNSET


def _number(text: str) -> Json | Unset:
    try:
        number = json.loads(text)
    except (ValueError, RecursionError):
        return UNSET
    return number if isinstance(number, int | float) and not isinstance(number, bool) else UNSET


def _text(value: Json) -> Json | Unset:
    return number_text(value) if isinstance(value, int | float) and not isinstance(value, bool) else UNSET


def _base(text: str) -> Json:
    return text.rstrip("/").rpartition("/")[2] if "/" in text else UNSET


def _directory(text: str) -> Json:
    return text.rstrip("/").rpartition("/")[0] or UNSET if "/" in text else UNSET


def _stem(text: str) -> Json:
    base = text.rpartition("/")[2]
    return base.rpartition(".")[0] or UNSET if "." in base else UNSET


def _size(value: Json) -> Json | Unset:
    return len(value) if isinstance(value, list | str) else UNSET


def _joined(value: Json) -> Json | Unset:
    return ", ".join(value) if isinstance(value, list) and value and all(isinstance(v, str) for v in value) else UNSET


def _first(value: Json) -> Json | Unset:
    return value[0] if isinstance(value, list) and value else UNSET


_DERIVED: Final[dict[str, Callable[[Json], Json | Unset]]] = {
    "same": lambda value: value,
    "text": _text,
    "number": _of_text(_number),
    "lower": _of_text(str.lower),
    "upper": _of_text(str.upper),
    "trimmed": _of_text(str.strip),
    "base": _of_text(_base),
    "directory": _of_text(_directory),
    "stem": _of_text(_stem),
    "size": _size,
    "joined": _joined,
    "first": _first,
}
