"""What changes nothing that a recorded answer shows: found by calls that were made twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

__all__ = ["harmless_deeds"]

_ROUNDS = 6
_LEAST = 3


def harmless_deeds(repeated: Iterable[tuple[frozenset[str], bool]]) -> frozenset[str]:
    """The deeds after which the same call is answered as before.

    If all that was done in between is harmless but for one deed, it is that one which the answer speaks for or against.

    Args:
        repeated: for calls that were made twice, what was done in between ("" for nothing), and whether the answer
            changed.
    """
    pairs = Counter(repeated)
    found: frozenset[str] = frozenset()
    for _ in range(_ROUNDS):
        quiet: Counter[str] = Counter()
        loud: Counter[str] = Counter()
        for (between, changed), count in pairs.items():
            left = between - found - {""}
            if len(left) == 1:
                (loud if changed else quiet)[next(iter(left))] += count
        more = {deed for deed, count in quiet.items() if count >= _LEAST and not loud[deed]}
        if not more:
            break
        found |= more
    return found
