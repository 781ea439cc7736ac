"""The text of a dynamics file: YAML that reads well.

Short lists and objects of names stand on one line. Long expressions are folded, best before an operator. A text that
needs quotes has double ones, so that the quotes of an expression stay as they are: `status: "'Closed'"`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import yaml

from envace_sdk.yaml import YAMLError, load_yaml

__all__ = ["WIDTH", "entry_text", "section_text"]

WIDTH: Final = 110

_INDENT: Final = 2
_NAMES: Final = frozenset({"fields", "wrap", "count", "next"})
"""Of `returns`, the members that hold no expressions."""
_EXPRESSIONS: Final = frozenset({"let", "set", "append", "remove", "object", "extra"})
_LONG: Final = 30
_PLAIN: Final = re.compile(r"[A-Za-z0-9_./$(+-][^\n]*")
_ESCAPED: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")
_UNPRINTABLE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")
_ONE_SPACE: Final = re.compile(r"(?<! ) (?! )")
_OPERATORS: Final = frozenset({"&&", "||", "?", ":"})
_resolved: Final[Callable[..., Any]] = yaml.SafeLoader("").resolve
_TEXT: Final = "tag:yaml.org,2002:str"
_LEAST_FULL: Final = 0.4
"""How full a line at least is that ends before an operator."""


def section_text(name: str, entries: Mapping[str, Any], *, spaced: bool = False) -> str:
    """A member of the file with its entries.

    Args:
        name: the member.
        entries: what is in it, as plain data.
        spaced: whether an empty line stands between the entries.
    """
    if not entries:
        return f"{name}: {{}}\n"
    texts = [entry_text(name, entry, value) for entry, value in entries.items()]
    return f"{name}:\n" + ("\n" if spaced else "").join(texts)


def entry_text(section: str, name: str, value: Any, indent: int = _INDENT) -> str:
    """One entry of a member of the file, such as the rule of one tool."""
    margin = " " * indent
    text = "".join(f"{margin}{line}\n" if line else "\n" for line in _member(name, value, (section, name), indent))
    try:
        same = load_yaml(text) == {name: _as_read(value, (section, name))}
    except YAMLError:
        same = False
    if same:
        return text
    plain = yaml.safe_dump({name: value}, sort_keys=False, allow_unicode=False, width=WIDTH - indent)
    return "".join(f"{margin}{line}" for line in plain.splitlines(keepends=True))


def _as_read(value: Any, path: tuple[str, ...]) -> Any:
    """The value with the constants that stand in the place of expressions."""
    if isinstance(value, Mapping):
        return {name: _as_read(inner, (*path, str(name))) for name, inner in value.items()}
    if isinstance(value, list):
        return [_as_read(inner, (*path, "-")) for inner in value]
    if isinstance(value, str) and _is_bare(value, path):
        return load_yaml(value)
    return value


def _member(name: str, value: Any, path: tuple[str, ...], column: int) -> list[str]:
    """The lines of one member of an object, the first at the margin. `column` is where the margin is."""
    key = f"{_inline(name, flow=False)}:"
    if isinstance(value, str) and not _is_bare(value, path):
        first, *more = _text_lines(value, column + len(key) + 1, column + _INDENT)
        return [f"{key} {first}", *_indented(more)]
    if isinstance(value, str):
        return [f"{key} {value}"]
    if not isinstance(value, Mapping | list) or not value:
        return [f"{key} {_inline(value)}"]
    if _is_short(value, path):
        line = f"{key} {_inline(value)}"
        if column + len(line) <= WIDTH:
            return [line]
    if path[0] == "learned" or _is_of_names(value):
        return [f"{key} {line}" if not n else f"  {line}" for n, line in enumerate(_wrapped(value, column + len(key)))]
    return [key, *_indented(_block(value, path, column + _INDENT))]


def _block(value: Any, path: tuple[str, ...], column: int) -> list[str]:
    if isinstance(value, Mapping):
        return [line for name, inner in value.items() for line in _member(str(name), inner, (*path, str(name)), column)]
    lines: list[str] = []
    for item in value:
        if isinstance(item, str):
            first, *more = _text_lines(item, column + _INDENT, column + _INDENT)
        elif isinstance(item, Mapping | list) and item:
            first, *more = _block(item, (*path, "-"), column + _INDENT)
        else:
            first, more = _inline(item), []
        lines += [f"- {first}", *_indented(more)]
    return lines


def _indented(lines: list[str]) -> Iterator[str]:
    return (" " * _INDENT + line if line else "" for line in lines)


def _is_short(value: Any, path: tuple[str, ...]) -> bool:
    """Whether it stands on one line if there is room: lists of scalars, and objects that hold names."""
    if isinstance(value, list):
        return all(not isinstance(item, Mapping | list) for item in value)
    if path[0] == "collections":
        return len(path) == 2
    inside = path[2:]
    if inside == ("returns",):
        return bool(value.keys() <= _NAMES)
    return inside[-1:] == ("take",) or (len(inside) == 2 and inside[0] == "filters")


def _is_of_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and len(item) <= _LONG for item in value)


def _wrapped(value: Mapping[str, Any] | list[str], column: int) -> Iterator[str]:
    """An object or a list of short scalars over as many lines as it takes."""
    if isinstance(value, list):
        parts, line, end = [_inline(item) for item in value], "[", "]"
    else:
        parts, line, end = [f"{_inline(name)}: {_inline(item)}" for name, item in value.items()], "{", "}"
    for number, part in enumerate(parts, 1):
        part += "," if number < len(parts) else end
        if len(line) > 1 and column + len(line) + 1 + len(part) > WIDTH:
            yield line
            line = part
        else:
            line = f"{line} {part}" if len(line) > 1 else line + part
    yield line


def _is_bare(source: str, path: tuple[str, ...]) -> bool:
    """Whether it is an expression that is true, false, null or an integer: these need no quotes to be read as such."""
    if len(path) < 4 or path[-2] not in _EXPRESSIONS or path[2] == "filters":
        return False
    return source in {"true", "false", "null"} or re.fullmatch(r"-?[1-9][0-9]{0,14}|0", source) is not None


def _inline(value: Any, *, flow: bool = True) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_inline(name)}: {_inline(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    if isinstance(value, str):
        return value if _is_plain(value, flow=flow) else _quoted(value)
    if value is None or isinstance(value, bool | int):
        return json.dumps(value)
    return str(yaml.safe_dump(value)).split("\n")[0]


def _text_lines(text: str, column: int, margin: int) -> list[str]:
    """A text behind a key: on its line, or as a block below it, whose lines have no margin yet."""
    if "\n" in text:
        return _literal(text) or [_quoted(text)]
    foldable = not _UNPRINTABLE.search(text) and text == text.strip(" ") and text != ""
    room = max(WIDTH - margin, 40)
    if _is_plain(text, flow=False):
        line = text
    else:
        line = _quoted(text)
        if foldable and '"' in text and "'" in text:
            return [">-", *_folded(text, room)]
    if foldable and column + len(line) > WIDTH and " " in text:
        return [">-", *_folded(text, room)]
    return [line]


def _literal(text: str) -> list[str]:
    lines = text.removesuffix("\n").split("\n")
    if not lines[0] or not lines[-1] or lines[0].startswith(" "):
        return []
    if any(_UNPRINTABLE.search(line) or line.endswith(" ") for line in lines):
        return []
    return ["|" if text.endswith("\n") else "|-", *lines]


def _folded(text: str, room: int) -> list[str]:
    """The lines of a text that is broken at single spaces, best before an operator."""
    lines: list[str] = []
    words: list[str] = []
    length = 0
    for word in _ONE_SPACE.split(text):
        while words and length + 1 + len(word) > room:
            at = _break(words, room)
            lines.append(" ".join(words[:at]))
            words = words[at:]
            length = len(" ".join(words))
        words.append(word)
        length += len(word) + (length > 0)
    return [*lines, " ".join(words)]


def _break(words: list[str], room: int) -> int:
    """Before which word a line ends: the last operator in its second half, else after the last word."""
    length = len(" ".join(words))
    for place in range(len(words) - 1, 0, -1):
        length -= len(words[place]) + 1
        if length < _LEAST_FULL * room:
            break
        if words[place] in _OPERATORS:
            return place
    return len(words)


def _is_plain(text: str, *, flow: bool) -> bool:
    """Whether a text is read as itself without quotes."""
    if not _PLAIN.fullmatch(text) or _UNPRINTABLE.search(text) or text != text.strip():
        return False
    if ": " in text or " #" in text or text.endswith(":") or (flow and re.search(r"[,\[\]{}]|:(?=[\"'])", text)):
        return False
    return bool(_resolved(yaml.ScalarNode, text, (True, False)) == _TEXT)


def _quoted(text: str) -> str:
    if ('"' in text or "\\" in text) and "'" not in text and not _UNPRINTABLE.search(text):
        return f"'{text}'"
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))
