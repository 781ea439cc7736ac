"""A seeded walk through a language, from its start to one of its ends."""

from __future__ import annotations

import math
from random import Random
from typing import Final, NamedTuple

from . import charset
from .charset import Charset
from .terms import Term, Terms

__all__ = ["walk"]

_STEPS: Final = 1500
_DETOURS: Final = (12, 60, math.inf)

_LOWER: Final[Charset] = ((0x61, 0x7A),)
_LOWER_AND_DIGITS: Final[Charset] = ((0x30, 0x39), (0x61, 0x7A))
_ALNUM: Final[Charset] = ((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A))
_PRINTABLE: Final[Charset] = ((0x21, 0x7E),)
_VOWELS: Final[Charset] = charset.chars("aeiou")
_CONSONANTS: Final[Charset] = charset.intersect(_LOWER, charset.complement(_VOWELS))


class _Step(NamedTuple):
    """A move as the walk sees it."""

    members: Charset
    """The characters to choose from: letters and digits where there are any."""
    size: int
    weight: int
    onward: bool
    """Whether it brings the end nearer."""
    after: Term


def _steps(terms: Terms, term: Term) -> tuple[_Step, ...]:
    if term.steps is None:
        term.steps = tuple(
            _Step(nice := _nice(members), charset.size(nice), _weight(nice), after.pull < term.pull, after)
            for members, after in terms.moves(term)
        )
    steps: tuple[_Step, ...] = term.steps  # type: ignore[assignment]
    return steps


def _nice(members: Charset) -> Charset:
    if charset.size(members) > 200 and (letters := charset.intersect(members, _LOWER)):
        return letters
    found = charset.intersect(members, _ALNUM)
    if found == _ALNUM:  # what a class spells out in full is rarely shouted
        return _LOWER_AND_DIGITS
    return found or charset.intersect(members, _PRINTABLE) or members


def _weight(members: Charset) -> int:
    return 1 + min(charset.size(charset.intersect(members, _ALNUM)), 36)


def walk(terms: Terms, start: Term, random: Random, low: int, high: float) -> str | None:
    """A text of `low` to `high` characters that leads from a term to an end; None if there is none, or none was found
    within a bounded number of steps.
    """
    if start.least > high or start.most < low:
        return None
    target = _target(start, random, low, high)
    # Most dead ends show early, so long detours are taken only when short ones lead nowhere.
    for detour in _DETOURS:
        text = _walked(terms, start, random, low, min(high, target + detour), target)
        if text is not None or target + detour >= high:
            return text
    return None


def _walked(terms: Terms, start: Term, random: Random, low: int, high: float, target: int) -> str | None:
    text: list[str] = []
    stack: list[tuple[Term, list[_Step]]] = [(start, _ordered(terms, start, target, random, low, high, 0))]
    dead: set[tuple[int, int]] = set()
    budget = _STEPS + 4 * target
    while stack:
        term, options = stack[-1]
        if term.nullable and len(text) >= low and (len(text) >= target or not options):
            return "".join(text)
        budget -= 1
        if not options or budget < 0:
            if budget < 0:
                return None
            dead.add((term.serial, len(text)))
            stack.pop()
            if text:
                text.pop()
            continue
        step = options.pop()
        if (step.after.serial, len(text) + 1) in dead:
            continue
        text.append(_char(step, random, text[-1] if text else ""))
        stack.append((step.after, _ordered(terms, step.after, target, random, low, high, len(text))))
    return None


def _target(term: Term, random: Random, low: int, high: float) -> int:
    least = max(low, int(term.least))
    most = min(high, term.most)
    room = most - least
    return least + random.randint(0, int(room) if room <= 12 else 8)


def _ordered(terms: Terms, term: Term, target: int, random: Random, low: int, high: float, used: int) -> list[_Step]:
    """The steps that may still lead to an end of the right length, the one to try first at the end."""
    steps = [
        step
        for step in _steps(terms, term)
        if used + 1 + step.after.least <= high and used + 1 + step.after.most >= low
    ]
    if len(steps) < 2:
        return steps
    stay = used + term.least < target and used + term.pull < high and random.random() < 0.7
    preferred = [step for step in steps if step.onward != stay] or steps
    pick = random.random() * sum(step.weight for step in preferred)
    chosen = preferred[-1]
    for step in preferred:
        pick -= step.weight
        if pick < 0:
            chosen = step
            break
    return [*(step for step in steps if step is not chosen), chosen]


def _char(step: _Step, random: Random, previous: str) -> str:
    members, size = step.members, step.size
    if members == _LOWER:  # words that can be spoken
        members = _CONSONANTS if previous in "aeiou" else _VOWELS
        size = 21 if previous in "aeiou" else 5
    return charset.nth(members, random.randrange(size)) if size > 1 else chr(members[0][0])
