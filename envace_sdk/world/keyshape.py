"""What keys look like: a number in a fixed text, or random characters in fixed places."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeAlias
from uuid import UUID

from envace_sdk.json import Json

__all__ = ["Numbered", "Scattered", "Shape", "alphabet", "highest", "shape_of"]

_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_TOKEN = re.compile(r"([0-9A-Za-z]+)", re.ASCII)
_ALPHABETS = {
    "digits": "0123456789",
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "alnum": "abcdefghijklmnopqrstuvwxyz0123456789",
    "ALNUM": "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    "any": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
}
_LONGEST_NUMBER = 18


@dataclass(frozen=True, slots=True)
class Numbered:
    """A number between two texts, with zeros before it up to a width."""

    prefix: str
    width: int
    suffix: str
    integer: bool = False
    """The keys are JSON integers, not texts."""
    first: int = 0
    """The least number."""

    def key(self, number: int) -> Json:
        """The key with this number."""
        return number if self.integer else f"{self.prefix}{number:0{self.width}}{self.suffix}"


@dataclass(frozen=True, slots=True)
class Scattered:
    """Keys made by chance."""

    key: Callable[[Random], Json]


Shape: TypeAlias = Numbered | Scattered


def alphabet(name: str) -> str:
    """The characters that the placeholder of that name stands for."""
    return _ALPHABETS[name]


def highest(keys: Iterable[Json], shape: Numbered) -> int:
    """The highest number in those keys that are of the shape; -1 when none is."""
    found = -1
    prefix, suffix = shape.prefix, shape.suffix
    begin, cut = len(prefix), len(suffix)
    for key in keys:
        text = key if isinstance(key, str) else str(key) if type(key) is int else ""
        if text.startswith(prefix) and text.endswith(suffix):
            digits = text[begin : len(text) - cut]
            if digits.isdigit() and digits.isascii() and len(digits) <= _LONGEST_NUMBER:
                found = max(found, int(digits))
    return found


def shape_of(keys: Sequence[str]) -> Shape | None:
    """The shape that these keys have in common, or None."""
    if not keys:
        return None
    if all(_UUID.fullmatch(key) for key in keys):
        upper = keys[-1].isupper()
        return Scattered(lambda random: _uuid(random, upper=upper))
    return _numbered(keys) or _scattered(keys)


def _uuid(random: Random, *, upper: bool) -> str:
    text = str(UUID(int=random.getrandbits(128), version=4))
    return text.upper() if upper else text


def _numbered(keys: Sequence[str]) -> Numbered | None:
    """The last digits of each key count, when all else is the same and no other digits are mixed into their word."""
    split = [_split(key) for key in keys]
    first = split[0]
    if first is None:
        return None
    widths = []
    for part in split:
        if part is None or part[0] != first[0] or part[2] != first[2]:
            return None
        if part[1].startswith("0"):
            widths.append(len(part[1]))
    return Numbered(first[0], max(widths, default=0), first[2])


def _split(key: str) -> tuple[str, str, str] | None:
    end = len(key)
    while end and not ("0" <= key[end - 1] <= "9"):
        end -= 1
    begin = end
    while begin and "0" <= key[begin - 1] <= "9":
        begin -= 1
    word = re.search(r"[0-9A-Za-z]*$", key[:begin])
    mixed = word is not None and any(char.isdigit() for char in word.group())
    if begin == end or end - begin > _LONGEST_NUMBER or mixed or re.match("[0-9A-Za-z]", key[end:]):
        return None
    return key[:begin], key[begin:end], key[end:]


def _scattered(keys: Sequence[str]) -> Scattered | None:
    """Words that differ between keys, or have digits in them, are random; the rest is fixed."""
    rows = [_TOKEN.split(key) for key in keys]
    if len({len(row) for row in rows}) != 1:
        return None
    parts: list[tuple[str, int]] = []
    for place, words in enumerate(zip(*rows, strict=True)):
        constant = len(set(words)) == 1
        digits = any(char.isdigit() for word in words for char in word)
        if constant and (len(keys) > 1 or not digits):
            parts.append((words[0], 0))
        elif place % 2 == 0 or not digits:
            return None
        else:
            parts.append((_alphabet_of(words), len(words[-1])))
    if not any(length >= 4 for _, length in parts):
        return None

    def key(random: Random) -> str:
        return "".join("".join(random.choices(text, k=length)) if length else text for text, length in parts)

    return Scattered(key)


def _alphabet_of(words: Sequence[str]) -> str:
    used = set("".join(words))
    return next((letters for letters in _ALPHABETS.values() if used <= set(letters)), _ALPHABETS["any"])
