"""Arguments that narrow a list: the field that each is held against, and how."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import ge, gt, le, lt
from typing import Any, Final

from envace_sdk.json import Json, Unset
from envace_sdk.world.keys import get_path

from .listed import Case, Document, Pair
from .positions import walk
from .values import same

__all__ = ["learn_filters"]

_ENOUGH: Final = 2
_RIGHT: Final = 0.95
_REJECTS: Final = 0.3


def learn_filters(
    cases: Sequence[Case], listed: Sequence[Pair], others: Sequence[Pair]
) -> tuple[dict[str, dict[str, str]], list[Pair]]:
    """Learn what each argument narrows.

    Args:
        cases: the calls.
        listed: what each of them showed.
        others: what was there, and they did not show.

    Returns:
        The filters by argument, as a rule has them, and those of the others that no filter keeps out.
    """
    left = list(others)
    filters: dict[str, dict[str, str]] = {}
    arguments = dict.fromkeys(path for case in cases for path, _ in walk(dict(case.moment.step.args)))
    for argument in arguments:
        if "[]" in argument:
            continue
        shown, hidden = _given(argument, listed), _given(argument, left)
        found = _best(shown, hidden) if len(shown) + len(hidden) >= _ENOUGH else None
        if found is None:
            continue
        name, operator = found
        filters[argument] = {"field": name} if operator == "equals" else {"field": name, "op": operator}
        left = [(case, document) for case, document in left if _passes(case, document, argument, name, operator)]
    return filters, left


def _given(argument: str, pairs: Sequence[Pair]) -> list[tuple[Document, Json]]:
    """The things with what the argument said, in the calls in which it was given."""
    values = ((document, get_path(case.moment.step.args, argument)) for case, document in pairs)
    return [(document, value) for document, value in values if value is not None and not isinstance(value, Unset)]


def _best(shown: Sequence[tuple[Document, Json]], hidden: Sequence[tuple[Document, Json]]) -> tuple[str, str] | None:
    """The field and operator that hold of what was shown, and keep most of the rest out."""
    best: tuple[tuple[float, int], str, str] | None = None
    for name in dict.fromkeys(name for document, _ in [*shown, *hidden] for name in document):
        for rank, (operator, test) in enumerate(_OPERATORS.items()):
            right = [test(document[name], value) for document, value in shown if name in document]
            if not right or sum(right) < _RIGHT * len(right):
                continue
            rejected = sum(not test(document[name], value) for document, value in hidden if name in document)
            share = rejected / len(hidden) if hidden else 0.0
            if share >= _REJECTS and (best is None or (-share, rank) < best[0]):
                best = ((-share, rank), name, operator)
    return best[1:] if best is not None else None


def _passes(case: Case, document: Document, argument: str, name: str, operator: str) -> bool:
    value = get_path(case.moment.step.args, argument)
    if value is None or isinstance(value, Unset) or name not in document:
        return True
    return _OPERATORS[operator](document[name], value)


def _equals_ignoring_case(held: Json, given: Json) -> bool:
    return isinstance(held, str) and isinstance(given, str) and held.lower() == given.lower()


def _has(held: Json, given: Json) -> bool:
    return isinstance(held, list) and given in held


def _in(held: Json, given: Json) -> bool:
    return isinstance(given, list) and held in given


def _prefix(held: Json, given: Json) -> bool:
    return isinstance(held, str) and isinstance(given, str) and held.lower().startswith(given.lower())


def _contains(held: Json, given: Json) -> bool:
    return isinstance(held, str | list) and isinstance(given, str) and given.lower() in str(held).lower()


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Json, Json], bool]:
    """A comparison of numbers, or of texts; false of all else."""

    def test(held: Json, given: Json) -> bool:
        numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (held, given))
        return (numbers or (isinstance(held, str) and isinstance(given, str))) and compare(held, given)

    return test


_OPERATORS: Final[dict[str, Callable[[Json, Json], bool]]] = {
    "equals": same,
    "iequals": _equals_ignoring_case,
    "has": _has,
    "prefix": _prefix,
    "contains": _contains,
    "in": _in,
    "gte": _ordered(ge),
    "lte": _ordered(le),
    "gt": _ordered(gt),
    "lt": _ordered(lt),
}
"""As the rule language has them; of those that do equally well, the first."""
