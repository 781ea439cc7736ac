"""Which arguments and fields name a thing: `id`, `ticket_id`, `TicketID`, `ref`, `slug`, `email`, or just `ticket`."""

from __future__ import annotations

from collections.abc import Collection as Some
from functools import lru_cache

from .arguments import Argument
from .words import bag, singular

__all__ = ["WEAK", "bare", "before_id", "id_noun", "is_id"]

STRONG = bag(
    "id ids uuid uuids guid key keys ref refs reference number numbers no num nr code codes slug slugs token "
    "tokens handle handles identifier identifiers pk oid serial sku skus isbn"
)
"""Words that name a thing whatever stands before them."""

WEAK = bag("name names path paths email emails tag username login url uri title symbol domain address")
"""Words that name a thing where nothing better does."""


def is_id(words: tuple[str, ...]) -> bool:
    """Whether a name ends like that of an identifier."""
    return bool(words) and words[-1] in STRONG


def id_noun(words: tuple[str, ...], *, weak: bool = False) -> tuple[str, ...] | None:
    """What an identifier's name says it identifies: `ticket_id` a ticket, `id` nothing in particular (()), and
    `color` is no identifier (None).
    """
    if words and (words[-1] in STRONG or (weak and words[-1] in WEAK)):
        return tuple(singular(word) for word in words[:-1])
    return None


@lru_cache(maxsize=4096)
def before_id(word: str) -> tuple[str, ...]:
    """What stands before an identifier's word in one word: `ticketid` → ticket."""
    return tuple(sorted(word[: -len(end)] for end in STRONG | WEAK if word.endswith(end) and word != end))


def bare(words: tuple[str, ...], nouns: Some[tuple[str, ...]]) -> tuple[str, ...]:
    """A field's name without the entity's own noun before it: `ticket_title` of a ticket is `title`.

    The noun alone (`ticket`) stays.
    """
    return _bare(words, frozenset(nouns))


@lru_cache(maxsize=65536)
def _bare(words: tuple[str, ...], nouns: frozenset[tuple[str, ...]]) -> tuple[str, ...]:
    for noun in sorted(nouns, key=len, reverse=True):
        size = len(noun)
        if 0 < size < len(words) and tuple(singular(word) for word in words[:size]) == noun:
            return words[size:]
    if len(words) == 1:
        for noun in nouns:
            rest = words[0].removeprefix("".join(noun))
            if rest != words[0] and rest in STRONG | WEAK:  # ticketid
                return (rest,)
    return words


def names_thing(argument: Argument, nouns: Some[tuple[str, ...]]) -> float:
    """How much an argument looks like the name of an entity called by one of `nouns`, from 0 to 1."""
    if not argument.is_scalar or argument.is_flag:
        return 0.0
    words = argument.words
    short = bare(words, nouns)
    if short != words and short[-1] in STRONG:
        return 1.0
    if len(words) == 1 and words[0] in STRONG:
        return 0.95
    if tuple(singular(word) for word in words) in nouns:
        return 0.85
    if short[-1:] and short[-1] in WEAK and len(short) == 1:
        return 0.6
    if words and words[-1] in STRONG:
        return 0.4
    return 0.0
