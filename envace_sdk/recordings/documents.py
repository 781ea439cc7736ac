"""JSON documents in a file, one a line or stretched over several, with the line each begins on.

Whatever the bytes are, reading them ends, and each part that is no JSON is told of without losing the others. JSON
here is JSON: no `NaN`, no numbers beyond all floats, and not nested without end.
"""

from __future__ import annotations

import codecs
import json
import math
import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from typing import Final, NoReturn

from envace_sdk.json import Json

from .findings import FieldError

__all__ = ["MAX_DEPTH", "MAX_LINE", "MAX_STRETCHED", "Broken", "Document", "documents", "parse"]

MAX_DEPTH: Final = 200
MAX_LINE: Final = 64 * 2**20
"""Bytes."""
MAX_STRETCHED: Final = 4 * MAX_LINE

_HUGE_NUMBER: Final = re.compile(r"[0-9][eE]\+?[0-9]{3}|[0-9]{300}")
_END: Final = re.compile(rb"^[}\]]", re.MULTILINE)
_LIST: Final = re.compile(r"\s*\[\s*\{")
_BLANK: Final = re.compile(r"[ \t\r\n,]*")


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON value, and where it begins."""

    line: int
    value: Json


@dataclass(frozen=True, slots=True)
class Broken:
    """A part of the file that is no JSON."""

    line: int
    field: str
    message: str
    is_torn: bool = False
    """Whether the file ends within it, so that it may only have been cut off."""
    begin: str = ""
    """Its first characters, if they are text."""


def documents(data: bytes) -> Iterator[Document | Broken]:
    """All documents of a file, in order."""
    data = data.removeprefix(codecs.BOM_UTF8)
    return _stretched(data) if _is_stretched(data) else _lines(data)


def parse(text: str) -> Json:
    """A JSON value.

    Raises:
        FieldError: it is none, or deeper than `MAX_DEPTH`; `field` is the path to what is wrong, where there is one.
    """
    try:
        value = _STRICT.decode(text)
    except _ConstantError:
        raise _constant_error(text) from None
    except RecursionError:
        raise FieldError("", f"not JSON: nested deeper than {MAX_DEPTH} levels") from None
    except ValueError as error:
        raise FieldError("", f"not JSON: {error}") from None
    _check(value, text)
    return value


def _lines(data: bytes) -> Iterator[Document | Broken]:
    # Not splitlines(): that also breaks at U+2028 and its like, which JSON strings may hold.
    lines = data.split(b"\n")
    last = max((n for n, line in enumerate(lines) if line.strip()), default=0)
    for n, line in enumerate(lines):
        if not line.strip():
            continue
        text = ""
        try:
            text = _decoded(line)
            yield Document(n + 1, parse(text))
        except FieldError as error:
            if _LIST.match(text):  # What it holds up to where it is broken may be whole.
                yield from (replace(item, line=n + 1) for item in _items(text, _skip(text, 0), _LineNumbers(text)))
            else:
                yield Broken(n + 1, error.field, error.message, n == last and not data.endswith(b"\n"), text[:20])


def _decoded(line: bytes) -> str:
    if len(line) > MAX_LINE:
        raise FieldError("", f"the line is {len(line):,} bytes long; at most {MAX_LINE:,} are read")
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise FieldError("", f"not UTF-8: byte {error.start + 1} of the line") from None


def _is_stretched(data: bytes) -> bool:
    """Whether the first document goes over several lines."""
    first, _, rest = data.lstrip().partition(b"\n")
    if not rest.strip() or len(first) > MAX_LINE:
        return False
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        pass
    else:
        return False
    if first.strip() == b"[" or (first.strip() == b"{" and _END.search(rest)):
        return True
    try:
        text = data.decode()
        _, end = _LENIENT.raw_decode(text, _skip(text, 0))
    except (ValueError, RecursionError):
        return False
    return "\n" in text[:end].strip()


def _stretched(data: bytes) -> Iterator[Document | Broken]:
    if len(data) > MAX_STRETCHED:
        yield Broken(1, "", f"{len(data):,} bytes of JSON over several lines; at most {MAX_STRETCHED:,} are read")
        return
    text = data.decode(errors="replace")
    lines = _LineNumbers(text)
    at = _skip(text, 0)
    while at < len(text):
        end = yield from _document(text, at, lines)
        at = _skip(text, end)


def _document(text: str, at: int, lines: _LineNumbers) -> Generator[Document | Broken, None, int]:
    """The document that begins there; gives where it ends."""
    line = lines.at(at)
    try:
        _, end = _LENIENT.raw_decode(text, at)
    except (ValueError, RecursionError) as error:
        if text[at] == "[":  # What it holds up to there may be whole.
            return (yield from _items(text, at, lines))
        end = _next_start(text, at)
        reason = getattr(error, "msg", f"nested deeper than {MAX_DEPTH} levels")
        yield Broken(line, "", f"not JSON: {reason}", end >= len(text))
        return end
    try:
        yield Document(line, parse(text[at:end]))
    except FieldError as error:
        yield Broken(line, error.field, error.message)
    return end


def _items(text: str, at: int, lines: _LineNumbers) -> Generator[Document | Broken, None, int]:
    """The items of a list that is broken somewhere."""
    at = _skip(text, at + 1)
    while at < len(text) and text[at] == "{":
        try:
            _, end = _LENIENT.raw_decode(text, at)
            yield Document(lines.at(at), parse(text[at:end]))
        except (ValueError, RecursionError):
            break
        except FieldError as error:
            yield Broken(lines.at(at), error.field, error.message)
        at = _skip(text, end)
    end = _next_start(text, at)
    yield Broken(lines.at(min(at, len(text) - 1)), "", "not JSON: the list is broken here")
    return end


class _LineNumbers:
    """The line of a place, for places that are asked for in order."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._line = 1
        self._seen = 0

    def at(self, place: int) -> int:
        """From 1."""
        self._line += self._text.count("\n", self._seen, place)
        self._seen = max(self._seen, place)
        return self._line


