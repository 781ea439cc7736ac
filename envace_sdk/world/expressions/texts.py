"""Functions on texts."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import re2

from .failure import FailedError
from .registry import Library, a_list, a_text, a_whole, register
from .scope import Scope
from .values import MAX_TEXT, describe, to_json_like, to_text

__all__ = ["TEXTS", "checked_length", "text_lines"]

TEXTS: Library = {}
_MAX_PATTERN = 1_000
_MOST_INDENT = 8


def _made(scope: Scope, text: str) -> str:
    scope.spend_text(len(text))
    return text


def checked_length(length: int) -> None:
    """Raises: FailedError when a text of that length would be too long."""
    if length > MAX_TEXT:
        raise FailedError(f"the text would be longer than {MAX_TEXT} characters")


@register(TEXTS, "contains", 2)
def _contains(scope: Scope, text: Any, part: Any) -> bool:
    whole = a_text(text, "contains")
    scope.spend_text(len(whole))
    return a_text(part, "contains") in whole


@register(TEXTS, "startsWith", 2)
def _starts_with(_: Scope, text: Any, part: Any) -> bool:
    return a_text(text, "startsWith").startswith(a_text(part, "startsWith"))


@register(TEXTS, "endsWith", 2)
def _ends_with(_: Scope, text: Any, part: Any) -> bool:
    return a_text(text, "endsWith").endswith(a_text(part, "endsWith"))


@register(TEXTS, "matches", 2)
def _matches(scope: Scope, text: Any, pattern: Any) -> bool:
    """Whether the pattern (RE2 syntax) is found anywhere in the text; takes time linear in the text."""
    whole = a_text(text, "matches")
    scope.spend_text(8 * len(whole))
    compiled = _pattern(a_text(pattern, "matches"))
    # A lone surrogate is JSON but has no UTF-8 form.
    return compiled.search(whole.encode("utf-8", "replace").decode()) is not None


@lru_cache(maxsize=128)
def _pattern(pattern: str) -> Any:
    if len(pattern) > _MAX_PATTERN:
        raise FailedError(f"a pattern is longer than {_MAX_PATTERN} characters")
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 1 << 20
    try:
        return re2.compile(pattern, options)
    except (re2.error, UnicodeError) as error:
        reason = error.args[0] if error.args else error
        said = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise FailedError(f"{describe(pattern)} is not a pattern: {said}") from None


@register(TEXTS, "lowerAscii", 1)
def _lower(scope: Scope, text: Any) -> str:
    whole = _made(scope, a_text(text, "lowerAscii"))
    return whole.lower() if whole.isascii() else "".join(c.lower() if c.isascii() else c for c in whole)


@register(TEXTS, "upperAscii", 1)
def _upper(scope: Scope, text: Any) -> str:
    whole = _made(scope, a_text(text, "upperAscii"))
    return whole.upper() if whole.isascii() else "".join(c.upper() if c.isascii() else c for c in whole)


@register(TEXTS, "trim", 1)
def _trim(scope: Scope, text: Any) -> str:
    return _made(scope, a_text(text, "trim")).strip()


@register(TEXTS, "split", 2, 3)
def _split(scope: Scope, text: Any, separator: Any, limit: Any = -1) -> list[str]:
    """At most `limit` parts; an empty separator splits into characters."""
    whole, mark, most = a_text(text, "split"), a_text(separator, "split"), a_whole(limit, "split")
    scope.spend(len(whole) if not mark else whole.count(mark) + 1)
    if most == 0:
        return []
    if mark:
        return whole.split(mark, min(most - 1, len(whole)) if most > 0 else -1)
    return list(whole) if most < 0 or most > len(whole) else [*whole[: most - 1], whole[most - 1 :]]


@register(TEXTS, "join", 1, 2)
def _join(scope: Scope, items: Any, separator: Any = "") -> str:
    texts = [to_text(item) for item in a_list(items, "join")]
    mark = a_text(separator, "join")
    checked_length(sum(map(len, texts)) + len(mark) * len(texts))
    scope.spend(len(texts))
    return _made(scope, mark.join(texts))


@register(TEXTS, "replace", 3, 4)
def _replace(scope: Scope, text: Any, old: Any, new: Any, limit: Any = -1) -> str:
    whole, before, after = a_text(text, "replace"), a_text(old, "replace"), a_text(new, "replace")
    most = a_whole(limit, "replace")
    places = whole.count(before) if most < 0 else min(whole.count(before), most)
    checked_length(len(whole) + places * (len(after) - len(before)))
    scope.spend_text(len(whole))
    return _made(scope, whole.replace(before, after, places))


@register(TEXTS, "substring", 2, 3)
def _substring(scope: Scope, text: Any, begin: Any, end: Any = None) -> str:
    whole, first = a_text(text, "substring"), a_whole(begin, "substring")
    last = len(whole) if end is None else a_whole(end, "substring")
    if not 0 <= first <= last <= len(whole):
        raise FailedError(f"substring({first}, {last}) is out of range for a text of {len(whole)} characters")
    return _made(scope, whole[first:last])


@register(TEXTS, "charAt", 2)
def _char_at(_: Scope, text: Any, place: Any) -> str:
    whole, at = a_text(text, "charAt"), a_whole(place, "charAt")
    if not 0 <= at <= len(whole):
        raise FailedError(f"charAt({at}) is out of range for a text of {len(whole)} characters")
    return whole[at : at + 1]


@register(TEXTS, "indexOf", 2, 3)
def _index_of(scope: Scope, text: Any, part: Any, begin: Any = 0) -> int:
    whole = a_text(text, "indexOf")
    scope.spend_text(len(whole))
    return whole.find(a_text(part, "indexOf"), max(a_whole(begin, "indexOf"), 0))


@register(TEXTS, "lastIndexOf", 2)
def _last_index_of(scope: Scope, text: Any, part: Any) -> int:
    whole = a_text(text, "lastIndexOf")
    scope.spend_text(len(whole))
    return whole.rfind(a_text(part, "lastIndexOf"))


def text_lines(text: str) -> list[str]:
    """The lines; an end of line at the end of the text ends the last one, it does not begin another."""
    found = text.replace("\r\n", "\n").split("\n")
    return found if found[-1] else found[:-1]


@register(TEXTS, "lines", 1)
def _lines(scope: Scope, text: Any) -> list[str]:
    whole = a_text(text, "lines")
    scope.spend(whole.count("\n") + 1)
    scope.spend_text(len(whole))
    return text_lines(whole)


@register(TEXTS, "words", 1)
def _words(scope: Scope, text: Any) -> list[str]:
    """What stands between blanks, ends of lines included."""
    whole = a_text(text, "words")
    scope.spend_text(8 * len(whole))
    return whole.split()


@register(TEXTS, "capitalize", 1)
def _capitalize(scope: Scope, text: Any) -> str:
    """The first character as a capital, the others as they are."""
    whole = _made(scope, a_text(text, "capitalize"))
    return whole[:1].upper() + whole[1:]


@register(TEXTS, "json", 1, 2)
def _json(scope: Scope, value: Any, indent: Any = None) -> str:
    """The value as JSON, its lines indented by so many blanks; 0 for no blanks at all."""
    width = None if indent is None else a_whole(indent, "json")
    if width is not None and not 0 <= width <= _MOST_INDENT:
        raise FailedError(f"json() indents by 0 to {_MOST_INDENT} blanks")
    plain = to_json_like(value)
    tight = (",", ":") if width == 0 else None
    text = json.dumps(plain, ensure_ascii=False, indent=width or None, separators=tight)
    checked_length(len(text))
    return _made(scope, text)
