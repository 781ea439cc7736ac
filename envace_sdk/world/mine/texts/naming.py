"""From drafts to templates: the names and kinds of slots."""

from __future__ import annotations

import re
from typing import Final

from .draft import Draft, Hole, Repeat
from .slot import INTEGER, NUMBER, Kind, Slot, value_of
from .template import Part, Rows, Template

__all__ = ["finish"]

_LABEL: Final = re.compile(r"(?:^|[^\w\s] ?|\n\s*)([^\W\d]\w*(?:[ _-][^\W\d]\w*){0,1})[^\w\n]{0,4}[:=][^\w\n]*$")
_ASSIGNED: Final = re.compile(r"\b([^\W\d]\w*)=[^\w\s]?$")
_NOUN: Final = re.compile(r" ([^\W\d]+s)\b")
_FEW_MARKS: Final = 4
_LONGEST_MARK: Final = 2
_VERBS: Final = frozenset({"is", "was", "has", "does", "exists"})
_NOT_A_NAME: Final = re.compile(r"[^a-z0-9]+")


def finish(draft: Draft) -> Template:
    """The template of a draft. Slots are named by the label before them, else by their number."""
    return _Namer().template(draft)


class _Namer:
    def __init__(self) -> None:
        self._taken: set[str] = set()

    def template(self, draft: Draft, item: bool = False) -> Template:
        parts: list[Part] = []
        alone = len(draft) == 1
        for index, part in enumerate(draft):
            before = draft[index - 1] if index else ""
            after = draft[index + 1] if index + 1 < len(draft) else ""
            if isinstance(part, str):
                parts.append(part)
            elif isinstance(part, Hole):
                parts.append(self._slot(part, before, after, alone and item))
            else:
                name = self._name(_label(before) if isinstance(before, str) else "", "rows")
                parts.append(Rows(name, _Namer().template(part.item, item=True), part.separator))
        return Template(tuple(parts))

    def _slot(self, hole: Hole, before: str | Hole | Repeat, after: str | Hole | Repeat, bare: bool) -> Slot:
        kind = _kind(hole, before, after, bare)
        name = _label(before) if isinstance(before, str) else ""
        if not name and kind == "integer" and isinstance(after, str):
            found = _NOUN.match(after)
            name = _as_name(found.group(1)) if found and found.group(1) not in _VERBS else ""
        if hole.width and kind not in ("integer", "number"):
            kind = "text"
        options = tuple(sorted(set(hole.values))) if kind == "choice" else ()
        return Slot(self._name(name, "slot"), kind, options, hole.width, hole.style)

    def _name(self, wanted: str, otherwise: str) -> str:
        number = 1
        name = wanted or f"{otherwise}1"
        while name in self._taken:
            number += 1
            name = f"{wanted or otherwise}{'_' if wanted else ''}{number}"
        self._taken.add(name)
        return name


def _label(before: str) -> str:
    found = _LABEL.search(before[-80:]) or _ASSIGNED.search(before[-80:])
    return _as_name(found.group(1)) if found else ""


def _as_name(label: str) -> str:
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", label)
    name = _NOT_A_NAME.sub("_", split.lower()).strip("_")
    return name if name[:1].isalpha() else ""


def _kind(hole: Hole, before: str | Hole | Repeat, after: str | Hole | Repeat, bare: bool) -> Kind:
    if hole.json:
        return "json"
    values = set(hole.values)
    if any("\n" in value for value in values):
        return "lines"
    if all(INTEGER.fullmatch(value) and isinstance(value_of(value, "integer"), int) for value in values):
        return "integer"
    if all(NUMBER.fullmatch(value) and not isinstance(value_of(value, "number"), str) for value in values):
        return "number"
    if all(value.isspace() for value in values):
        return "space"
    if len(values) <= _FEW_MARKS and all(_mark(value) for value in values):
        return "choice"
    solid = all(value and not any(char.isspace() for char in value) for value in values)
    if solid and not hole.known and (bare or _column(after) or (before == "" and after != "")):
        return "word"
    return "text"


def _mark(value: str) -> bool:
    return len(value) <= _LONGEST_MARK and not any(char.isalnum() for char in value)


def _column(after: str | Hole | Repeat) -> bool:
    """Whether nothing but blanks ends the slot."""
    return isinstance(after, Hole) or (isinstance(after, str) and after.isspace() and "\n" not in after)
