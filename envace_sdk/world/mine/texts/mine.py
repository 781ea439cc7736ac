"""Mining: the fewest templates that read a tool's texts and write them back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from envace_sdk.json import Json

from .draft import Hole
from .finding import find_templates
from .grouping import Text
from .leftover import are_free, labelled, singles, without_chance
from .naming import finish
from .quality import reads, vague, words
from .template import Template
from .tokens import KNOWN, WORD, Line, known_texts, lines_of

__all__ = ["TextCase", "mine_texts"]

_SAMPLE: Final = 240
_SAMPLE_LINES: Final = 1_200
_LONGEST: Final = 20_000
"""Longer texts are read by what was learnt from shorter ones, if there are any."""
_FEW_LONG: Final = 6
_ROUNDS: Final = 6
_WORTHWHILE: Final = 0.95
"""Texts are looked at again as long as no more than this share of them stays unread."""
_MOST: Final = 40
"""How many templates are plenty for one tool."""
_FEW: Final = 3


@dataclass(frozen=True, slots=True)
class TextCase:
    """A text, and what was known before it was seen: arguments and the like, by any names.

    A part of the text that equals a known value is a slot even if the text was seen once.
    """

    text: str
    known: Mapping[str, Json] = field(default_factory=dict)


def mine_texts(cases: Sequence[TextCase]) -> list[Template]:
    """The fewest templates that parse almost all of these texts, and render them back exactly.

    In the order in which they should be tried: a text has the form of the first that parses it. Those that most texts
    have come first, but none before one that is more special; the last may read any text. Deterministic.
    """
    texts = _distinct(cases)
    several = len({origin for text in texts for origin in text.origins}) > 1
    found: dict[Template, list[Text]] = {}
    left: Sequence[Text] = texts
    for _ in range(_ROUNDS):
        sample = _sample(left)
        mined = [one for one in find_templates(sample, several, _MOST) if one not in found]
        before, (left, read) = len(left), _assigned(left, mined)
        found |= read
        if len(left) > _WORTHWHILE * before or len(found) > _MOST or not left:
            break
    found |= labelled(_sample(left))
    left = [text for text in left if not any(text in those for those in found.values())]
    if are_free(left, several):
        found, left = without_chance(found, left)
        found[finish([Hole([text.text for text in left])])] = left
    else:
        _look_at(left)
        found |= singles(left, texts)
    return _ordered(found)


def _distinct(cases: Sequence[TextCase]) -> list[Text]:
    texts: dict[str, Text] = {}
    for case in cases:
        same = texts.get(case.text)
        if same is None:
            texts[case.text] = Text(case.text, {known_texts(case.known)})
        else:
            same.count += 1
            same.origins.add(known_texts(case.known))
    return list(texts.values())


def _sample(texts: Sequence[Text]) -> list[Text]:
    """So many of the texts, spread over all of them, as can be compared in a moment; with their lines."""
    usable = [text for text in texts if len(text.text) <= _LONGEST]
    if not usable:
        usable = sorted(texts, key=lambda text: len(text.text))[:_FEW_LONG]
    step = max(1, -(-len(usable) // _SAMPLE))
    sample: list[Text] = []
    lines = 0
    for text in (usable[index] for start in range(step) for index in range(start, len(usable), step)):
        lines += text.text.count("\n") + 1
        if len(sample) > 1 and (len(sample) >= _SAMPLE or lines > _SAMPLE_LINES):
            break
        sample.append(text)
    _look_at(sample)
    return sample


def _look_at(texts: Sequence[Text]) -> None:
    """Find the lines of texts. A word that one of them has where it was not known is no trace of what is known."""
    for text in texts:
        always = set(min(text.origins)).intersection(*text.origins)
        text.lines = lines_of(text.text, [known for known in min(text.origins) if known in always])
    plain = {
        token
        for text in texts
        for line in text.lines
        for token, kind in zip(line.tokens, line.kinds, strict=True)
        if kind == WORD
    }
    for text in texts:
        text.lines = [_unknown(line, plain) if KNOWN in line.kinds else line for line in text.lines]


def _unknown(line: Line, plain: set[str]) -> Line:
    pairs = zip(line.tokens, line.kinds, strict=True)
    return Line.of(line.tokens, [WORD if kind == KNOWN and token in plain else kind for token, kind in pairs])


def _assigned(texts: Sequence[Text], templates: Sequence[Template]) -> tuple[list[Text], dict[Template, list[Text]]]:
    """The texts that no template reads; and by template those that it is the first to read, the most literal first."""
    read: dict[Template, list[Text]] = {template: [] for template in sorted(templates, key=lambda one: -words(one))}
    left: list[Text] = []
    for text in texts:
        first = next((template for template in read if reads(template, text.text)), None)
        (left if first is None else read[first]).append(text)
    return left, read


def _ordered(found: Mapping[Template, Sequence[Text]]) -> list[Template]:
    """Those that read what is another's come after it, or do without it; else those of most texts first."""
    support = {template: sum(text.count for text in texts) for template, texts in found.items() if texts}
    said = {template: words(template) for template in support}
    general: Counter[Template] = Counter()
    needless = set()
    for template in support:
        for other in support:
            if template is other or not all(reads(template, text.text) for text in found[other][:_FEW]):
                continue
            general[template] += 1
            same = said[template] >= said[other] and other not in general
            chance = (said[template] > 1 or template.rows) and (vague(other) or len(found[other]) < _FEW)
            if not template.literal or not (same or (chance and "\n" in found[other][0].text)):
                continue
            if all(reads(template, text.text) for text in found[other]):
                needless.add(other)
    needed = [template for template in support if template not in needless]
    return sorted(needed, key=lambda one: (general[one], -support[one], -one.literal, str(one)))
