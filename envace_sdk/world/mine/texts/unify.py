"""Unification: the form of lines that say the same, as literal text with holes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from .align import GAP, NUMBERS, align, common
from .draft import Draft, Hole, Repeat, literal_of, merged
from .embedded import style_of
from .inline import SEPARATORS, items_of, plain_items
from .padding import padded
from .tokens import BLANK, KNOWN, LIST, MARK, NUMBER, PAD, TIME, Line, lines_of

__all__ = ["unify"]

_QUOTES: Final[set[str | None]] = {"'", '"', "`"}
_ENOUGH: Final = 80
"""How many different lines settle what is common to all."""
_SEVERAL: Final = 3
"""How many different lines make it unlikely that all have the same sign, or blanks between single words, by chance."""


@dataclass(slots=True)
class _Column:
    """A place in the form: what each line has there."""

    cells: list[tuple[tuple[str, ...], tuple[int, ...]]]
    literal: str | None = None
    """What all lines have here."""

    @property
    def texts(self) -> list[str]:
        return ["".join(tokens) for tokens, _ in self.cells]

    @property
    def kind(self) -> int | None:
        """The kind of the one token that each line has here; None where that differs."""
        kinds = {kinds for _, kinds in self.cells}
        only = next(iter(kinds))
        return only[0] if len(kinds) == 1 and len(only) == 1 else None

    @property
    def single(self) -> bool:
        return all(len(tokens) == 1 for tokens, _ in self.cells)


def unify(lines: Sequence[Line]) -> Draft:
    """What these lines have in common, with a hole wherever they differ.

    A hole's values are those of the lines in order. The holes of lines that are not of the form have values too, from
    as far as the line follows it.
    """
    distinct = list(dict.fromkeys(lines))
    form = distinct[0]
    for line in distinct[1:_ENOUGH]:
        form = common(form, line)
    columns = _columns(form, lines)
    columns = _pruned(_listed(columns), len(distinct))
    draft: Draft = []
    for index, column in enumerate(columns):
        texts = column.texts
        if column.literal is not None:
            draft.append(column.literal)
        elif len(set(texts)) == 1 and column.kind not in (KNOWN, TIME, LIST):
            draft.append(texts[0])
        else:
            draft += _differing(texts, column.kind, _quoted(columns, index))
    return padded(merged(draft))


def _quoted(columns: Sequence[_Column], index: int) -> bool:
    """Whether a column stands between quotes."""
    around = {columns[at].literal for at in (index - 1, index + 1) if 0 <= at < len(columns)}
    return len(around) == 1 and around <= _QUOTES


def _differing(texts: list[str], kind: int | None, quoted: bool) -> Draft:
    """A part that differs: a list of like items, or a hole."""
    is_json, style = style_of(texts) if kind == LIST else (False, None)
    if is_json:
        return [Hole(texts, json=True, style=style)]
    bracketed = [items_of(text) for text in texts] if kind == LIST else []
    if bracketed and None not in bracketed:
        item = _item([item for items in bracketed for item in items or ()])
        return ["[", Repeat(item, ", "), "]"] if item else ["[]"] if not any(bracketed) else [Hole(texts)]
    plain = None if quoted else plain_items(texts)
    if plain is not None:
        return [Repeat([Hole([item for items in plain[1] for item in items])], plain[0])]
    return [Hole(texts, kind == KNOWN)]


def _item(texts: Sequence[str]) -> Draft | None:
    """The form of the items of a list, if they are alike."""
    if not texts or any("\n" in text for text in texts):
        return None
    draft = unify([lines_of(text, ())[0] for text in texts])
    alike = literal_of(draft).strip() or all(len(text.split()) == 1 for text in texts)
    return draft if alike and any(isinstance(part, Hole) for part in draft) else None


def _columns(form: Line, lines: Sequence[Line]) -> list[_Column]:
    """The form's tokens as columns; known tokens and gaps make columns that differ."""
    loose = {place for place, kind in enumerate(form.kinds) if kind in (GAP, NUMBERS, KNOWN, TIME, LIST)}
    fixed = [place for place in range(len(form.tokens)) if place not in loose]
    columns = [_Column([])]
    for place in fixed:
        columns += [_Column([], form.tokens[place]), _Column([])]
    for line in lines:
        found = dict(align(form, line))
        before = 0
        for index, place in enumerate(fixed):
            at = found.get(place, before - 1)
            columns[2 * index].cells.append(_cell(line, before, at))
            columns[2 * index + 1].cells.append(_cell(line, at, at + 1))
            before = max(before, at + 1)
        columns[-1].cells.append(_cell(line, before, len(line.tokens)))
    for column in columns:
        if column.literal is not None and column.kind == PAD and len(set(column.texts)) > 1:
            column.literal = None
    return [column for column in columns if any(tokens for tokens, _ in column.cells)]


def _cell(line: Line, begin: int, end: int) -> tuple[tuple[str, ...], tuple[int, ...]]:
    return line.tokens[max(begin, 0) : max(end, 0)], line.kinds[max(begin, 0) : max(end, 0)]


def _listed(columns: list[_Column]) -> list[_Column]:
    """The columns with those that are a list of words, of which all lines have some, made one."""
    signs = {separator.strip() for separator in SEPARATORS} | {""}
    index = 0
    while index < len(columns):
        end = index
        while end < len(columns) and (columns[end].literal is None or (columns[end].literal or "").strip() in signs):
            end += 1
        run = columns[index:end]
        if len(run) > 1 and run[0].literal is None:
            whole = _Column(run[0].cells)
            for column in run[1:]:
                whole = _joined(whole, column)
            if plain_items(whole.texts) is not None:
                columns = [*columns[:index], whole, *columns[end:]]
        index += 1
    return columns


def _pruned(columns: list[_Column], distinct: int) -> list[_Column]:
    """The columns without single signs and blanks between holes that are common by chance only."""
    out: list[_Column] = []
    for index, column in enumerate(columns):
        after = columns[index + 1] if index + 1 < len(columns) else None
        before = out[-1] if out else None
        if before is None or before.literal is not None or PAD in (before.kind, column.kind):
            out.append(column)
        elif column.literal is None or (
            after is not None and after.literal is None and _by_chance(before, column, after, distinct)
        ):
            out[-1] = _joined(before, column)
        else:
            out.append(column)
    return out


def _by_chance(left: _Column, sign: _Column, right: _Column, distinct: int) -> bool:
    if sign.kind not in (BLANK, MARK) or sign.literal == "\t":
        return False
    if NUMBER in (left.kind, right.kind):
        return False
    single = left.single and right.single
    return distinct < _SEVERAL or not single if sign.kind == BLANK else distinct < _SEVERAL and not single


def _joined(left: _Column, right: _Column) -> _Column:
    cells = [(a + b, c + d) for (a, c), (b, d) in zip(left.cells, right.cells, strict=True)]
    return _Column(cells)
