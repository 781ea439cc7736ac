"""Verbs as tools are named by, and as people say that they did it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

__all__ = ["FAMILIES", "family", "participles"]

FAMILIES: Final[dict[str, frozenset[str]]] = {
    "create": frozenset(
        {"create", "add", "open", "register", "book", "place", "make", "submit", "file", "issue", "grant", "post",
         "schedule", "start", "order", "insert", "write", "save", "upload"}
    ),
    "update": frozenset(
        {"update", "change", "set", "edit", "modify", "move", "rename", "adjust", "apply", "swap", "assign", "reset",
         "transfer", "pay", "refund", "settle", "approve", "activate", "resolve", "freeze", "block", "unblock"}
    ),
    "delete": frozenset(
        {"delete", "remove", "cancel", "close", "drop", "discard", "withdraw", "revoke", "clear", "erase", "archive"}
    ),
    "send": frozenset({"send", "email", "mail", "notify", "message", "forward", "publish"}),
}  # fmt: skip
"""General verbs by what they do; a tool may be called by one and its work told by another."""

_IRREGULAR: Final[dict[str, tuple[str, ...]]] = {
    "send": ("sent",), "make": ("made",), "put": ("put",), "set": ("set",), "reset": ("reset",), "pay": ("paid",),
    "buy": ("bought",), "write": ("written", "wrote"), "give": ("given", "gave"), "take": ("taken", "took"),
    "run": ("run", "ran"), "hold": ("held",), "withdraw": ("withdrawn", "withdrew"), "freeze": ("frozen", "froze"),
    "sell": ("sold",), "cut": ("cut",), "lend": ("lent",), "begin": ("begun", "began"), "do": ("done", "did"),
    "mark": ("marked",), "open": ("opened",), "order": ("ordered",), "edit": ("edited",), "submit": ("submitted",),
    "transfer": ("transferred",), "cancel": ("cancelled", "canceled"), "email": ("emailed",), "mail": ("mailed",),
}  # fmt: skip
_VOWELS: Final = frozenset("aeiou")


@lru_cache(maxsize=1024)
def participles(verb: str) -> frozenset[str]:
    """How a verb says that it was done: past tense and past participle."""
    if verb in _IRREGULAR:
        return frozenset(_IRREGULAR[verb])
    if verb.endswith("e"):
        return frozenset({f"{verb}d"})
    if verb.endswith("y") and verb[-2:-1] not in _VOWELS:
        return frozenset({f"{verb[:-1]}ied"})
    short = len(verb) >= 3 and verb[-1] not in _VOWELS | {"w", "x", "y"} and verb[-2] in _VOWELS
    if short and verb[-3] not in _VOWELS and len(verb) <= 4:
        return frozenset({f"{verb}{verb[-1]}ed", f"{verb}ed"})
    return frozenset({f"{verb}ed"})


def family(words: Iterable[str]) -> frozenset[str]:
    """The verbs that may tell of the same work as these."""
    given = frozenset(words)
    return given.union(*(verbs for verbs in FAMILIES.values() if verbs & given))
