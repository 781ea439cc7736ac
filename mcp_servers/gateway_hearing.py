"""What a server says, on its way to the client: nothing that the gateway cannot read itself, and no label of ours.

Another reader may take a text otherwise than this one does. What could hide a label that way, since it is nested too
deeply or says a member twice, is not passed on as it is.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from envace_sdk.json import Json

from .gateway_frames import cleaned, dump

__all__ = ["Unreadable", "hear", "ids_in", "is_too_deep", "purged", "told"]

_DEEPEST: Final = 300
"""Levels of lists and objects; far fewer than Python itself can read or write."""
_ID: Final = re.compile(r'"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)')
_MOST_IDS: Final = 100


class Unreadable(Exception):  # noqa: N818  of the server's doing, and answered
    """A text that may be a message, and that this gateway cannot read."""


def hear(text: bytes) -> Json:
    """The JSON that a server sent; None for what nobody takes for a message.

    Raises:
        Unreadable: it looks like a message, and is no JSON, or is nested too deeply.
    """
    said = text.decode("utf-8-sig", "replace").lstrip()
    if not said.startswith(("{", "[")):
        return None
    try:
        value: Json = json.loads(said)
    except (ValueError, RecursionError) as problem:
        raise Unreadable(f"it is no JSON that can be read: {problem}") from None
    # There are no more levels than brackets, and brackets are quickly counted.
    if said.count("{") + said.count("[") > _DEEPEST and is_too_deep(value):
        raise Unreadable(f"it is nested more than {_DEEPEST} levels deep")
    return value


def purged(text: bytes, value: Json) -> bytes:
    """A server's text, of which `hear` has read the value, as its client may hear it: without labels of ours.

    The same text where there is nothing to take off.
    """
    clean = [_cleaned(each) for each in value] if isinstance(value, list) else _cleaned(value)
    if clean == value and not _says_twice(text):
        return text
    return told(clean)


def told(message: Json) -> bytes:
    """A message to the client as bytes.

    What a lenient server said and JSON lacks must not cost the client its answer: numbers that are none become null,
    as other writers of JSON have it, and halves of characters are escaped.
    """
    try:
        return dump(message)
    except ValueError:
        finite = json.loads(json.dumps(message), parse_constant=lambda _: None)
        return json.dumps(finite, separators=(",", ":")).encode()


def ids_in(text: bytes) -> list[Json]:
    """What may be the id of a message that cannot be read."""
    found = _ID.finditer(text.decode("utf-8", "replace"))
    ids: list[Json] = []
    for _, match in zip(range(_MOST_IDS), found, strict=False):
        try:
            ids.append(json.loads(match[1]))
        except ValueError:
            continue
    return ids


def _cleaned(message: Json) -> Json:
    return cleaned(message) if isinstance(message, dict) else message


def is_too_deep(value: Json) -> bool:
    """Whether there are more levels of lists and objects than are passed on."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(_DEEPEST):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def _says_twice(text: bytes) -> bool:
    """Whether an object says a member twice, in a text that could name a label of ours at all."""
    if b"envace" not in text.lower() and b"\\u" not in text:
        return False
    doubled: list[bool] = []

    def noted(pairs: list[tuple[str, Any]]) -> Any:
        made = dict(pairs)
        doubled.append(len(made) < len(pairs))
        return made

    json.loads(text.decode("utf-8-sig", "replace"), object_pairs_hook=noted)
    return any(doubled)
