"""What kinds of things are called, and the field that is their key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final

from envace_sdk.world.infer.words import plural, singular, split

from .links import is_idlike
from .phrasing import is_generic
from .positions import Position
from .structure import Kind, Site

__all__ = ["kind_of"]

_SAY_LITTLE: Final = frozenset({"id", "name"})
"""Keys that things of any kind have: the kind is called by what else its things are called."""


def kind_of(positions: Sequence[Position], sites: Sequence[Site], taken: Collection[str]) -> Kind:
    """The kind of the things that are named at some positions and shown at some sites.

    `taken` are the names of other kinds.
    """
    called = Counter(position.name for position in positions if position.name)
    given = Counter(position.name for position in positions if position.name and position.side == "in")
    shown = Counter(site.key for site in sites if site.key and not site.join)
    keys = {name: count + called[name] for name, count in shown.items() if not is_generic(name)} or given or called
    key = min(keys, key=lambda name: (-keys[name], name))
    noun = _noun(key, given or called)
    *before, last = noun.split() or [key]
    name = base = "_".join([*before, plural(last)])
    number = 2
    while name in taken:
        name, number = f"{base}_{number}", number + 1
    return Kind(name, noun, key, list(positions))


def _noun(key: str, called: Counter[str]) -> str:
    """`ticket` of `ticket_id`; the most usual such name says most."""
    if 2 * called[key] > called.total() and is_idlike(key) and len(split(key)) == 1 and key not in _SAY_LITTLE:
        return "item"
    usual = max(called.values(), default=0)
    for name in [key, *sorted((n for n in called if 2 * called[n] >= usual), key=lambda n: (-called[n], n))]:
        if is_generic(name):
            continue
        words = list(split(name))
        while len(words) > 1 and is_idlike(words[-1]):
            words.pop()
        words = [singular(word) for word in words]
        if words and not (len(words) == 1 and is_idlike(words[0])):
            return " ".join(words)
    return singular(key) or "thing"
