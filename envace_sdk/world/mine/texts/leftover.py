"""Leftovers: texts that are like no other, and what they may be."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from .draft import Draft, Hole, merged
from .grouping import Text
from .likeness import label
from .naming import finish
from .quality import reads, words_in
from .template import Template
from .tokens import KNOWN, VALUE, WORD, Line, words_of
from .unify import unify

__all__ = ["are_free", "labelled", "singles", "without_chance"]

_MANY: Final = 8
"""So many messages each of which was seen once are no messages."""
_LONGEST_MESSAGE: Final = 20_000


def labelled(texts: Sequence[Text]) -> dict[Template, list[Text]]:
    """The templates of texts that are a label ("Tags: ") and a value or a list of values."""
    groups: dict[tuple[str, ...], list[Text]] = defaultdict(list)
    for text in texts:
        if len(text.lines) == 1:
            start = label(text.lines[0])
            if start and _value_like(text.lines[0], len(start)):
                groups[start].append(text)
    found = {}
    for group in groups.values():
        if len(group) > 1:
            template = finish(unify([text.lines[0] for text in group]))
            found[template] = [text for text in group if reads(template, text.text)]
    return found


def _value_like(line: Line, begin: int) -> bool:
    """Whether what follows is a value, or values with commas between them, and no sentence."""
    rest = "".join(line.tokens[begin:]).strip()
    return all(len(item.split()) == 1 for item in rest.split(", "))


def are_free(texts: Sequence[Text], several: bool) -> bool:
    """Whether texts that are like no other are free text, rather than messages each of which was seen once."""
    if not texts:
        return False
    messages = sum(map(_message, texts))
    if len(texts) == 1:
        return several and not messages and "\n" in texts[0].text and len(texts[0].origins) == 1
    return 2 * messages < len(texts) or messages > _MANY


def _message(one: Text) -> bool:
    text = one.text[:_LONGEST_MESSAGE]
    return "\n" not in text and text[:1].isalpha() and words_in(text) > 1


def without_chance(
    found: Mapping[Template, list[Text]], free: Sequence[Text]
) -> tuple[dict[Template, list[Text]], list[Text]]:
    """Without the templates of texts that are alike only because free texts sometimes are; these join the free ones."""
    kept: dict[Template, list[Text]] = {}
    all_free = list(free)
    for template, texts in found.items():
        known = any(KNOWN in line.kinds for text in texts for line in text.lines)
        if len(texts) < len(free) and not known and not all(map(_message, texts)):
            all_free += texts
        else:
            kept[template] = texts
    return kept, all_free


def singles(texts: Sequence[Text], all_texts: Sequence[Text]) -> dict[Template, list[Text]]:
    """A template for each of these texts, whose lines are known."""
    counts = Counter(word for text in all_texts for word in words_of([text.text])) if texts else Counter()
    common = {word for word, count in counts.items() if count > 1}
    return {_single(text, common): [text] for text in texts}


def _single(text: Text, common: set[str]) -> Template:
    """The template of a text that is like no other: all of it is literal but what was known.

    That is also a word that was always a part of something known, such as the table in a query, and that no other
    text has.
    """
    draft: Draft = []
    inside: set[str] = set.intersection(*(words_of(origin) for origin in text.origins)) - common
    for index, line in enumerate(text.lines):
        draft += ["\n"] * (index > 0)
        for token, kind in zip(line.tokens, line.kinds, strict=True):
            known = kind == KNOWN or (token in inside and kind in (WORD, VALUE))
            draft.append(Hole([token], known) if known else token)
    return finish(merged(draft))
