"""The names of fields, as words."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

__all__ = ["normalised", "singular", "words"]

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_IRREGULAR: Final = {"people": "person", "children": "child", "data": "data", "series": "series", "news": "news",
                     "status": "status", "address": "address", "indices": "index", "media": "media",
                     "analysis": "analysis", "bus": "bus", "gas": "gas"}  # fmt: skip


@lru_cache(maxsize=4096)
def words(name: str) -> tuple[str, ...]:
    """`billingZipCode2` is billing, zip, code, 2."""
    return tuple(word.lower() for word in _WORD.findall(name[:200]))


@lru_cache(maxsize=4096)
def normalised(name: str) -> str:
    """The name without case and separators: names that mean the same field are equal."""
    return re.sub(r"[\s_.\-]+", "", name).lower()


@lru_cache(maxsize=2048)
def singular(word: str) -> str:
    """One of what an English plural names."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word
