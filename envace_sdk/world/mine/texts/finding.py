"""Finding: templates of a sample of texts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from .classes import LineClass, classify
from .draft import Draft, Hole
from .grouping import Grouping, Text
from .layout import Layout
from .naming import finish
from .quality import letters, reads, vague
from .slot import Slot
from .template import Rows, Template
from .tokens import Line

__all__ = ["find_templates"]

_FEW: Final = 3
_WORDY: Final = 4
_FEW_LETTERS: Final = 5
_FEW_PARTS: Final = 2
"""A group of texts is taken apart where its parts have at least so many texts each, on average."""
_USUAL: Final = 0.6
"""Lines are usual that this share of the texts has."""


def find_templates(texts: Sequence[Text], several: bool, most: int) -> list[Template]:
    """Templates of texts whose lines are known; not every text need have one.

    Args:
        texts: the texts.
        several: they were seen with different things known.
        most: how many groups of texts are looked at, the largest first.
    """
    if not texts:
        return []
    classes = _classes(texts)
    grouping = Grouping(texts, classes, several)
    finder = _Finder(Layout(classes, grouping.rows), grouping)
    groups = [finder.group(group) for group in sorted(grouping.groups(), key=len, reverse=True)[:most]]
    return finder.framed(finder.listed(texts, groups))


def _classes(texts: Sequence[Text]) -> dict[Line, LineClass]:
    inner = Counter(line for text in texts if len(text.lines) > 1 for line in set(text.lines))
    fixed = frozenset(line for line, count in inner.items() if count >= _FEW and line.words >= _WORDY and line.plain)
    counts: Counter[Line] = Counter()
    for text in texts:
        counts.update(dict.fromkeys(text.lines, text.count))
    return classify(counts, frozenset(inner), fixed)


@dataclass(slots=True, eq=False)
class _Group:
    """Texts that belong together, and the templates that were found for them."""

    texts: Sequence[Text]
    templates: list[Template]

    @property
    def unclear(self) -> bool:
        """Whether the texts have no common form, or one that takes any lines."""
        return not self.templates or any(map(vague, self.templates))

    @property
    def has_rows(self) -> bool:
        return any(template.rows for template in self.templates)

    def read_by(self, template: Template) -> bool:
        return all(reads(template, text.text) for text in self.texts)


@dataclass(frozen=True, slots=True)
class _Finder:
    layout: Layout
    grouping: Grouping

    def group(self, texts: Sequence[Text]) -> _Group:
        """The template of a group, or those of its parts, where these are few and understood line by line."""
        found = self._template(texts)
        if len(texts) == 1 or (found is not None and not vague(found)):
            return _Group(texts, [] if found is None else [found])
        parts = self.grouping.parts(texts)
        if found is not None and len(parts) * _FEW_PARTS > len(texts):
            return _Group(texts, [found])
        finer = [template for part in parts if len(part) > 1 and (template := self._template(part))]
        if found is None:
            return _Group(texts, finer)
        clear = [template for template in finer if not vague(template)]
        rest = [text for text in texts if not any(reads(template, text.text) for template in clear)]
        if 2 * len(rest) >= len(texts):
            return _Group(texts, [found])
        last = self._template(rest) if rest else None
        return _Group(texts, [*clear, last if last is not None and not vague(last) else found])

    def _template(self, texts: Sequence[Text]) -> Template | None:
        return _accepted(self.layout.draft([text.lines for text in texts]), texts)

    def listed(self, texts: Sequence[Text], groups: list[_Group]) -> list[_Group]:
        """The groups, without those of texts that are better seen as lists of lines or blocks from begin to end."""
        chunks = [text.lines for text in texts if len(text.lines) > 1]
        draft = self.layout.repeated(chunks) if len(chunks) == 1 or len({len(chunk) for chunk in chunks}) > 1 else None
        if draft is None:
            return groups
        whole = finish(draft)
        covered = [group for group in groups if group.read_by(whole)]
        firm = self._firm([text for group in covered for text in group.texts])
        covered = [
            group
            for group in covered
            if group.unclear
            or all(_is_list(template, whole) for template in group.templates)
            or not (firm or group.has_rows or self._apart(group, chunks))
        ]
        lists = [text for group in covered for text in group.texts]
        if len(lists) < 2:
            return groups
        return [*(group for group in groups if group not in covered), _Group(lists, [whole])]

    def _firm(self, texts: Sequence[Text]) -> bool:
        """Whether most lines are of kinds that most of these texts have."""
        classes = self.layout.classes
        several = [[id(classes[line]) for line in text.lines] for text in texts if len(text.lines) > 1]
        frequency = Counter(one for ids in several for one in set(ids))
        usual = sum(frequency[one] >= _USUAL * len(several) for ids in several for one in ids)
        return 2 * usual >= sum(map(len, several))

    def _apart(self, group: _Group, chunks: Sequence[Sequence[Line]]) -> bool:
        """Whether these texts have lines of kinds that longer texts have not."""
        inside = {id(self.layout.classes[line]) for chunk in chunks for line in chunk}
        return any(id(self.layout.classes[line]) not in inside for text in group.texts for line in text.lines)

    def framed(self, groups: list[_Group]) -> list[Template]:
        """The templates; of texts that begin alike and go on as they like, one."""
        heads: dict[int, list[_Group]] = defaultdict(list)
        for group in groups:
            if len(group.texts[0].lines) > 1 and (group.unclear or len(group.texts) < _FEW):
                heads[id(self.layout.classes[group.texts[0].lines[0]])].append(group)
        for alike in heads.values():
            texts = [text for group in alike for text in group.texts]
            frame = self._frame(texts) if len(alike) > 1 and len(texts) >= _FEW else None
            if frame is not None and all(group.read_by(frame) for group in alike):
                firm = [group for group in alike if len(group.texts) >= _FEW]
                clear = [template for group in firm for template in group.templates if not vague(template)]
                groups = [*(group for group in groups if group not in alike), _Group(texts, [*clear, frame])]
        return [template for group in groups for template in group.templates]

    def _frame(self, texts: Sequence[Text]) -> Template | None:
        kinds = [[id(self.layout.classes[line]) for line in text.lines] for text in texts]
        head = []
        for ids in zip(*kinds, strict=False):
            if len(set(ids)) > 1 or any(one.count(ids[0]) > 1 for one in kinds):
                break
            head.append(ids[0])
        if not head:
            return None
        return _accepted(self.layout.framed([text.lines for text in texts], head), texts)


def _is_list(template: Template, whole: Template) -> bool:
    """Whether a template with rows is no more than a list that has the same lines around it.

    Lines around rows are a heading if the rows are seen more sharply without them.
    """
    return bool(template.rows) and all(
        _sharpness(rows.item) <= _sharpness(whole.rows[0].item) for rows in template.rows
    )


def _sharpness(item: Template) -> int:
    """How many signs an item always has, and how many numbers."""
    signs = sum(not char.isalnum() for part in item.parts if isinstance(part, str) for char in part.strip("\n"))
    return signs + sum(slot.kind in ("integer", "number") for slot in item.slots)


def _accepted(draft: Draft, texts: Sequence[Text]) -> Template | None:
    """The template of a draft that some of the texts have, and that is recognised by more than chance."""
    known = any(isinstance(part, Hole) and part.known for part in draft)
    if all(isinstance(part, Hole) for part in draft) and not known:
        return None
    if len(texts) == 1 and all(isinstance(part, str) for part in draft):
        return None
    template = finish(draft)
    if vague(template) and not _telling(template, known):
        return None
    return template if any(reads(template, text.text) for text in texts) else None


def _telling(template: Template, known: bool) -> bool:
    """Whether a template that takes any lines somewhere is still recognised by what is around them."""
    parts = template.parts
    blurred = any(isinstance(one, Slot) and isinstance(other, Slot) for one, other in pairwise(parts))
    ruled = isinstance(parts[0], Rows) and parts[0].separator.strip() != ""
    return not blurred and (known or ruled or letters(template) >= _FEW_LETTERS)
