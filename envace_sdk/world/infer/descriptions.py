"""What a tool's description says in its first sentence: the verb it opens with and what it speaks of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from .names import DETERMINERS, PREPOSITIONS
from .phrasals import told_verb
from .verbs import Sense, is_nounish, leading, senses
from .words import bag, is_plural, singular, split

__all__ = ["Telling", "tell"]

_SENTENCE = re.compile(r"(?<=[.!?;])\s|\n\n|\s[-–—]\s")
_CLAUSE = re.compile(r"(?<=\w)[,:(]")
_LABEL = re.compile(r"^(?:\[[^\]]{1,30}\]|[\w .-]{1,30}\|)\s*")
_FILLER = bag(
    "this tool tools use used using allows allow you to can will be is it function method endpoint api command "
    "call please lets let helps enables enable user users the agent for when operation action performs perform "
    "via"
)
_COLLECTIVE = bag("list lists listing details detail information info set collection array number copy kind type")
_LINKS = bag("between among during through without within after before since until over per across around using")
_MAX_TEXT = 2000


@dataclass(frozen=True)
class Telling:
    """A description, read."""

    opening: str = ""
    """The first word that carries meaning, lower-case."""
    verb: str = ""
    """The general verb it opens with, in its base form; "" when it opens with none."""
    senses: tuple[Sense, ...] = ()
    object: tuple[str, ...] = ()
    """The words that verb acts on, in the singular: "Create a new support ticket for …" → support, ticket."""
    plural: bool = False
    words: frozenset[str] = frozenset()
    """Every word of the first sentence, in the singular."""
    text: str = ""
    """The whole description, lower-case."""


@lru_cache(maxsize=2048)
def tell(description: str) -> Telling:
    """Read a description."""
    text = _LABEL.sub("", description[:_MAX_TEXT].strip())
    sentence = next((part for part in _SENTENCE.split(text) if part.strip()), "")
    words = split(sentence.replace("'s", ""))
    start = 0
    while start < len(words) and (words[start] in _FILLER or _is_adverb(words[start])):
        start += 1
    if start == len(words):
        start = 0
    answers = _is_answer(words, start)
    opening = words[start] if words and not answers else ""
    verb = None if answers else told_verb(words[start : start + 2])
    if verb == "return":
        verb = "get"  # "Returns an order": the tool answers it
    clause = split(_CLAUSE.split(sentence, maxsplit=1)[0].replace("'s", ""))
    rest = clause[start + 1 :] if verb else clause[start:]
    thing: list[str] = []
    for place, word in enumerate(rest[:12]):
        if word in _COLLECTIVE and rest[place + 1 : place + 2] and rest[place + 1] in {"of", "about", "for", "on"}:
            thing = []
            continue
        if (
            word in PREPOSITIONS
            or word in _LINKS
            or word in {"and", "that", "which", "whose", "where", "when", "is", "are", "if"}
        ):
            if thing:
                break
            continue
        if word not in DETERMINERS and not word.isdigit():
            thing.append(word)
    return Telling(
        opening,
        verb or "",
        senses(verb) if verb else (),
        tuple(singular(word) for word in thing),
        bool(thing) and is_plural(thing[-1]),
        frozenset(singular(word) for word in words),
        text.lower(),
    )


def _is_answer(words: Sequence[str], start: int) -> bool:
    """Whether it opens with a noun, with what the tool answers: "The notes of a slot", "Notes of a slot"."""
    if start == 1 and words[0] == "the":
        return is_plural(words[1]) or words[2:3] == ["of"]
    return start == 0 and words[1:2] == ["of"] and is_plural(words[0]) and is_nounish(singular(words[0]))


def _is_adverb(word: str) -> bool:
    return word.endswith("ly") and len(word) > 4 and leading(word) is None
