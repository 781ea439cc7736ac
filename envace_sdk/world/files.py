"""Reading data files: JSON, JSON lines, YAML and tables."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, NoReturn

from envace_sdk.errors import WorldError
from envace_sdk.json import Json
from envace_sdk.yaml import YAMLError, load_yaml

from .clock import clock_text
from .keys import key_text
from .plain import MAX_DEPTH

__all__ = ["Rows", "read_file"]

_SPARE_NODES = 100_000
_GROWTH = 20
"""Values that a character of YAML may stand for, aliases counted each time: a small file can stand for a
huge one."""


@dataclass(frozen=True, slots=True)
class Rows:
    """A table: its header, and its rows with the line each begins on."""

    header: list[str]
    rows: list[tuple[int, list[str]]]


def read_file(path: Path) -> Json | Rows:
    """What a data file holds; a table as rows of text.

    Raises:
        WorldError: it cannot be read, or is not what its name says.
    """
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise WorldError(f"{path}: expected a name that ends in {', '.join(_READERS)}")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise WorldError(f"{path}: cannot be read: {error}") from error
    return reader(text, path)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _json(text: str, path: Path) -> Json:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise WorldError(f"{path}: not JSON: {error}") from None


def _json_lines(text: str, path: Path) -> Json:
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                found.append(json.loads(line, parse_constant=_refuse_constant))
            except (ValueError, RecursionError) as error:
                raise WorldError(f"{path}: line {number}: not JSON: {error}") from None
    return found


def _yaml(text: str, path: Path) -> Json:
    try:
        data = load_yaml(text)
    except YAMLError as error:
        raise WorldError(f"{path}: not YAML: {error}") from None
    return _Settler(path, _SPARE_NODES + _GROWTH * len(text)).settle(data, 0)


class _Settler:
    """YAML's dates and keys of other types as JSON has them."""

    def __init__(self, path: Path, most: int) -> None:
        self._path = path
        self._left = most

    def settle(self, value: Any, depth: int) -> Json:
        self._left -= 1
        if self._left < 0 or depth > MAX_DEPTH + 10:
            raise WorldError(f"{self._path}: too large, or nested too deeply")
        if isinstance(value, dict):
            return {self._key(name): self.settle(item, depth + 1) for name, item in value.items()}
        if isinstance(value, list):
            return [self.settle(item, depth + 1) for item in value]
        if isinstance(value, datetime):
            try:
                return clock_text(value if value.tzinfo is not None else value.replace(tzinfo=UTC))
            except (OverflowError, ValueError):
                raise WorldError(f"{self._path}: {value} is no time in UTC") from None
        return value.isoformat() if isinstance(value, date) else value

    def _key(self, name: Any) -> str:
        if name is None or isinstance(name, str | int | float):
            return key_text(name)
        return str(self.settle(name, 0))


def _table(text: str, path: Path) -> Rows:
    first = text.lstrip("\r\n").partition("\n")[0]
    separator = "\t" if path.suffix.lower() == ".tsv" else max(",;\t|", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows: list[tuple[int, list[str]]] = []
    line = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                rows.append((line, cells))
            line = reader.line_num + 1
    except csv.Error as error:
        raise WorldError(f"{path}: row {line}: {error}") from None
    if not rows:
        raise WorldError(f"{path}: the table is empty; its first row must name the fields")
    header = [name.strip() for name in rows[0][1]]
    seen: set[str] = set()
    for position, name in enumerate(header):
        if not name or name in seen:
            raise WorldError(f"{path}: row 1: column {position + 1} has no name of its own ({name!r})")
        seen.add(name)
    for number, cells in rows[1:]:
        if len(cells) > len(header):
            raise WorldError(f"{path}: row {number}: {len(cells)} cells under {len(header)} names")
    return Rows(header, rows[1:])


_READERS = {
    ".json": _json,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".yaml": _yaml,
    ".yml": _yaml,
    ".csv": _table,
    ".tsv": _table,
}
