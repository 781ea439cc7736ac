"""From the text cells of a table to typed entities."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from envace_sdk.errors import WorldError
from envace_sdk.json import UNSET, Json

from .collection import Collection
from .dynamics import CollectionRule
from .files import Rows
from .keys import Document, get_path, set_path
from .plain import check_json
from .schemakey import field_schema
from .shown import shown

__all__ = ["typed_rows"]

_INTEGER = re.compile(r"-?(0|[1-9]\d{0,14})", re.ASCII)
_NUMBER = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d{1,15})?([eE][+-]?\d{1,3})?", re.ASCII)
_SAMPLE = 50


def typed_rows(
    rows: Rows, schema: Json, held: Collection, rule: CollectionRule, path: str
) -> list[tuple[str, Document]]:
    """The rows as entities, each with its place in the file; empty cells are absent fields.

    Raises:
        WorldError: a cell does not have the type of its field; the message names the file, the row and the field.
    """
    kinds = [_kind(name, place, rows, schema, held, rule) for place, name in enumerate(rows.header)]
    return [(f"row {number}", _document(rows.header, kinds, cells, number, path)) for number, cells in rows.rows]


def _document(header: Sequence[str], kinds: Sequence[str], cells: Sequence[str], number: int, path: str) -> Document:
    document: Document = {}
    for name, kind, cell in zip(header, kinds, cells, strict=False):
        if cell == "":
            continue
        where = f"{path}: row {number}, field {name!r}"
        try:
            value = _PARSERS[kind](cell)
        except ValueError:
            raise WorldError(f"{where}: expected {kind}, got {shown(cell)}") from None
        if kind == "JSON":
            check_json(value, where)
        try:
            document = set_path(document, name, value)
        except WorldError as error:
            raise WorldError(f"{where}: {error}") from None
    return document


def _kind(name: str, place: int, rows: Rows, schema: Json, held: Collection, rule: CollectionRule) -> str:
    """How the cells of a column are read: by schema, by the entities that are there, by what all of them look like."""
    declared = _declared(field_schema(schema, name))
    if declared is not None:
        return declared
    known = {_kind_of(get_path(document, name)) for document in islice(held.values(), _SAMPLE)} - {None}
    if len(known) == 1:
        return str(known.pop())
    cells = [cells[place].strip() for _, cells in rows.rows if place < len(cells) and cells[place] != ""]
    return _guessed(cells, is_key=name in rule.key_fields)


def _declared(schema: Json) -> str | None:
    types = schema.get("type") if isinstance(schema, dict) else None
    listed = [types] if isinstance(types, str) else types if isinstance(types, list) else []
    for kind in ("string", "boolean", "integer", "number"):
        if kind in listed:
            return "text" if kind == "string" else kind
    return "JSON" if "array" in listed or "object" in listed else None


def _kind_of(value: Json) -> str | None:
    if value is UNSET or value is None:
        return None
    for kind, name in ((str, "text"), (bool, "boolean"), (int, "integer"), (float, "number")):
        if isinstance(value, kind):
            return name
    return "JSON"


def _guessed(cells: Iterable[str], *, is_key: bool) -> str:
    listed = list(cells)
    if not listed:
        return "text"
    if all(_INTEGER.fullmatch(cell) for cell in listed):
        return "integer"
    if all(_NUMBER.fullmatch(cell) for cell in listed) and not is_key:
        return "number"
    if all(cell.lower() in {"true", "false"} for cell in listed):
        return "boolean"
    if all(cell[0] + cell[-1] in {"[]", "{}"} for cell in listed):
        try:
            for cell in listed:
                _as_json(cell)
        except ValueError:
            return "text"
        return "JSON"
    return "text"


def _integer(cell: str) -> int:
    text = cell.strip()
    if not re.fullmatch(r"[+-]?\d{1,300}(\.0+)?", text, re.ASCII):
        raise ValueError(cell)
    return int(text.partition(".")[0])


def _number(cell: str) -> float | int:
    text = cell.strip()
    if re.fullmatch(r"[+-]?\d{1,300}", text, re.ASCII):
        return int(text)
    number = float(text)
    if not math.isfinite(number) or "_" in text:
        raise ValueError(cell)
    return number


def _boolean(cell: str) -> bool:
    text = cell.strip().lower()
    if text in {"true", "yes", "1", "t", "y"}:
        return True
    if text in {"false", "no", "0", "f", "n"}:
        return False
    raise ValueError(cell)


def _as_json(cell: str) -> Json:
    try:
        return json.loads(cell)
    except RecursionError:
        raise ValueError(cell) from None


def _text(cell: str) -> str:
    return cell


_PARSERS: dict[str, Callable[[str], Json]] = {
    "text": _text,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "JSON": _as_json,
}
