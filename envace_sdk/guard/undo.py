"""Whether what a tool writes can be undone, as far as the rules of its toolset tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from envace_sdk.world.dynamics import Change, Dynamics, ToolRule

__all__ = ["Undo", "Write", "writes_of"]

_READS: Final = frozenset({"read", "search", "compute"})


@dataclass(frozen=True, slots=True)
class Write:
    """One kind of change that a rule makes."""

    effect: str
    """`create`, `update` or `delete`."""
    collection: str
    fields: frozenset[str] = frozenset()
    """Of an update, the fields it sets; empty: any."""

    def __str__(self) -> str:
        what = f" ({', '.join(sorted(self.fields))})" if self.fields else ""
        return f"{self.effect} in {self.collection}{what}"


def writes_of(rule: ToolRule) -> list[Write]:
    """What a rule may write, besides what cannot be told of an opaque one."""
    found: list[Write] = []
    if rule.effect not in _READS and rule.effect != "opaque" and rule.collection is not None:
        found.append(Write(rule.effect, rule.collection, _fields(rule) if rule.effect == "update" else frozenset()))
    for change in rule.also:
        fields = _fields(change) if change.effect == "update" else frozenset()
        found.append(Write(change.effect, change.collection, fields))
    return list(dict.fromkeys(found))


class Undo:
    """Which writes another tool of the same toolset can take back.

    A created entity can be deleted, a deleted one created under its key with all of its fields, and an updated field
    set back by a tool that takes its value as an argument, whatever the field holds, or by one that sets it to another
    constant. What a tool
    changes besides (a mail that is sent, money that leaves) no rule tells: where annotations do not say so either, a
    user's risk rule must.
    """

    def __init__(self, dynamics: Dynamics) -> None:
        self._deleting: set[str] = set()
        self._restoring: set[str] = set()
        self._settable: dict[str, set[str]] = {}
        self._constants: dict[tuple[str, str], set[str]] = {}
        for rule in dynamics.tools.values():
            self._learn(rule)

    def missing(self, write: Write) -> bool:
        """Whether no tool can take the write back."""
        if write.effect == "create":
            return write.collection not in self._deleting
        if write.effect == "delete":
            return write.collection not in self._restoring
        settable = self._settable.get(write.collection, set())
        if "*" in settable:
            return False
        if not write.fields:
            return True
        return any(
            field not in settable and len(self._constants.get((write.collection, field), ())) < 2
            for field in write.fields
        )

    def _learn(self, rule: ToolRule) -> None:
        name = rule.collection
        if name is None:
            return
        if rule.effect == "delete":
            self._deleting.add(name)
        elif (rule.effect == "create" or rule.upsert) and rule.key is not None and rule.take == "*":
            self._restoring.add(name)
        if rule.effect == "update":
            asked = " ".join((*(each.that for each in rule.requires), *rule.let.values()))
            given = {field for field in _given(rule) if f"entity.{field}" not in asked}
            self._settable.setdefault(name, set()).update(given)
            for field, expression in rule.set.items():
                if _is_constant(expression):
                    self._constants.setdefault((name, field), set()).add(expression)


def _fields(rule: ToolRule | Change) -> frozenset[str]:
    taken = ["*"] if rule.take == "*" or rule.like is not None else list(rule.take)
    return frozenset((*taken, *rule.set, *rule.append, *rule.remove))


def _given(rule: ToolRule) -> Iterator[str]:
    """The fields that a caller can set to what they were."""
    yield from ("*",) if rule.take == "*" else rule.take
    for field, expression in rule.set.items():
        if expression.startswith("args."):
            yield field


def _is_constant(expression: str) -> bool:
    return expression in {"true", "false", "null"} or expression[:1] in {"'", '"'} or expression.isdigit()
