"""The interpreter of dynamics: one call on one state gives an answer and the state after it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from envace_sdk.errors import DynamicsError, ExpressionError
from envace_sdk.json import Json

from .answer import Answer, Emitted
from .answering import Answering, Given
from .changing import AlsoChange, Journal, Subject, Target
from .dynamics import Dynamics, ToolRule
from .expressions import AbsentError, Scope
from .formula import Formula, Wording
from .plain import MAX_VALUE_DEPTH
from .refusal import RefusedError, UnseenError
from .searching import Search
from .state import State

if TYPE_CHECKING:
    from envace_sdk.tools.model import Tool

__all__ = ["Answer", "Emitted", "Interpreter", "Needed"]


class Needed(NamedTuple):
    """A thing that a call needs."""

    collection: str
    key: str
    value: Json
    """The key as it was given; of a composite one, the list of its parts."""


class Interpreter:
    """Dynamics, compiled tool by tool when they are first used.

    Args:
        dynamics: the rules.
        source: what error messages call them, such as their file.
        key_schema: by collection, the schema of an entity as far as its key goes: new keys meet it.
    """

    def __init__(
        self,
        dynamics: Dynamics,
        source: str = "dynamics",
        *,
        key_schema: Callable[[str], Json] | None = None,
    ) -> None:
        self.dynamics = dynamics
        self._key_schema = key_schema
        self._source = source
        self._rules: dict[str, _Rule | None] = {}

    def check(self) -> None:
        """Compile every rule now. Raises: DynamicsError where one is wrong."""
        for name in self.dynamics.tools:
            self._rule(name)

    def run(
        self,
        tool: Tool,
        arguments: Mapping[str, Json],
        state: State,
        random: Random,
        *,
        minted: Json = None,
        silent: bool = False,
    ) -> Answer | None:
        """What the call answers, and the state after it; None where the dynamics leave the answer open.

        All or nothing: a call that ends in an error leaves the state as it was. `minted` is the key that a created
        entity gets instead of a new one, when the rule leaves it open (for a composite key, the list of its parts).
        With `silent` there is no answer, only the changes: what was answered is known.

        Raises:
            DynamicsError: the rule is wrong, or an expression in it cannot be computed on these values.
        """
        rule = self._rule(tool.name)
        if rule is None:
            return None
        names: dict[str, Json] = {"args": {}, "entity": None}
        scope = Scope(names, state, random=random, dynamics=self.dynamics, key_schema=self._key_schema)
        try:
            scope.names["args"] = _own(arguments)
            return rule.run(scope, state, minted, silent=silent)
        except RefusedError as refusal:
            reads = frozenset(scope.reads)
            return Answer(
                None,
                state,
                rule.rule,
                outcome=refusal.status,
                error=refusal.text,
                requirement=refusal.requirement,
                reads=reads,
            )
        except UnseenError:
            return None
        except DynamicsError as error:
            if rule.rule.confidence < 1 or (rule.is_open and isinstance(error, AbsentError)):
                return None  # the rule is not sure, or what the real world has there is not known
            if isinstance(error, ExpressionError):
                raise DynamicsError(f"{rule.place}: {error}") from error
            raise

    def key(self, tool: Tool, arguments: Mapping[str, Json], state: State) -> Json:
        """The key that the call names (of a composite key, the list of its parts), or None.

        Raises:
            DynamicsError: as `run`.
        """
        rule = self._rule(tool.name)
        if rule is None or rule.target is None:
            return None
        subject = rule.target.subject(Scope({"args": dict(arguments), "entity": None}, state, dynamics=self.dynamics))
        return None if subject.key is None else subject.value

    def needs(self, tool: Tool, arguments: Mapping[str, Json], state: State) -> list[Needed]:
        """The things that must be there if the call is to succeed, as far as it can be told."""
        rule = self._rule(tool.name)
        if rule is None:
            return []
        return rule.needs(Scope({"args": dict(arguments), "entity": None}, state, dynamics=self.dynamics))

    def item_keys(
        self, tool: Tool, arguments: Mapping[str, Json], items: Sequence[Json], state: State
    ) -> Iterator[Json]:
        """Of each item of a list that the tool answered, the key of the entity it stands for; None: not known."""
        rule = self._rule(tool.name)
        if rule is None or rule.item_key is None:
            return
        for item in items:
            names: dict[str, Json] = {"args": dict(arguments), "entity": None, "item": item}
            try:
                yield rule.item_key(Scope(names, state, dynamics=self.dynamics))
            except DynamicsError:
                yield None

    def _rule(self, name: str) -> _Rule | None:
        try:
            return self._rules[name]
        except KeyError:
            rule = self.dynamics.tools.get(name)
            known = rule is not None and rule.effect != "opaque"
            made = _Rule(rule, self.dynamics, f"{self._source}: tools.{name}") if known and rule is not None else None
            self._rules[name] = made
            return made


class _Rule:
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
            return Answer(text, state, self.rule, is_text=True, reads=frozenset(scope.reads))
        return Answer(value, state, self.rule, reads=frozenset(scope.reads))

    def needs(self, scope: Scope) -> list[Needed]:
        """The things that must be there if the call is to succeed."""
        found: list[Needed] = []
        target = self.target
        try:
            if target is not None and target.keyed and self.rule.effect != "create" and not target.upsert:
                subject = target.subject(scope)
                found += [] if subject.key is None else [Needed(target.collection, subject.key, subject.value)]
            for name, formula in self._let:
                if name in self._needed:
                    scope.reads.clear()
                    scope.names[name] = formula.bound(scope)
                    found += [Needed(of, key, key) for of, key in sorted(scope.reads, key=str) if key is not None]
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


def _own(arguments: Mapping[str, Json]) -> dict[str, Json]:
    """A copy of the arguments down to their containers: what enters the world must not change with the caller's."""
    return {name: _copied(value, 2) if isinstance(value, list | dict) else value for name, value in arguments.items()}


def _copied(value: Json, depth: int) -> Json:
    if depth > MAX_VALUE_DEPTH:
        raise RefusedError("validation_error", "The arguments are nested too deeply")
    if isinstance(value, dict):
        return {name: _copied(item, depth + 1) for name, item in value.items()}
    return [_copied(item, depth + 1) for item in value] if isinstance(value, list) else value
