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

__all__ = ["Origin", "canonical", "is_distinctive", "origins", "value_of"]

_MOST_TOOLS = 10
_MOST_LEAVES = 24
_MOST_ARGUMENTS = 24
_DEPTH = 3
_DISTINCTIVE = 4


class Origin(NamedTuple):
    """A place to take a value from, and how."""

    kind: Literal["tool", "argument", "about", "linked", "last"]
    """The name of the tool; an argument of the call; what was said last of the thing that the argument at `by` names;
    the latest success of `tool` that has to do with that thing; the latest success of `tool`."""
    place: str
    how: str = "same"
    tool: str = ""
    side: Literal["", "given", "shown"] = ""
    by: str = ""


def value_of(origin: Origin, scene: Scene) -> Json | Unset:
    """The value that an origin has in a situation; UNSET where there is none."""
    if origin.kind == "argument":
        value = _at(scene.arguments, origin.place)
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
            return scene.about(key_text(by)).get(origin.place, UNSET)
        event = scene.linked(origin.tool, key_text(by))
    return UNSET if event is None else _at(event.arguments if origin.side == "given" else event.value, origin.place)


def origins(scene: Scene) -> Iterator[tuple[Origin, Json]]:
    """Everything that a value of the answer may come from in this situation, simplest first."""
    for place, value in islice(_nodes(scene.arguments, "", 0), _MOST_ARGUMENTS):
        for how in _DERIVED:
            derived = _derived(how, value)
            if derived is not UNSET and (how == "same" or derived != value):
                yield Origin("argument", place, how), derived
    yield Origin("tool", ""), scene.tool
    keys = [(place, key_text(value)) for place, value in _nodes(scene.arguments, "", 0) if _is_key(value)][:6]
    for place, text in keys:
        for name, value in scene.about(text).items():
            yield Origin("about", name, by=place), value
    for tool in list(scene.done)[:_MOST_TOOLS]:
        for place, text in keys:
            event = scene.linked(tool, text)
            if event is not None:
                for side, at, value in _sides(event, own=tool == scene.tool):
                    yield Origin("linked", at, "same", tool, side, place), value
        for side, at, value in _sides(scene.done[tool][0], own=tool == scene.tool):
            yield Origin("last", at, "same", tool, side), value


def canonical(value: Json) -> str:
    """A text that equal values share; 2 and 2.0 are equal, and "2" is another."""
    if isinstance(value, str):
        return '"' + value
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, int | float):
        return number_text(value)
    return json.dumps(value, sort_keys=True)


def is_distinctive(value: Json) -> bool:
    """Whether two equal values like this one are hardly equal by chance."""
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, int | float):
        return abs(value) >= 100 or not float(value).is_integer()
    return len(value) >= (_DISTINCTIVE if isinstance(value, str) else 1)


def _is_key(value: Json) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""


def _sides(event: Event, *, own: bool) -> Iterator[tuple[Literal["given", "shown"], str, Json]]:
    """What an event holds; of an earlier call of the same tool not the answer, which is no cause of this one."""
    for place, value in _leading(event.arguments):
        yield "given", place, value
    if own:
        return
    for place, value in _leading(event.value):
        yield "shown", place, value


def _leading(value: Json) -> Iterator[tuple[str, Json]]:
    yield from islice(_nodes(value, "", 0), _MOST_LEAVES)


def _nodes(value: Json, place: str, depth: int) -> Iterator[tuple[str, Json]]:
    """What can be named by a path through objects: members, lists as wholes, and single values."""
    if isinstance(value, dict) and depth < _DEPTH:
        for name, part in value.items():
            yield from _nodes(part, f"{place}/{name}", depth + 1)
    if depth:
        yield place, value


def _at(value: Json, place: str) -> Json | Unset:
    for name in place.split("/")[1:]:
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
