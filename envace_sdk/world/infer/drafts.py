"""The words of tool names, before anything is said of what they mean: spellings, namespaces and articles taken off."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from .phrasals import phrasal
from .verbs import is_half_nounish, is_nounish, known, leading
from .words import bag, base_verbs, is_plural, segments, singular

__all__ = ["MANY_OF", "PARTS", "TAILS", "Draft", "is_clear", "read_drafts"]

TAILS = bag("details detail info information summary overview data content contents")
PARTS = bag("fields attributes properties values")
"""What an update may say that it changes: all of the thing, unless such parts are things of their own."""
MANY_OF = bag("list all history directory catalog catalogue roster listing listings timeline index feed")
_JUNK = bag("api apis mcp rpc")
_HOLDERS = _JUNK | bag("tool tools endpoint cmd svc service services controller handler manager resource client")
_METHODS = (("post",), ("patch",))
"""Methods of HTTP that are also nouns: `POST /tickets`."""
_VERSION = re.compile(r"v\d+\w{0,6}")
_SHARED = 0.6
_NEARLY_ALL = 0.8


@dataclass
class Draft:
    """A name on its way to being understood."""

    words: tuple[str, ...]
    context: tuple[tuple[str, ...], ...] = ()
    shared: tuple[str, ...] = field(default=())
    told: str = ""
    """First word of the description."""
    bare: bool = False
    """Whether its one word is what is done to the subject of the catalogue, as far as the description tells."""


def read_drafts(names: Sequence[str], openings: Sequence[str], objects: Sequence[tuple[str, ...]]) -> list[Draft]:
    """The drafts of all names of a toolset, in order; `openings` and `objects` as of `names.read_names`."""
    drafts = [_draft(levels, opening) for levels, opening in zip(_unflatten(names), openings, strict=True)]
    _share(drafts)
    _find_subject(drafts, objects)
    return drafts


def is_clear(word: str) -> bool:
    """Whether a word can hardly be anything but a verb."""
    return known(word) and not is_half_nounish(word)


def _unflatten(names: Sequence[str]) -> list[list[tuple[str, ...]]]:
    """The levels of each name; `createnote` is two words when `deletenote` or `listnotes` says so too."""
    levels = [segments(name) or [(name.lower(),)] for name in names]
    splits: dict[int, list[tuple[str, str]]] = {}
    heard: dict[str, set[str]] = {}
    for number, level in enumerate(levels):
        last = level[-1]
        if len(last) == 1 and not known(last[0]):
            word = last[0]
            for cut in range(3, len(word) - 2):
                for verb, noun in ((word[:cut], word[cut:]), (word[cut:], word[:cut])):
                    if known(verb) and len(noun) > 2:
                        splits.setdefault(number, []).append((verb, noun))
                        heard.setdefault(singular(noun), set()).add(verb)
    for number, options in splits.items():
        verb, noun = max(options, key=lambda option: (len(heard[singular(option[1])]), len(option[1])))
        if len(heard[singular(noun)]) > 1:
            levels[number][-1] = (verb, noun)
    return levels


def _draft(levels: list[tuple[str, ...]], opening: str) -> Draft:
    cleaned = [*(_clean(level, _HOLDERS) for level in levels[:-1]), _clean(levels[-1], _JUNK)]
    kept = [level for level in cleaned if level] or [levels[-1]]
    words, context = phrasal(_without_articles(kept[-1])), kept[:-1]
    if context and words[0].endswith("ed") and not known(words[0]):
        words = (leading(words[0]) or words[0], *words[1:])  # parcel.registered
    if not any(map(known, words)):
        verbs = [level for level in context if len(level) == 1 and known(level[0]) and not is_nounish(level[0])]
        verbs = verbs or [level for level in context[:1] if level in _METHODS]
        if verbs:  # create/ticket
            context.remove(verbs[-1])
            words = verbs[-1] + words
    return Draft(words, tuple(context), told=opening)


def _without_articles(words: tuple[str, ...]) -> tuple[str, ...]:
    kept = tuple(word for word in words if word not in {"a", "an", "the"})
    return kept or words


def _clean(level: tuple[str, ...], junk: frozenset[str]) -> tuple[str, ...]:
    words = list(level)
    while words and (words[0] in junk or _VERSION.fullmatch(words[0])):
        words.pop(0)
    while words and (words[-1] in junk or _VERSION.fullmatch(words[-1])):
        words.pop()
    return tuple(words)


def _share(drafts: list[Draft]) -> None:
    """Take the words off that most names start with: a namespace, or the one thing the toolset is about."""
    for _ in range(3):
        firsts = Counter(draft.words[0] for draft in drafts if len(draft.words) > 1)
        if not firsts:
            return
        word, count = firsts.most_common(1)[0]
        if count < min(3, len(drafts)) or count < 2 or count < _SHARED * len(drafts):
            return
        rests = [draft.words[1:] for draft in drafts if draft.words[0] == word and len(draft.words) > 1]
        if known(word) and not (
            is_half_nounish(word) and all(is_clear(rest[0]) or is_clear(rest[-1]) for rest in rests)
        ):
            return
        if any(draft.words == (word,) for draft in drafts):
            return
        for draft in drafts:
            if draft.words[0] == word and len(draft.words) > 1:
                draft.words = draft.words[1:]
                draft.shared = (*draft.shared, word)


def _find_subject(drafts: Sequence[Draft], objects: Sequence[tuple[str, ...]]) -> None:
    """Where nearly all names share a prefix, and the descriptions speak of its last noun, a lone word after it that
    is no part of that noun is a verb: `telescope-slot.shift` -- Moves a slot.
    """
    prefixes = Counter(draft.context[-1] if draft.context else draft.shared for draft in drafts)
    prefix, count = max(prefixes.items(), key=lambda found: found[1], default=((), 0))
    if not prefix or count < 3 or count < _NEARLY_ALL * len(drafts):
        return
    head = singular(prefix[-1])
    told = [words for words in objects if words]
    if sum(head in words for words in told) * 2 < max(len(told), 3):
        return
    for draft, words in zip(drafts, objects, strict=True):
        if len(draft.words) == 1 and (draft.context[-1] if draft.context else draft.shared) == prefix:
            word = draft.words[0]
            opens = word in base_verbs(draft.told) if draft.told else False
            draft.bare = words[-1:] == (head,) and not is_plural(word) and (opens or word not in words)
            draft.bare = draft.bare and word not in TAILS | MANY_OF | PARTS
