"""Names for properties that no schema names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from ..regex import PatternError, language
from ..values.formats import FORMAT_PATTERNS
from ..values.phrases import KEYS
from .dead_ends import DeadEndError
from .keywords import STRING
from .shape import Shape

if TYPE_CHECKING:
    from .search import Search
    from .spot import Spot

__all__ = ["invented_names"]

_TRIES: Final = 60
_USUAL: Final = 24


def invented_names(search: Search, shape: Shape, spot: Spot) -> Iterator[str]:
    """Names that a further property could have, the most readable first; not all of them may be allowed."""
    closed = any(facet.said.additional and facet.said.additional.is_false for facet in shape.facets)
    patterned = [facet.said.patterns for facet in shape.facets if facet.said.patterns and not facet.silent]
    plain = not shape.names and not closed
    if plain and not patterned:
        offset = search.random.randrange(len(KEYS))
        yield from (KEYS[(offset + index) % len(KEYS)] for index in range(len(KEYS)))
    limits = _limits(search, shape)
    if limits is None:
        return
    for turn in range(_TRIES):
        chosen = [search.random.choice(options)[0] for options in patterned] if turn % 4 < 3 else []
        name = _sampled(search, limits, chosen)
        if name is not None:
            yield name
        elif not patterned:
            break
    if shape.names:
        yield from _made(search, shape, spot)
    if plain:
        yield from (f"{KEYS[turn % len(KEYS)]}_{turn}" for turn in range(shape.min_properties + _TRIES))


class _Limits(NamedTuple):
    """What propertyNames asks of a name, as far as lengths, patterns and formats go."""

    low: int
    high: float
    patterns: tuple[str, ...]
    avoided: tuple[str, ...]


def _limits(search: Search, shape: Shape) -> _Limits | None:
    """The limits on names; None if there is no name."""
    if not shape.names:
        return _Limits(1, _USUAL, (), ())
    try:
        names = search.graph.shape(tuple(shape.names))
    except DeadEndError:
        return None
    if not names.types & STRING:
        return None
    formats = tuple(FORMAT_PATTERNS[form] for form in names.formats if form in FORMAT_PATTERNS)
    most = min(names.max_length, max(_USUAL, names.min_length))
    return _Limits(names.min_length, most, (*names.patterns, *formats), tuple(names.avoided))


def _sampled(search: Search, limits: _Limits, patterns: list[str]) -> str | None:
    try:
        names = language(tuple(dict.fromkeys((*limits.patterns, *patterns))), limits.avoided)
    except PatternError:
        return None
    return names.sample(search.random, limits.low, limits.high)


def _made(search: Search, shape: Shape, spot: Spot) -> Iterator[str]:
    """Names made as any other string is: for an enum of names, and for what does not show in limits."""
    at = spot.property("", spot.scene)
    for _ in range(_TRIES // 2):
        try:
            name = search.build((*shape.names, search.graph.text), at)
        except DeadEndError:
            return
        if isinstance(name, str):
            yield name
