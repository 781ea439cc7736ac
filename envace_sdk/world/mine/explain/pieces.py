"""Texts that the scopes hold or that follow from one or two values: parts of them, names of files, numbers as text."""

from __future__ import annotations

from collections.abc import Iterator

from .collect import Collection
from .column import kind_of
from .lookups import places
from .sequences import elements_of, sequences
from .table import Table
from .term import Term
from .timing import time_texts

__all__ = ["plain_texts", "texts"]

_MOST = 160
_DIGITS = (2, 1, 3)
_LONG = 400
"""Characters of a text that is no longer taken apart at blanks and dots."""
_SEPARATORS = ("/", ".", "-", "_", ":", "@", ", ", ",", " ", "=", "#", "|", ";")


def texts(table: Table) -> list[Term]:
    """Terms whose values are texts, simplest first."""
    found: list[Term] = table.fact("texts", _texts)
    return found


def _texts(table: Table) -> list[Term]:
    found = Collection("text", _MOST)
    known = places(table)
    plain = found.extend(term for term in known if term.kind == "text")
    for term in known:
        if table.budget.spent:
            break
        if term.kind in {"number", "boolean"}:
            found.add(table.call("string", term))
        if term.kind == "number":
            found.extend(_decimals(table, term))
    if table.focus is None:
        found.extend(time_texts(table))
    joined = found.extend(_joined(table, plain))
    for term in [*plain, *joined]:
        if table.concerns(term) and not table.budget.spent:
            found.extend(_path_parts(table, term))
    for term in plain:
        if table.concerns(term) and not table.budget.spent:
            found.extend(_cases(table, term))
            found.extend(_parts(table, term))
    for term in sequences(table):
        if table.concerns(term) and not table.budget.spent and kind_of(elements_of(term)) == "text":
            found.extend(table.call(name, term) for name in ("first", "last"))
    return found.terms()


def plain_texts(table: Table) -> list[Term]:
    """Texts that are just there."""
    return [term for term in places(table) if term.kind == "text"]


def values_of(term: Term) -> list[str]:
    """The texts themselves."""
    return [value for value in term.column if isinstance(value, str)]


def _decimals(table: Table, term: Term) -> Iterator[Term]:
    for count in _DIGITS:
        digits = table.constant(count)
        if digits is not None:
            yield table.call("fixed", term, digits)


def _joined(table: Table, plain: list[Term]) -> Iterator[Term]:
    """A path relative to another one."""
    folders = [term for term in plain if _like_paths(term)][:6]
    for folder in folders:
        for name in plain[:12]:
            if name is not folder and table.concerns(folder, name) and any(len(text) < 200 for text in values_of(name)):
                yield table.call("joinpath", folder, name)
    for folder in folders:
        if table.concerns(folder):
            yield table.call("joinpath", folder)


def _like_paths(term: Term) -> bool:
    found = values_of(term)
    return sum(text.startswith(("/", "./", "../")) or "/" in text[:80] for text in found) * 2 >= len(found) > 0 and all(
        "\n" not in text for text in found
    )


def _path_parts(table: Table, term: Term) -> Iterator[Term]:
    found = values_of(term)
    if any("/" in text for text in found) and not any("\n" in text for text in found):
        base = table.call("basename", term)
        yield base
        yield table.call("dirname", term)
        if any("." in text for text in values_of(base)):
            yield from _stem(table, base)
    elif any("." in text for text in found) and max(map(len, found)) < _LONG:
        yield from _stem(table, term)


def _stem(table: Table, name: Term) -> Iterator[Term]:
    extension = table.call("extname", name)
    yield extension
    size = table.infix("-", table.call("size", name), table.call("size", extension))
    yield table.call("take", name, size)


def _cases(table: Table, term: Term) -> Iterator[Term]:
    for name in ("lowerAscii", "upperAscii", "capitalize", "trim"):
        made = table.call(name, term)
        if made.key != term.key:
            yield made


def _parts(table: Table, term: Term) -> Iterator[Term]:
    found = values_of(term)
    if max(map(len, found), default=0) > _LONG:
        return
    for separator in _SEPARATORS:
        counts = [text.count(separator) for text in found]
        if not any(counts):
            continue
        mark = table.constant(separator)
        two, zero, one = table.constant(2), table.constant(0), table.constant(1)
        if mark is None or two is None or zero is None or one is None:
            continue
        split = table.call("split", term, mark)
        yield table.element(split, zero)
        if max(counts) > 1:
            yield table.call("last", split)
            if min(counts) >= 1:
                yield table.element(table.call("split", term, mark, two), one)
        if min(counts) >= 1:
            yield table.element(split, one)
