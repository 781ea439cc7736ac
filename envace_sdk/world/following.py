"""A collection that differs from another in known places, made without walking either."""

from __future__ import annotations

from collections.abc import Iterable

from .collection import Collection
from .index import Entry

__all__ = ["follow"]


def follow(start: Collection, entries: Iterable[Entry], removed: Iterable[str], next_sequence: int) -> Collection:
    """As `start`, with these entries at their places in the order of creation, and these keys remembered as removed.

    It shares with `start` all that it does not change, and is its relative: `changed_since` is cheap between the two.
    """
    changes, added, lost = start._changes.mutate(), start._added, start._lost
    put = {entry.key: entry for entry in entries}
    for key, after in (*dict.fromkeys(removed).items(), *put.items()):
        before = start.entry(key)
        changes[key] = after
        if before is not None and after is not None and before.sequence == after.sequence:
            continue
        if before is not None:
            rest = added.discard((before.sequence, key))
            lost += rest is added
            added = rest
        if after is not None:
            added = added.add((after.sequence, key))
    made = start._derive("", changes.finish(), added, lost, next_sequence)
    made._trail = ()  # many steps, none of which is known
    return made
