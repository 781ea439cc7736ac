"""The `mint` of a collection: literal text around one place for what is new in each key."""

from __future__ import annotations

import re
from functools import lru_cache
from uuid import UUID

from .keyshape import Numbered, Scattered, Shape, alphabet

__all__ = ["template_shape"]

_PLACE = re.compile(r"\{(n|int|hex|alnum|uuid)(?::(\d{1,3}))?\}", re.ASCII)


@lru_cache(maxsize=1024)
def template_shape(text: str, *, integer: bool = False) -> Shape:
    """The shape of keys that a template asks for; `integer`: a bare `{n}` is a JSON integer.

    Raises:
        ValueError: it is no template.
    """
    places = list(_PLACE.finditer(text))
    if len(places) != 1:
        raise ValueError(
            f"mint {text!r}: expected one of {{n}}, {{n:05}}, {{int}}, {{hex:8}}, {{alnum:6}}, {{uuid}} in it, once"
        )
    kind, size = places[0].groups()
    before, after = text[: places[0].start()], text[places[0].end() :]
    if kind == "int":
        if text != "{int}":
            raise ValueError(f"mint {text!r}: {{int}} stands alone, since no text can stand around a number")
        return Numbered("", 0, "", integer=True)
    if kind == "n":
        return Numbered(before, int(size or 0), after, integer=integer and text == "{n}")
    if kind == "uuid":
        return Scattered(lambda random: f"{before}{UUID(int=random.getrandbits(128), version=4)}{after}")
    letters, length = alphabet(kind), int(size or 8)
    return Scattered(lambda random: before + "".join(random.choices(letters, k=length)) + after)
