"""Keys of entities, and dotted paths into documents.

Documents are never changed in place: `set_path` and `del_path` copy the objects along the path and share the rest.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TypeAlias

from envace_sdk.errors import WorldError
from envace_sdk.json import UNSET, Json, Unset

__all__ = ["Document", "del_path", "get_path", "key_of", "key_text", "keyed", "number_text", "set_path"]

Document: TypeAlias = dict[str, Json]
"""One entity: a JSON object that nobody changes in place."""


def number_text(value: float) -> str:
    """A number as JSON writes it, 2.0 and 2 alike, since they are the same number."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e16:
        return str(int(value))
    return repr(value)


def key_text(value: Json | Sequence[Json]) -> str:
    """The canonical text of a key: 1, 1.0 and "1" are the same key; a composite key is a JSON array of such texts."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return number_text(value)
    if value is None:
        return "null"
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    return json.dumps([_part_text(part) for part in value], ensure_ascii=False)


def _part_text(value: Json) -> Json:
    # A list within a list stays one: as a text within a text, each level would take twice the quoting of the next.
    return [_part_text(part) for part in value] if isinstance(value, list) else key_text(value)


def keyed(fields: Sequence[str], parts: Sequence[Json]) -> Document:
    """A document that holds a key, part by part, and nothing else."""
    document: Document = {}
    for path, part in zip(fields, parts, strict=True):
        document = set_path(document, path, part)
    return document


def key_of(document: Document, fields: str | Sequence[str]) -> str | None:
    """The key text of a document by its key field or fields; None when one of them is absent or null."""
    names = [fields] if isinstance(fields, str) else fields
    parts = [get_path(document, name) for name in names]
    if any(part is UNSET or part is None for part in parts):
        return None
    return key_text(parts[0] if len(parts) == 1 else parts)


def get_path(document: Json, path: str) -> Json | Unset:
    """What lies at a dotted path, or `UNSET`.

    A field whose own name has dots is found first; digits index into lists ("lines.0.sku").
    """
    if isinstance(document, dict) and path in document:
        return document[path]
    if "." not in path:
        return _step(document, path)
    for part in path.split("."):
        document = _step(document, part)
        if document is UNSET:
            return UNSET
    return document


def _step(value: Json, part: str) -> Json | Unset:
    if isinstance(value, dict):
        return value.get(part, UNSET)
    if isinstance(value, list):
        index = _index(part)
        return value[index] if index is not None and index < len(value) else UNSET
    return UNSET


def _index(part: str) -> int | None:
    return int(part) if part.isascii() and part.isdigit() and len(part) < 10 else None


def set_path(document: Document, path: str, value: Json) -> Document:
    """A copy of the document with `value` at the path; absent or null objects on the way are made.

    Raises:
        WorldError: something on the way is neither an object nor a list that has the place.
    """
    if "." not in path or path in document:
        return {**document, path: value}
    changed: Document = _set(document, path.split("."), 0, value, path)
    return changed


def _set(current: Json, parts: list[str], depth: int, value: Json, path: str) -> Json:
    if depth == len(parts):
        return value
    part = parts[depth]
    if isinstance(current, list):
        index = _index(part)
        if index is None or index > len(current):
            raise WorldError(f"cannot set {path!r}: the list at {'.'.join(parts[:depth])!r} has no place {part!r}")
        inner = current[index] if index < len(current) else None
        return [*current[:index], _set(inner, parts, depth + 1, value, path), *current[index + 1 :]]
    if current is None:
        current = {}
    if not isinstance(current, dict):
        raise WorldError(f"cannot set {path!r}: {'.'.join(parts[:depth])!r} is not an object")
    return {**current, part: _set(current.get(part), parts, depth + 1, value, path)}


def del_path(document: Document, path: str) -> Document:
    """A copy of the document without what lies at the path; the document itself when nothing lies there."""
    if path in document:
        return {name: value for name, value in document.items() if name != path}
    if get_path(document, path) is UNSET:
        return document
    changed: Document = _delete(document, path.split("."))
    return changed


def _delete(current: Json, parts: list[str]) -> Json:
    head, rest = parts[0], parts[1:]
    if isinstance(current, list):
        index = int(head)
        return [*current[:index], *([_delete(current[index], rest)] if rest else []), *current[index + 1 :]]
    if rest:
        return {**current, head: _delete(current[head], rest)}
    return {name: value for name, value in current.items() if name != head}
