"""Mining: the fewest templates that read a tool's texts and write them back."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from envace_sdk.json import Json

from .classes import classify
from .draft import Draft, Hole, merged
from .grouping import Grouping, Text
from .layout import Layout
from .likeness import label
from .naming import finish
from .slot import Slot
from .template import Rows, Template
from .tokens import KNOWN, VALUE, WORD, Line, known_texts, lines_of, words_of
from .unify import unify

__all__ = ["TextCase", "mine_texts"]

_SAMPLE: Final = 240
_SAMPLE_LINES: Final = 1_200
_ROUNDS: Final = 6
_WORTHWHILE: Final = 0.95
"""Texts are looked at again as long as no more than this share of them stays unread."""
_MOST: Final = 40
"""How many templates are plenty for one tool."""
_LONGEST: Final = 20_000
_MANY: Final = 8
_FEW: Final = 3
_WORDY: Final = 4
_FEW_LETTERS: Final = 8
_FEW_PARTS: Final = 2
_WORDS: Final = re.compile(r"[^\W\d_]+")


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
        mined = [one for one in _mine(_sample(left), several) if one not in found]
        before, (left, read) = len(left), _assigned(left, mined)
        found |= read
        if len(left) > _WORTHWHILE * before or len(found) > _MOST or not left:
            break
    for template, those in _labelled(_sample(left)):
        found[template] = those
        left = [text for text in left if text not in those]
    if _is_free(left, several):
        found, left = _absorbed(found, left)
        everything = finish([Hole([text.text for text in left])])
        found[everything] = list(left)
    else:
        _look_at(left)
        counts = Counter(word for text in texts for word in words_of([text.text])) if left else Counter()
        common = {word for word, count in counts.items() if count > 1}
        found |= {_single(text, common): [text] for text in left}
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
    step = max(1, -(-len(usable) // _SAMPLE))
    sample: list[Text] = []
    lines = 0
    for text in (usable[index] for start in range(step) for index in range(start, len(usable), step)):
        lines += text.text.count("\n") + 1
        if sample and (len(sample) >= _SAMPLE or lines > _SAMPLE_LINES):
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
    read: dict[Template, list[Text]] = {template: [] for template in sorted(templates, key=lambda one: -_words(one))}
    left: list[Text] = []
    for text in texts:
        first = next((template for template in read if _reads(template, text.text)), None)
        (left if first is None else read[first]).append(text)
    return left, read


def _words(template: Template) -> int:
    """How many words the template always has."""
    count = sum(len(_WORDS.findall(part)) for part in template.parts if isinstance(part, str))
    return count + sum(_words(rows.item) for rows in template.rows)


def _reads(template: Template, text: str) -> bool:
    values = template.parse(text)
    return values is not None and template.render(values) == text


def _mine(texts: Sequence[Text], several: bool) -> list[Template]:
    """Templates of groups of alike texts."""
    if not texts:
        return []
    inner = Counter(line for text in texts if len(text.lines) > 1 for line in set(text.lines))
    fixed = frozenset(line for line, count in inner.items() if count >= _FEW and line.words >= _WORDY and line.plain)
    counts: Counter[Line] = Counter()
    for text in texts:
        counts.update(dict.fromkeys(text.lines, text.count))
    classes = classify(counts, frozenset(inner), fixed)
    grouping = Grouping(texts, classes, several)
    layout = Layout(classes, grouping.rows)
    largest = sorted(grouping.groups(), key=len, reverse=True)[:_MOST]
    groups = [_Mined(group, _templates(group, layout, grouping)) for group in largest]
    templates = [template for group in groups for template in group.templates]
    whole = _whole(texts, layout)
    if whole is not None:
        poor = [
            group for group in groups if group.poor(whole) and all(_reads(whole, text.text) for text in group.texts)
        ]
        if sum(len(group.texts) for group in poor) > 1:
            kept = [template for group in groups if group not in poor for template in group.templates]
            return [*kept, whole]
    return templates


@dataclass(slots=True, eq=False)
class _Mined:
    texts: Sequence[Text]
    templates: list[Template]

    def poor(self, whole: Template) -> bool:
        """Whether the texts have no common form, or one that only has more of the same around such a list."""
        if len(self.templates) != 1 or _vague(self.templates[0]):
            return True
        forms = {_form(rows.item) for rows in self.templates[0].rows}
        return any(_form(rows.item) in forms for rows in whole.rows)


def _form(template: Template) -> tuple[str, ...]:
    """What a template looks like, whatever its slots are called."""
    return tuple(
        part if isinstance(part, str) else f"{{{part.kind}}}" for part in template.parts if not isinstance(part, Rows)
    )


def _vague(template: Template) -> bool:
    """Whether the template takes any lines somewhere."""
    return any(slot.kind == "lines" for slot in template.slots) or any(_vague(rows.item) for rows in template.rows)


def _telling(template: Template) -> bool:
    """Whether a template that takes any lines somewhere is still recognised by what is around them."""
    parts = template.parts
    blurred = any(isinstance(one, Slot) and isinstance(other, Slot) for one, other in pairwise(parts))
    known = isinstance(parts[0], Rows) and parts[0].separator.strip() != ""
    return not blurred and (known or _letters(template) >= _FEW_LETTERS)


def _letters(template: Template) -> int:
    """How many letters the words that the template always has are long."""
    count = sum(map(len, _WORDS.findall("\n".join(part for part in template.parts if isinstance(part, str)))))
    return count + sum(_letters(rows.item) for rows in template.rows)


def _whole(texts: Sequence[Text], layout: Layout) -> Template | None:
    """The template of texts that are lists, or lists of blocks, from begin to end."""
    chunks = [text.lines for text in texts if len(text.lines) > 1]
    if len(chunks) != 1 and len({len(chunk) for chunk in chunks}) < 2:
        return None
    draft = layout.repeated(chunks)
    return None if draft is None else finish(draft)


def _templates(group: Sequence[Text], layout: Layout, grouping: Grouping) -> list[Template]:
    """The template of a group, or those of its parts, where these are few and understood line by line."""
    found = _template(group, layout)
    if len(group) == 1 or (found is not None and not _vague(found)):
        return [] if found is None else [found]
    parts = grouping.parts(group)
    if found is None or len(parts) * _FEW_PARTS <= len(group):
        finer = [template for part in parts if len(part) > 1 and (template := _template(part, layout))]
        clear = [template for template in finer if not _vague(template)]
        if found is None:
            return finer
        rest = [text for text in group if not any(_reads(template, text.text) for template in clear)]
        if 2 * len(rest) < len(group):
            last = _template(rest, layout) if rest else None
            return [*clear, last if last is not None and not _vague(last) else found]
    return [found]


def _template(group: Sequence[Text], layout: Layout) -> Template | None:
    draft = layout.draft([text.lines for text in group])
    if _free(draft) or (len(group) == 1 and all(isinstance(part, str) for part in draft)):
        return None
    template = finish(draft)
    if _vague(template) and not _telling(template):
        return None
    return template if any(_reads(template, text.text) for text in group) else None


def _free(draft: Draft) -> bool:
    return all(isinstance(part, Hole) and not part.known for part in draft)


def _labelled(texts: Sequence[Text]) -> list[tuple[Template, list[Text]]]:
    """Texts that are a label ("Tags: ") and a value or a list of values."""
    groups: dict[tuple[str, ...], list[Text]] = defaultdict(list)
    for text in texts:
        if len(text.lines) == 1:
            start = label(text.lines[0])
            if start and _value_like(text.lines[0], len(start)):
                groups[start].append(text)
    out = []
    for group in groups.values():
        template = finish(unify([text.lines[0] for text in group])) if len(group) > 1 else None
        if template is not None:
            out.append((template, [text for text in group if _reads(template, text.text)]))
    return out


def _value_like(line: Line, begin: int) -> bool:
    """Whether what follows is a value, or values with commas between them, and no sentence."""
    rest = "".join(line.tokens[begin:]).strip()
    return all(len(item.split()) == 1 for item in rest.split(", "))


def _is_free(texts: Sequence[Text], several: bool) -> bool:
    """Whether texts that are like no other are free text, rather than messages each of which was seen once."""
    if not texts:
        return False
    messages = sum(map(_message, texts))
    if len(texts) == 1:
        return several and not messages and "\n" in texts[0].text and len(texts[0].origins) == 1
    return 2 * messages < len(texts) or messages > _MANY


def _message(one: Text) -> bool:
    text = one.text[:_LONGEST]
    return "\n" not in text and text[:1].isalpha() and len(_WORDS.findall(text)) > 1


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


def _absorbed(
    found: Mapping[Template, list[Text]], left: Sequence[Text]
) -> tuple[dict[Template, list[Text]], list[Text]]:
    """Without the templates of texts that are alike only because free texts sometimes are."""
    kept: dict[Template, list[Text]] = {}
    free = list(left)
    for template, texts in found.items():
        chance = len(texts) < len(left) and not all(_message(text) for text in texts)
        if chance and not any(KNOWN in line.kinds for text in _sample(texts) for line in text.lines):
            free += texts
        else:
            kept[template] = texts
    return kept, free


def _ordered(found: Mapping[Template, Sequence[Text]]) -> list[Template]:
    """Those that read what is another's come after it; else those of most texts first."""
    support = {template: sum(text.count for text in texts) for template, texts in found.items() if texts}
    words = {template: _words(template) for template in support}
    general: Counter[Template] = Counter()
    needless = set()
    for template in support:
        for other in support:
            if template is not other and all(_reads(template, text.text) for text in found[other][:3]):
                general[template] += 1
                same = words[template] >= words[other] and other not in general
                chance = (words[template] > 1 or template.rows) and (_vague(other) or len(found[other]) < _FEW)
                if not template.literal or not (same or (chance and "\n" in found[other][0].text)):
                    continue
                if all(_reads(template, text.text) for text in found[other]):
                    needless.add(other)
    return sorted(support.keys() - needless, key=lambda one: (general[one], -support[one], -one.literal, str(one)))
