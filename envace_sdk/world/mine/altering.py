"""What a call changes, written as the members of a rule."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from envace_sdk.json import Json
from envace_sdk.world.infer.cel import literal

from .answering import Answer, Part
from .effects import Effects
from .hidden import Change, Hidden
from .learned import Learned
from .roles import ENTITY, Named
from .sources import free_source
from .structure import SESSION, Structure, records

__all__ = ["Alterations"]

_ANSWER: Final = re.compile(r"\banswer(?:\.\w+)*")


class Alterations:
    """What one tool changes, of the thing it is about and of others.

    Args:
        learned: what was learned of the tool.
        structure: the kinds of things.
        effects: what calls change of things that are shown.
        hidden: what they change of the session.
    """

    def __init__(self, learned: Learned, structure: Structure, effects: Effects, hidden: Hidden) -> None:
        self._learned = learned
        self._structure = structure
        self._effects = effects
        self._hidden = hidden

    def of_primary(self, primary: Named | None, *, makes: bool) -> dict[str, Any]:
        """The fields that the thing gets: `take` for arguments that may be left out, `set` for all else.

        Args:
            primary: the thing.
            makes: whether the call makes it.
        """
        sets = self._sets().get(ENTITY, {})
        if makes and primary is not None:
            sets |= self._made_up(primary, sets)
        if primary is not None:
            sets.pop(self._key(primary), None)
        taken = {what: path for what, source in sets.items() if (path := _taken(what, source))}
        changed = {
            what: source
            for what, source in sets.items()
            if what not in taken and (makes or source != f"{ENTITY}.{what}")
        }
        return {"like": self._effects.likes.get((self._learned.tool, ENTITY)), "take": taken, "set": changed}

    def of_others(self, *, and_primary: bool) -> list[dict[str, Any]]:
        """The changes of other things.

        Args:
            and_primary: whether the thing the call is about is among these, in a rule that has none.
        """
        sets = self._sets()
        for tool, name in self._effects.likes:
            if tool == self._learned.tool:
                sets.setdefault(name, {})
        if not and_primary:
            sets.pop(ENTITY, None)
        held = self._session_sets()
        if held:
            sets.setdefault(SESSION, {}).update(held)
        found = [change for name, fields in sets.items() if (change := self._change(name, fields)) is not None]
        for tool, name in sorted(self._effects.removes):
            if tool == self._learned.tool and name != ENTITY:
                thing = self._learned.named(name)
                where = f"{name} != null"
                found.append({"effect": "delete", "collection": thing.kind, "key": thing.source, "when": where})
        return found

    def _sets(self) -> dict[str, dict[str, str]]:
        """By name of the thing, what its fields become."""
        found: dict[str, dict[str, str]] = {}
        for (tool, name, what), source in sorted(self._effects.sets.items()):
            if tool == self._learned.tool:
                found.setdefault(name, {})[what] = source
        return found

    def _change(self, name: str, sets: Mapping[str, str]) -> dict[str, Any] | None:
        change: dict[str, Any] = {"effect": "update"}
        if name == SESSION:
            return {**change, "collection": SESSION, "key": f"'{SESSION}'", "upsert": True, "set": dict(sets)}
        named = self._learned.named(name)
        key = self._key(named)
        fields = {what: source for what, source in sets.items() if what != key and source != f"{name}.{what}"}
        like = self._effects.likes.get((self._learned.tool, name))
        if not fields and like is None:
            return None
        change |= {"collection": named.kind, "key": named.source, "like": like, "set": fields}
        if (self._learned.tool, name) in self._effects.makes:
            return {**change, "upsert": True}
        return {**change, "when": f"{name} != null"}

    def _key(self, named: Named) -> str:
        return self._structure.kinds[named.kind].key

    def _made_up(self, primary: Named, sets: Mapping[str, str]) -> dict[str, str]:
        """Of a new thing, the fields that nothing explains: made up in the form they have."""
        shown: dict[str, list[Json]] = {}
        for name, value in self._shown():
            if name not in sets and (self._learned.tool, primary.kind, name) not in self._effects.foreign:
                shown.setdefault(name, []).append(value)
        return {what: free_source(values) for what, values in shown.items()}

    def _shown(self) -> Iterator[tuple[str, Json]]:
        """The fields of new things, in the tool's own answers."""
        for site in self._structure.sites_of(self._learned.tool):
            for moment in self._learned.moments if site.fresh else ():
                for _, record in records(site, moment.step) if moment.step.ok else ():
                    yield from ((name, value) for name, value in record.items() if name != site.key)

    def _session_sets(self) -> dict[str, str]:
        """What a call makes of the flags and registers of the session."""
        by_field: dict[str, list[Change]] = {}
        for change in self._hidden.changes:
            if change.tool == self._learned.tool:
                by_field.setdefault(change.field, []).append(change)
        found: dict[str, str] = {}
        for what, changes in by_field.items():
            kept = text = f"default(session.{what}, {literal(self._hidden.start.get(what))})"
            for change in reversed(changes):
                value = _answered(change.value, self._learned.answer)
                condition = _answered(change.condition, self._learned.answer)
                if value is not None and condition is not None:
                    text = f"{condition} ? {value} : {text}" if condition else value
            if text != kept:
                found[what] = text
        return found


def _taken(what: str, source: str) -> str:
    """The argument that a field takes its value from where it is given; "" for anything else."""
    found = re.fullmatch(rf"default\(args\.([\w.]+), {ENTITY}\.{re.escape(what)}\)", source)
    return found.group(1) if found is not None else ""


def _answered(source: str, answer: Answer | None) -> str | None:
    """The source with what explains the answer in the answer's place; None where nothing does."""
    told = {name: _explaining(name.split(".")[1:], answer) for name in _ANSWER.findall(source)}
    if None in told.values():
        return None
    return _ANSWER.sub(lambda match: str(told[match.group()]), source)


def _explaining(path: list[str], answer: Answer | None) -> str | None:
    """The expression of what stands at a path of the answer."""
    for _, case in answer.cases if answer is not None else ():
        part: Part | None = case
        for name in path:
            part = part.members.get(name) if part is not None else None
        if part is not None and part.source:
            return f"({part.source})" if " " in part.source else part.source
    return None
