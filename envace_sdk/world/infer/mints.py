"""How new keys look: as the arguments that ask for them describe."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from envace_sdk.json import Json

from .arguments import Argument
from .groups import Group
from .ids import STRONG
from .keys import Key

__all__ = ["mint_of"]

_EXAMPLE = re.compile(
    r"(?:e\.?g\.?|i\.e\.|for example|for instance|such as|example|like|format|formatted as|looks like)[:,]?\s*"
    r"(?:an?\s+)?[\"'`“(]*([A-Za-z0-9][\w:./#-]{1,60}\w)",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d+")
_CLASS = re.compile(
    r"(\\d|\[0-9\]|\[a-f0-9\]|\[0-9a-f\]|\[a-z0-9\]|\[0-9a-z\]|\[a-z\])(?:\{(\d{1,2})(?:,\d*)?\}|([+*]))?", re.ASCII
)
_LITERAL = re.compile(r"(?:[A-Za-z0-9_:/#@~ -]|\\[-_./:#])*")
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)


def mint_of(group: Group, key: Key) -> str:
    """The `mint` of a collection: how keys look that no caller chooses."""
    views = list(_views(group, key))
    if any(view.is_number for view in views):
        return "{int}"
    words = key.own.words
    if words[-1] in {"uuid", "guid"} or any(view.schema.get("format") == "uuid" for view in views):
        return "{uuid}"
    for view in views:
        pattern = view.schema.get("pattern")
        if isinstance(pattern, str) and (found := _from_pattern(pattern)):
            return found
    for example in _examples(views):
        if found := _from_example(example):
            return found
    longest = [n for view in views if isinstance(n := view.schema.get("maxLength"), int)]
    shortest = [n for view in views if isinstance(n := view.schema.get("minLength"), int)]
    if longest or shortest:
        return _sized(min(longest, default=64), max(shortest, default=1))
    if words[-1] in {"number", "no", "num", "nr", "serial"}:
        return "{n:06}"
    noun = re.sub(r"[^a-z0-9]", "", group.head.lower().encode("ascii", "ignore").decode())[:16] or "id"
    if words[-1] in STRONG - {"slug", "handle", "key"}:
        return f"{noun}_{{hex:8}}"
    return f"{noun}-{{n}}"


def _views(group: Group, key: Key) -> Iterator[Argument]:
    """The arguments that give the key, in the order of the tools."""
    if key.own.argument is not None:
        yield key.own.argument
    for member in group.members:
        found = key.of(member.reading)
        if found:
            yield found[-1]


def _sized(longest: int, shortest: int) -> str:
    return f"{{hex:{max(1, min(longest, max(shortest, 12), 99))}}}"


def _examples(views: Iterable[Argument]) -> Iterator[str]:
    for view in views:
        values: list[Json] = [view.schema.get("example")]
        listed = view.schema.get("examples")
        values += listed if isinstance(listed, list) else []
        yield from (value for value in values if isinstance(value, str))
        told = _EXAMPLE.search(view.description)
        if told and any(char.isdigit() for char in told.group(1)):
            yield told.group(1)


def _from_example(example: str) -> str:
    """A key that looks like the example: its last number counts on, or a long scattered part is made by chance."""
    if not 1 <= len(example) <= 64:
        return ""
    if _UUID.fullmatch(example):
        return "{uuid}"
    scattered = re.fullmatch(r"((?:[A-Za-z]+[-_:])?)([a-z0-9]{6,32})", example)
    if scattered and any(c.isdigit() for c in scattered[2]) and any(c.isalpha() for c in scattered[2]):
        kind = "hex" if re.fullmatch(r"[0-9a-f]+", scattered[2]) else "alnum"
        return f"{_plain(scattered[1])}{{{kind}:{len(scattered[2])}}}"
    numbers = list(_DIGITS.finditer(example))
    if not numbers:
        return ""
    last = numbers[-1]
    width = len(last.group())
    place = "{n}" if width == 1 else f"{{n:0{width}}}"
    if last.group().startswith(("1", "2", "3", "4", "5", "6", "7", "8", "9")) and width < 3:
        place = "{n}"
    return _plain(example[: last.start()]) + place + _plain(example[last.end() :])


def _from_pattern(pattern: str) -> str:
    """A key that the pattern matches, where the pattern is literal text around one run of characters."""
    body = pattern.removeprefix("^").removesuffix("$")
    before = _LITERAL.match(body)
    start = before.end() if before else 0
    found = _CLASS.match(body, start)
    if before is None or found is None:
        return ""
    after = body[found.end() :]
    if not _LITERAL.fullmatch(after):
        return ""
    kind, count, more = found.groups()
    size = int(count) if count else 6 if more else 1
    if not 1 <= size <= 64:
        return ""
    if kind in {r"\d", "[0-9]"}:
        place = "{n}" if size == 1 else f"{{n:0{size}}}"
    elif kind == "[a-z]":
        return ""
    else:
        place = f"{{{'hex' if 'f' in kind else 'alnum'}:{size}}}"
    return _plain(_unescaped(before.group())) + place + _plain(_unescaped(after))


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def _plain(text: str) -> str:
    """Literal text of a mint: braces would be read as places."""
    return text.replace("{", "").replace("}", "")
