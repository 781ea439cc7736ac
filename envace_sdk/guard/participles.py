"""Verbs as tools are named by, and as people say that they did it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

__all__ = ["FAMILIES", "family", "participles"]

_WORDS: Final = """
create add make register open insert write save start place book order schedule submit file issue post upload
update change set edit modify adjust apply swap rename assign reset
delete remove cancel close drop discard withdraw revoke clear erase archive
send email mail notify message forward publish post
refund reimburse credit grant issue
move transfer
pay settle
approve confirm accept
block freeze lock
unblock unfreeze unlock activate reactivate
resolve close
"""
FAMILIES: Final = tuple(frozenset(line.split()) for line in _WORDS.strip().splitlines())
"""General verbs that tell of the same kind of work: a tool may be called by one and its work told by another."""

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
    return given.union(*(verbs for verbs in FAMILIES if verbs & given))
