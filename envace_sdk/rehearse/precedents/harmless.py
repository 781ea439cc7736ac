"""What changes nothing that a recorded answer shows: found by calls that were made twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

__all__ = ["harmless_deeds"]

_ROUNDS = 6
_LEAST = 3
_PROOF = 8
"""How many times something must not have changed for each that it did, for that to have had another cause."""
_LEAST_ALL = 2
"""The same for a tool of which nothing speaks against any deed."""


def harmless_deeds(
    repeated: Iterable[tuple[frozenset[str], bool]], tool_of: Callable[[str], str] = lambda deed: deed
) -> frozenset[str]:
    """The deeds after which the same call is answered as before.

    If all that was done in between is harmless but for one deed, it is that one which the answer speaks for or against.

    Args:
        repeated: for calls that were made twice, what was done in between ("" for nothing), and whether the answer
            changed.
        tool_of: the tool of a deed; one tool may do several.
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
        blamed = {tool_of(deed) for deed, count in loud.items() if count * _PROOF > quiet[deed]}
        spoken: Counter[str] = Counter()
        for deed, count in quiet.items():
            spoken[tool_of(deed)] += count
        more = {
            deed
            for deed, count in quiet.items()
            if loud[deed] * _PROOF <= count
            and (count >= _LEAST or (tool_of(deed) not in blamed and spoken[tool_of(deed)] >= _LEAST_ALL))
        }
        if not more:
            break
        found |= more
    return found
