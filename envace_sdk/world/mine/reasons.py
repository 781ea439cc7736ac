"""The simplest expression that a number of cases suffices to believe."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from envace_sdk.json import UNSET

from .evaluating import evaluate
from .explain import Example, Explainer, Explanation
from .values import same

__all__ = ["Reason", "reason_for", "reason_where_known"]

_LOOKED_AT: Final = 24
"""Cases from which expressions are made; they are tried on all."""
_WORTH: Final = 2.0
"""How much of an expression one case is worth."""
_TOLERANCE: Final = 0.06
_ENOUGH: Final = 2
_MANY: Final = 12
"""With fewer cases, all must be explained."""
_SIMPLER: Final = 0.6
"""What misses some cases must be so much cheaper than what explains all."""
_SIMPLE: Final = 6
"""Nothing simpler is looked for than what costs so much."""
_LIMIT: Final = 5
"""Explanations that are tried."""
_KEPT: Final = 2000
_FIELDS: Final = 4
"""Known fields that are looked at."""


@dataclass(frozen=True, slots=True)
class Reason:
    """An expression that gives what was seen."""

    source: str
    cost: int
    hits: int
    """How many of the cases it explains."""
    misses: int


def reason_for(
    examples: Sequence[Example],
    *,
    refuted: Collection[str] = (),
    least: int = _ENOUGH,
    tolerance: float = _TOLERANCE,
    lenient: bool = True,
) -> Reason | None:
    """The expression that explains the examples, or all but a few where that is much simpler; None: nothing does.

    Args:
        examples: the cases.
        refuted: expressions that it is not.
        least: it must explain so many.
        tolerance: the share of the cases that it may miss.
        lenient: whether it is looked for among those that miss some of the cases that are looked at.
    """
    if len(examples) < least:
        return None
    asked = _Asked(_spread(examples))
    strict = _first(asked.explained(0.0), examples, refuted, least, tolerance)
    if (strict is not None and strict.cost <= _SIMPLE) or len(examples) < _MANY or not lenient:
        return strict
    loose = _first(asked.explained(tolerance), examples, refuted, least, tolerance)
    if strict is None or (loose is not None and loose.cost < _SIMPLER * strict.cost):
        return loose
    return strict


_KNOWN: OrderedDict[tuple[bytes, float], list[Explanation]] = OrderedDict()


class _Asked:
    """What explains some examples; the last answers are kept, for each round of learning asks much the same again."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self._targets = [example.target for example in examples]
        self._scopes = [example.scope for example in examples]
        text = repr([(example.scope, example.target) for example in examples])
        self._digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        self._explainer: Explainer | None = None

    def explained(self, tolerance: float) -> list[Explanation]:
        """The explanations, where so much may be missed."""
        key = (self._digest, tolerance)
        found = _KNOWN.get(key)
        if found is None:
            self._explainer = self._explainer or Explainer(self._scopes)
            found = _KNOWN[key] = self._explainer.explain(self._targets, limit=_LIMIT, tolerance=tolerance)
            if len(_KNOWN) > _KEPT:
                _KNOWN.popitem(last=False)
        return found


def reason_where_known(examples: Sequence[Example], *, least: int = _ENOUGH) -> Reason | None:
    """As `reason_for`; where nothing explains all, among those in which some field of a thing is known.

    Of things that were never looked at, little is known: what an answer is made of may be missing in most cases.
    """
    found = reason_for(examples, least=least)
    if found is not None and found.cost > 1:
        return found
    known: dict[tuple[str, str], list[Example]] = {}
    for example in examples:
        for name, held in example.scope.items():
            if name != "args" and isinstance(held, Mapping):
                for field in held:
                    known.setdefault((name, field), []).append(example)
    best = found
    for name, field in sorted(known, key=lambda place: (-len(known[place]), place))[:_FIELDS]:
        cases = known[name, field]
        if _ENOUGH < len(cases) < len(examples) or best is None:
            one = reason_for(cases, least=max(least, _ENOUGH + 1), lenient=False)
            if one is not None and field in one.source and (best is None or one.hits > best.hits):
                best = one
    return best


def _first(
    found: Sequence[Explanation], examples: Sequence[Example], refuted: Collection[str], least: int, tolerance: float
) -> Reason | None:
    """The first that suffices on all examples, and was not refuted by what was seen later."""
    for one in found:
        if one.source in refuted:
            continue
        hits = sum(_fits(one.source, example) for example in examples)
        misses = len(examples) - hits
        if hits >= max(least, one.cost / _WORTH) and misses <= tolerance * len(examples):
            return Reason(one.source, one.cost, hits, misses)
    return None


def _fits(source: str, example: Example) -> bool:
    value = evaluate(source, example.scope)
    return value is UNSET if example.target is UNSET else value is not UNSET and same(value, example.target)


def _spread(examples: Sequence[Example]) -> list[Example]:
    """Evenly spaced ones, but those with different targets first."""
    if len(examples) <= _LOOKED_AT:
        return list(examples)
    chosen: dict[int, None] = {}
    seen: set[str] = set()
    for place, example in enumerate(examples):
        text = repr(example.target)
        if text not in seen and len(chosen) < _LOOKED_AT * 2 // 3:
            seen.add(text)
            chosen[place] = None
    step = len(examples) / (_LOOKED_AT - len(chosen))
    for number in range(_LOOKED_AT - len(chosen)):
        chosen[int(number * step)] = None
    return [examples[place] for place in sorted(chosen)]
