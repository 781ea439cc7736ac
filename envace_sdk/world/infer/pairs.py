"""Arguments of which one says what a field was and another what it shall be."""

from __future__ import annotations

from collections.abc import Sequence

from .arguments import Argument
from .reading import Reading
from .terms import NEW
from .words import bag

__all__ = ["is_former", "new_and_old", "replaced_text"]

_FORMER = bag("old current existing original previous prior")
_FRAGMENTS = bag("string str text snippet fragment code block line lines content contents value substring pattern")


def new_and_old(reading: Reading) -> Sequence[tuple[Argument, Argument]]:
    """The pairs, the old first: `old_email` with `new_email`, or with `email` alone."""
    found = []
    for old in reading.arguments:
        stem = old.words[1:]
        if not stem or old.words[0] not in _FORMER:
            continue
        new = next((a for a in reading.arguments if a.words[1:] == stem and a.words[0] in NEW), None)
        new = new or next((a for a in reading.arguments if a.words == stem), None)
        if new is not None:
            found.append((old, new))
    return found


def is_former(argument: Argument, reading: Reading) -> bool:
    """Whether it only says what a field was, so that it is no field itself."""
    return argument.words[0] in _FORMER and any(argument is old for old, _ in new_and_old(reading))


def replaced_text(reading: Reading) -> tuple[Argument, Argument] | None:
    """The text that a tool looks for in another and the text it puts in its place."""
    texts = {argument.words: argument for argument in reading.required if argument.is_text}
    if ("find",) in texts and ("replace",) in texts:
        return texts[("find",)], texts[("replace",)]
    for old, new in new_and_old(reading):
        if old.is_text and new.is_text and set(old.words[1:]) <= _FRAGMENTS:
            return old, new
    return None
