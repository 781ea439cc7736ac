"""Mining: the fewest templates that read a tool's texts and write them back."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from envace_sdk.json import Json

from .classes import LineClass, classify, shape
from .draft import Draft, Hole, merged
from .layout import Layout
from .naming import finish
from .template import Template
from .tokens import Line, known_texts, lines_of
from .unify import unify

__all__ = ["TextCase", "mine_texts"]

_SAMPLE: Final = 240
_ROUNDS: Final = 6
_LONGEST: Final = 20_000
_ALIKE: Final = 0.6


@dataclass(frozen=True, slots=True)
class TextCase:
    """A text, and what was known before it was seen: arguments and the like, by any names.

    A part of the text that equals a known value is a slot even if the text was seen once.
    """

    text: str
    known: Mapping[str, Json] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class _Text:
    """A distinct text with its lines."""

    text: str
    lines: list[Line]
    origins: set[tuple[str, ...]]
    count: int = 1


def mine_texts(cases: Sequence[TextCase]) -> list[Template]:
    """The fewest templates that parse almost all of these texts, and render them back exactly.

    In the order in which they should be tried: those that most texts have first, but one that would read anything
    (a text that is free from begin to end) last. Deterministic.
    """
    left = _distinct(cases)
    several = len({origin for text in left for origin in text.origins}) > 1
    found: dict[Template, int] = {}
    for _ in range(_ROUNDS):
        mined = _mine(_sample(left), several)
        fresh = [template for template in mined if template not in found]
        if not fresh:
            break
        left, support = _unread(left, fresh)
        for template in fresh:
            if support[template]:
                found[template] = support[template]
        if not left:
            break
    for template, count in _leftovers(left):
        found[template] = found.get(template, 0) + count
    return sorted(found, key=lambda one: (one.literal == 0, -found[one], -one.literal))


def _distinct(cases: Sequence[TextCase]) -> list[_Text]:
    texts: dict[str, _Text] = {}
    for case in cases:
        known = known_texts(case.known)
        same = texts.get(case.text)
        if same is None:
            texts[case.text] = _Text(case.text, lines_of(case.text, known), {known})
        else:
            same.count += 1
            same.origins.add(known)
    return list(texts.values())


def _sample(texts: Sequence[_Text]) -> list[_Text]:
    usable = [text for text in texts if len(text.text) <= _LONGEST] or list(texts)
    if len(usable) <= _SAMPLE:
        return usable
    return [usable[index * len(usable) // _SAMPLE] for index in range(_SAMPLE)]


def _unread(texts: Sequence[_Text], templates: Sequence[Template]) -> tuple[list[_Text], Counter[Template]]:
    ordered = sorted(templates, key=lambda one: one.literal == 0)
    support: Counter[Template] = Counter()
    left = []
    for text in texts:
        for template in ordered:
            if _reads(template, text.text):
                support[template] += text.count
                break
        else:
            left.append(text)
    return left, support


def _reads(template: Template, text: str) -> bool:
    values = template.parse(text)
    return values is not None and template.render(values) == text


def _mine(texts: Sequence[_Text], several: bool) -> list[Template]:
    """Templates of groups of alike texts."""
    labelled = frozenset(line for text in texts if len(text.lines) > 1 for line in text.lines)
    classes = classify((line for text in texts for line in text.lines), labelled)
    grouping = _Grouping(texts, classes, several)
    layout = Layout(classes, grouping.rows)
    templates = []
    for group in grouping.groups():
        templates += _templates(group, layout)
    return templates


def _templates(group: Sequence[_Text], layout: Layout, split: bool = True) -> list[Template]:
    draft = layout.draft([text.lines for text in group])
    if draft is not None and not _free(draft) and (len(group) > 1 or _holds(draft)):
        template = finish(draft)
        unread = [text for text in group if not _reads(template, text.text)]
        if len(unread) < len(group):
            return [template]
    if not split or len(group) == 1:
        return []
    finer: dict[tuple[int, ...], list[_Text]] = defaultdict(list)
    for text in group:
        finer[tuple(id(layout.classes[line]) for line in text.lines)].append(text)
    return [found for part in finer.values() if len(part) > 1 for found in _templates(part, layout, False)]


def _holds(draft: Draft) -> bool:
    return any(not isinstance(part, str) for part in draft)


def _free(draft: Draft) -> bool:
    return all(isinstance(part, Hole) and not part.known for part in draft)


class _Grouping:
    """Puts texts together that have the same lines in the same order."""

    def __init__(self, texts: Sequence[_Text], classes: Mapping[Line, LineClass], several: bool) -> None:
        self._texts = texts
        self._classes = classes
        origins: dict[int, set[object]] = defaultdict(set)
        rows: set[int] = set()
        for text in texts:
            counts = Counter(id(classes[line]) for line in text.lines)
            for one, count in counts.items():
                origins[one] |= text.origins if several else {text.text}
                if count > 1:
                    rows.add(one)
        self._stable = {one for one, found in origins.items() if len(found) > 1}
        self.rows = frozenset(self._with_mates(rows))

    def _with_mates(self, rows: set[int]) -> set[int]:
        """The classes of which a text has several lines, and those of the same shape beside them."""
        shapes = {id(found): shape(found.members[0]) for found in self._classes.values()}
        rows = {one for one in rows if len(shapes[one]) > 1 or shapes[one] == ("w",)}
        mates = set(rows)
        for text in self._texts:
            ids = [id(self._classes[line]) for line in text.lines]
            for before, after in pairwise(ids):
                if shapes[before] == shapes[after] and not mates.isdisjoint((before, after)):
                    mates |= {before, after}
        return mates

    def groups(self) -> list[list[_Text]]:
        """Groups of texts; a text that is like no other is a group by itself."""
        exact: dict[tuple[int, ...], list[_Text]] = defaultdict(list)
        alone: list[list[_Text]] = []
        for text in self._texts:
            signature = self._signature(text)
            if signature:
                exact[signature].append(text)
            else:
                alone.append([text])
        merged: list[tuple[tuple[int, ...], list[_Text]]] = []
        weights = {id(found): found.words for found in self._classes.values()}
        for signature, texts in sorted(exact.items(), key=lambda one: -len(one[1])):
            for index, (other, members) in enumerate(merged):
                both = _common(other, signature)
                weight = sum(weights.get(one, 0) for one in both)
                most = max(sum(weights.get(one, 0) for one in each) for each in (other, signature))
                if most and weight > _ALIKE * most:
                    merged[index] = (both, members + texts)
                    break
            else:
                merged.append((signature, texts))
        return [members for _, members in merged] + alone

    def _signature(self, text: _Text) -> tuple[int, ...]:
        ids = [id(self._classes[line]) for line in text.lines]
        if len(ids) == 1 and ids[0] not in self.rows:
            return (ids[0],)
        anchors = tuple(
            one
            for one, line in zip(ids, text.lines, strict=True)
            if one in self._stable and one not in self.rows and self._classes[line].words
        )
        if anchors:
            return anchors
        return (-1,) if not self.rows.isdisjoint(ids) else ()


def _common(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
    table: list[list[tuple[int, ...]]] = [[()] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i, one in enumerate(left):
        for j, other in enumerate(right):
            table[i + 1][j + 1] = (
                (*table[i][j], one) if one == other else max(table[i][j + 1], table[i + 1][j], key=len)
            )
    return table[-1][-1]


def _leftovers(texts: Sequence[_Text]) -> list[tuple[Template, int]]:
    """Texts like no other: each a template of its own, or all of them free text where there are many."""
    if not texts:
        return []
    messages = [text for text in texts if _message(text)]
    several = len(texts) > 1
    if several and (len(messages) * 2 < len(texts) or len(messages) > 8):
        return [(finish([Hole([text.text for text in texts])]), sum(text.count for text in texts))]
    out = []
    for text in texts:
        draft: Draft = []
        for line in text.lines:
            draft += ["\n"] * (line is not text.lines[0]) + unify([line])
        out.append((finish(merged(draft)), text.count))
    return out


def _message(text: _Text) -> bool:
    return len(text.lines) == 1 and text.lines[0].words >= 2 and text.text[:1].isalpha()