def _skip(text: str, at: int) -> int:
    """Past blanks, and past commas that somebody put between documents."""
    match = _BLANK.match(text, at)
    return at if match is None else match.end()


def _next_start(text: str, at: int) -> int:
    """Where the next document begins, as far as its first line shows it."""
    starts = [found for mark in ("\n{", "\n[") if (found := text.find(mark, at)) >= 0]
    return min(starts) + 1 if starts else len(text)


class _ConstantError(ValueError):
    """`NaN`, `Infinity` or `-Infinity`."""


class _Constant:
    """Stands for one of them while its place is looked for."""

    def __init__(self, name: str) -> None:
        self.name = name


def _refuse(name: str) -> NoReturn:
    raise _ConstantError(name)


_STRICT: Final = json.JSONDecoder(parse_constant=_refuse)
_LENIENT: Final = json.JSONDecoder()


def _constant_error(text: str) -> FieldError:
    for path, value, _ in _leaves(json.loads(text, parse_constant=_Constant)):
        if isinstance(value, _Constant):
            return FieldError(path, f"{value.name} is no JSON value")
    return FieldError("", "NaN is no JSON value")


def _check(value: Json, text: str) -> None:
    """What the parser lets through. Looked for only where the text may hold it, since it takes longer than parsing."""
    may_be_deep = text.count("[") + text.count("{") > MAX_DEPTH
    if not may_be_deep and _HUGE_NUMBER.search(text) is None:
        return
    for path, leaf, depth in _leaves(value):
        if depth > MAX_DEPTH:
            raise FieldError("", f"not JSON: nested deeper than {MAX_DEPTH} levels")
        if isinstance(leaf, float) and not math.isfinite(leaf):
            raise FieldError(path, "the number is beyond all floats")


def _leaves(value: Json) -> Iterator[tuple[str, Json, int]]:
    """Everything in a value that holds nothing itself, with its path and depth."""
    stack: list[tuple[str, Json, int]] = [("", value, 0)]
    while stack:
        path, item, depth = stack.pop()
        if depth > MAX_DEPTH or not isinstance(item, dict | list) or not item:
            yield path, item, depth + (isinstance(item, dict | list))
        elif isinstance(item, dict):
            stack += [(f"{path}.{name}" if path else name, member, depth + 1) for name, member in item.items()]
        else:
            stack += [(f"{path}[{n}]", member, depth + 1) for n, member in enumerate(item)]
