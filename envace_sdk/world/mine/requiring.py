"""What a tool requires of a call, in the order in which it is asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from .effects import Existence
from .failures import Failure
from .learned import Learned
from .refused import not_refused
from .sources import arguments_in, negated
from .wording import error_template, status_of

__all__ = ["requirements"]

_SURE: Final = 0.75


@dataclass(frozen=True, slots=True)
class _Requirement:
    that: str
    failure: Failure

    def written(self, learned: Learned) -> dict[str, Any]:
        moments = [moment for moment in learned.moments if moment.failure is self.failure]
        error, status = error_template(self.failure, moments), status_of(self.failure.text)
        if all(moment.step.is_declined for moment in moments):
            return {"that": self.that, "error": error, "status": "success"}
        return {"that": self.that, "error": error, "status": status}


@dataclass(frozen=True, slots=True)
class _Presence:
    """That a thing must be there, or must not."""

    name: str
    there: bool
    failure: Failure


def requirements(learned: Learned, existence: Existence) -> list[dict[str, Any]]:
    """What is required of the arguments and of the things that a call names."""
    found = list(_decided(learned))
    for presence in _presences(learned, existence):
        requirement = _Requirement(_that(presence, learned), presence.failure)
        if requirement.that not in [other.that for other in found]:
            found.insert(_place(presence, learned, found), requirement)
    explained = {requirement.failure for requirement in found}
    for failure in learned.failures.values():
        if failure not in explained and (that := not_refused(failure, learned.moments)):
            found.insert(0, _Requirement(that, failure))  # no thing need be looked at
    return [requirement.written(learned) for requirement in found]


def _decided(learned: Learned) -> Iterator[_Requirement]:
    """What the decisions say: the first that holds tells the error, or lets the call pass all that come later."""
    passed: list[str] = []
    for rule in learned.decisions.rules if learned.decisions is not None else ():
        if rule.label == "ok":
            passed.append(rule.source)
            continue
        failure = learned.failures.get(rule.label)
        if failure is not None and rule.confidence >= _SURE:
            that = " || ".join([*(f"({source})" for source in passed), negated(rule.source)])
            yield _Requirement(that, failure)


def _presences(learned: Learned, existence: Existence) -> Iterator[_Presence]:
    for book, there in ((existence.missing, True), (existence.taken, False)):
        for (tool, number), name in sorted(book.items()):
            failure = next((f for f in learned.failures.values() if f.number == number), None)
            if tool == learned.tool and failure is not None:
                yield _Presence(name, there, failure)


def _that(presence: _Presence, learned: Learned) -> str:
    that = f"{presence.name} {'!=' if presence.there else '=='} null"
    named = learned.named(presence.name)
    if not presence.there or not learned.is_optional(named):
        return that
    return " || ".join([*(f"!has({path})" for path in arguments_in(named.source)), that])


def _place(presence: _Presence, learned: Learned, found: list[_Requirement]) -> int:
    """After the errors that were also said of calls where this does not hold: those are looked for first.

    But a thing is asked for before anything is asked of it.
    """
    earlier = {
        moment.failure
        for moment in learned.moments
        if moment.failure is not None
        and moment.failure is not presence.failure
        and (moment.existed.get(presence.name) is True) is not presence.there
    }
    place = max((n + 1 for n, other in enumerate(found) if other.failure in earlier), default=0)
    if not presence.there:
        return place
    uses = (n for n, other in enumerate(found) if re.search(rf"\b{presence.name}\.", other.that))
    return min(place, next(uses, place))
