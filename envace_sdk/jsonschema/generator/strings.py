"""Strings: by format, name, description and examples; by pattern where there is one."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ..regex import PatternError, language, matcher
from ..values import phrases
from ..values.concepts import concept, quantity
from ..values.described import alike, described_form, described_values
from ..values.field import Field
from ..values.formats import FORMAT_PATTERNS, format_text, has_format
from ..values.texts import text_for, text_of_number
from ..values.timeline import render
from .dead_ends import DeadEndError
from .shape import Shape

if TYPE_CHECKING:
    from .search import Search
    from .spot import Spot

__all__ = ["make"]

# What an object has in common with itself: here the name of the field says more than an author's example.
_SHARED: Final = frozenset(
    {"first name", "last name", "full name", "username", "email", "phone", "person", "city", "state", "country",
     "country code", "postal code", "street", "address", "company", "currency", "date", "instant", "time", "uuid"}
)  # fmt: skip
_DATES: Final = frozenset({"date", "instant", "time"})


def make(search: Search, shape: Shape, spot: Spot) -> str:
    """A string of the shape.

    Raises:
        DeadEndError: there is none, or none was found.
    """
    for text in _candidates(search, shape, spot):
        if _fits(shape, text):
            return text
    raise DeadEndError("no string meets its lengths, patterns and formats together", spot.pointer)


def _fits(shape: Shape, text: str) -> bool:
    if not shape.min_length <= len(text) <= shape.max_length:
        return False
    if not all(matcher(pattern)(text) for pattern in shape.patterns):
        return False
    if any(matcher(pattern)(text) for pattern in shape.avoided):
        return False
    return all(has_format(form, text) for form in shape.formats) and text not in shape.excluded


def _candidates(search: Search, shape: Shape, spot: Spot) -> Iterator[str]:
    field, form = Field(spot.name, spot.scene), shape.formats[0] if shape.formats else ""
    if shape.media_type or shape.encoding:
        yield _content(shape, field)
    yield from _exemplary(search, shape, spot)
    for _ in range(3):
        yield from _natural(shape, field, form)
    if shape.patterns or shape.avoided or form in FORMAT_PATTERNS:
        yield from _sampled(search, shape)
    if not shape.patterns:
        text = next(iter(_natural(shape, field, form)), "") or phrases.label(search.random)
        yield _fitted(search, shape, text)
    for turn in range(8):
        yield _fitted(search, shape, f"{phrases.word(search.random)}{search.random.randrange(10**turn)}")


def _exemplary(search: Search, shape: Shape, spot: Spot) -> Iterator[str]:
    """Like the examples that the schema gives, where the name of the field does not say more."""
    if concept(spot.name) in _SHARED:
        return
    given = [example for example in shape.examples if isinstance(example, str)]
    given = given or list(described_values(shape.description) if shape.description else ())
    if given:
        yield alike(search.random.choice(given), search.random)
        yield search.random.choice(given)


def _natural(shape: Shape, field: Field, form: str) -> Iterator[str]:
    """What the format asks for, then what the field is about."""
    if form and (found := format_text(field, form)) is not None:
        yield found
    about = concept(field.name)
    written = described_form(shape.description) if shape.description else ""
    if written and (about in _DATES or not about):
        yield render(field.instant, written)
    if (found := text_for(field)) is not None:
        yield found
    elif quantity(field.name) == "instant":
        yield render(field.instant, "date-time")
    elif (found := text_of_number(field)) is not None:
        yield found
    else:
        yield _unnamed(field)


def _unnamed(field: Field) -> str:
    """Something to be read where the name of the field is not known: "Gate 12"."""
    called = " ".join(field.words[:3])
    return f"{called.capitalize()} {field.random.randint(1, 40)}" if called else phrases.label(field.random)


def _sampled(search: Search, shape: Shape) -> Iterator[str]:
    """Texts that match everything at once."""
    formats = tuple(FORMAT_PATTERNS[form] for form in shape.formats if form in FORMAT_PATTERNS)
    try:
        texts = language((*shape.patterns, *formats), tuple(shape.avoided))
    except PatternError:
        return
    for _ in range(12):
        text = texts.sample(search.random, shape.min_length, shape.max_length)
        if text is None:
            return
        yield text


def _content(shape: Shape, field: Field) -> str:
    text = phrases.sentence(field.random)
    if "json" in shape.media_type:
        text = json.dumps({"note": text})
    return base64.b64encode(text.encode()).decode() if shape.encoding.lower() == "base64" else text


def _fitted(search: Search, shape: Shape, text: str) -> str:
    """A text cut or drawn out to length."""
    if len(text) > shape.max_length:
        return text[: int(shape.max_length)].rstrip(" .-_") or text[: int(shape.max_length)]
    parts, size = [text], len(text)
    while size < shape.min_length:
        more = phrases.sentence(search.random) if shape.min_length - size > 40 else phrases.word(search.random)
        parts.append(more)
        size += len(more) + 1
    text = " ".join(parts)
    room = shape.max_length if shape.max_length < math.inf else max(len(text), shape.min_length)
    return text[: int(room)] if len(text) > room else text
