"""The rule of one tool, compiled: what the call needs, what it changes, what it answers."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from envace_sdk.errors import DynamicsError
from envace_sdk.json import Json

from .answer import Answer
from .answering import Answering, Given
from .changing import AlsoChange, Journal, Subject, Target
from .declining import Declining
from .dynamics import Dynamics, ToolRule
from .expressions import Scope
from .formula import Formula, Wording
from .keys import key_text
from .refusal import RefusedError, UnseenError
from .searching import Search
from .state import State

__all__ = ["CompiledRule", "Needed"]


class Needed(NamedTuple):
    """A thing that a call needs."""

    collection: str
    key: str
    value: Json
    """The key as it was given; of a composite one, the list of its parts."""


class CompiledRule:
    """The compiled rule of one tool."""

    def __init__(self, rule: ToolRule, dynamics: Dynamics, place: str) -> None:
        self.rule = rule
        self.place = place
        self.target: Target | None = None
        if rule.collection is not None and rule.effect != "search":
            self.target = Target(rule, rule.collection, dynamics, place, source_name="args")
        self._let = [(name, Formula(source, f"{place}.let.{name}")) for name, source in rule.let.items()]
        wanted = " ".join(requirement.that for requirement in rule.requires)
        self._needed = frozenset(name for name in rule.let if re.search(rf"\b{re.escape(name)} != null", wanted))
        """What is bound by `let` and must be there."""
        self._requires = [
            (
                Formula(requirement.that, f"{place}.requires[{position}].that"),
                Wording(requirement.error, f"{place}.requires[{position}].error"),
                requirement.status,
                requirement.wants_entity,
            )
            for position, requirement in enumerate(rule.requires)
        ]
        self.declines = Declining(wording.template for _, wording, status, _ in self._requires if status == "success")
        """Whether an answer is one that the tool gives instead of an error."""
        self._wants_entity = any(requirement.wants_entity for requirement in rule.requires)
        self._also = [
            AlsoChange(change, dynamics, f"{place}.also[{position}]") for position, change in enumerate(rule.also)
        ]
        self._unless = Formula(rule.unless, f"{place}.unless") if rule.unless is not None else None
        self._search = Search(rule, place) if rule.effect == "search" else None
        self._answering = Answering(rule, place)
        item_key = rule.returns.item_key
        self.item_key = Formula(item_key, f"{place}.returns.item_key") if item_key is not None else None
        told = rule.returns
        forms = (told.value, told.object, told.text)
        self._is_silent = rule.effect == "compute" and not rule.also and not told.extra and forms == (None, None, None)
        """Whether the rule says no more than that nothing changes."""
        used = (rule.collection, *(change.collection for change in rule.also))
        self.is_open = any(dynamics.collections[name].open for name in used if name is not None)
        """Whether the real world may have more than is known of what the rule is about."""

    def run(self, scope: Scope, state: State, minted: Json, *, silent: bool = False) -> Answer:
        """One call: the entity, the names, the requirements, the changes, the answer.

        Raises:
            RefusedError: a requirement does not hold, or an entity is not there.
            UnseenError: what the call answers is not known here.
        """
        subject = self._subject(scope)
        for name, formula in self._let:
            scope.names[name] = formula.bound(scope)
        for position, (condition, wording, status, wants_entity) in enumerate(self._requires):
            if not condition.holds(scope):
                if wants_entity and self.target is not None and subject is not None:
                    self.target.check_seen(subject, scope)
                if status == "success":
                    return self._declined(wording(scope), state, scope)
                raise RefusedError(status, wording(scope), requirement=position)
        if self._is_silent:
            raise UnseenError
        tries = self._unless is not None and self._unless.holds(scope)
        journal = Journal()
        key = self._change(subject, scope, journal, minted)
        for change in self._also:
            change.apply(scope, journal)
        given = Given(None) if silent else self._answer(subject, key, scope)
        if tries:
            return Answer(given.value, state, self.rule, is_text=given.is_text, reads=frozenset(scope.reads))
        return Answer(
            given.value,
            scope.state if journal.written else state,
            self.rule,
            is_text=given.is_text,
            entities=given.entities,
            reads=frozenset(scope.reads),
            writes=frozenset(journal.written),
            minted=frozenset(journal.minted),
        )

    def _declined(self, text: str, state: State, scope: Scope) -> Answer:
        """An answer that says what is wrong with the call, and is no error."""
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = text
        is_data = isinstance(value, dict | list)
        return Answer(value if is_data else text, state, self.rule, is_text=not is_data, reads=frozenset(scope.reads))

    def needs(self, scope: Scope) -> list[Needed]:
        """The things that must be there if the call is to succeed."""
        found: list[Needed] = []
        target = self.target
        given = {
            key_text(value): value
            for value in scope.names["args"].values()
            if isinstance(value, str | int | float) and not isinstance(value, bool)
        }
        try:
            if target is not None and target.keyed and self.rule.effect != "create" and not target.upsert:
                subject = target.subject(scope)
                found += [] if subject.key is None else [Needed(target.collection, subject.key, subject.value)]
            for name, formula in self._let:
                if name in self._needed:
                    scope.reads.clear()
                    scope.names[name] = formula.bound(scope)
                    read = sorted((of, key) for of, key in scope.reads if key is not None)
                    found += [Needed(of, key, given.get(key, key)) for of, key in read]
        except (DynamicsError, RefusedError):
            pass  # what cannot be computed names nothing
        return found

    def _subject(self, scope: Scope) -> Subject | None:
        """The entity the call is about, which must be there unless the call makes it."""
        target = self.target
        if target is None or (not target.keyed and self.rule.effect != "create"):
            return None
        subject = target.subject(scope)
        scope.names["key"] = subject.value
        scope.names["entity"] = subject.document
        creates = self.rule.effect == "create" or (target.upsert and subject.document is None)
        if not creates and not self._wants_entity:
            target.require(subject, scope)
        return subject

    def _change(self, subject: Subject | None, scope: Scope, journal: Journal, minted: Json) -> str | None:
        """Change the entity; its key afterwards."""
        target, effect = self.target, self.rule.effect
        if target is None or subject is None:
            return None
        arguments = scope.names["args"]
        if effect == "create" or (effect == "update" and subject.document is None):
            key, scope.names["entity"] = target.create(subject, arguments, scope, journal, minted)
            return key
        if effect == "update":
            key, scope.names["entity"] = target.update(subject, arguments, scope, journal)
            return key
        if effect == "delete":
            target.delete(subject, scope, journal)
        return subject.key

    def _answer(self, subject: Subject | None, key: str | None, scope: Scope) -> Given:
        special = None
        if self._search is not None and self.rule.collection is not None:
            return self._list(self.rule.collection, scope)
        if self.target is not None and subject is not None and key is not None:
            document = scope.state.get(self.target.collection, key)  # `also` may have changed it once more
            if document is not None:
                scope.names["entity"] = document
                scope.seen[id(document)] = (self.target.collection, key, document)
            special = self._answering.special(scope)
            if special is None and isinstance(scope.names["entity"], dict):
                return self._answering.entity(self.target.collection, key, scope.names["entity"], scope)
        return special or self._answering.special(scope) or self._answering.nothing(scope)

    def _list(self, collection: str, scope: Scope) -> Given:
        """The page that was found; expressions in `returns` see it as `items`, and the matches as `total`."""
        if self._search is None:
            raise AssertionError("a list needs a search")
        page = self._search.run(collection, scope, scope.names["args"])
        scope.names["items"] = [entry.document for entry in page.entries]
        scope.names["total"] = page.total
        for entry in page.entries:
            scope.seen[id(entry.document)] = (collection, entry.key, entry.document)
        return self._answering.special(scope) or self._answering.page(collection, page, scope)
