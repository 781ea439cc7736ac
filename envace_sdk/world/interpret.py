"""The interpreter of dynamics: one call on one state gives an answer and the state after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING

from envace_sdk.errors import DynamicsError, ExpressionError
from envace_sdk.json import Json

from .answer import Answer, Emitted
from .compiled import CompiledRule, Needed
from .dynamics import Dynamics
from .expressions import AbsentError, Scope
from .plain import MAX_VALUE_DEPTH
from .refusal import RefusedError, UnseenError
from .state import State

if TYPE_CHECKING:
    from envace_sdk.tools.model import Tool

__all__ = ["Answer", "Emitted", "Interpreter", "Needed"]


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
        self._rules: dict[str, CompiledRule | None] = {}

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
        try:
            rule = self._rule(tool.name)
        except DynamicsError:
            return []
        if rule is None:
            return []
        return rule.needs(Scope({"args": dict(arguments), "entity": None}, state, dynamics=self.dynamics))

    def is_unseen(self, tool: Tool, arguments: Mapping[str, Json], state: State, answer: Answer) -> bool:
        """Whether an answer says that something is not there which the real world may have, unseen here."""
        if answer.error is None or answer.outcome != "not_found":
            return False
        missing = [need for need in self.needs(tool, arguments, state) if state.get(need.collection, need.key) is None]
        return bool(missing) and all(
            self.dynamics.collections[need.collection].open
            and not state.collection(need.collection).was_removed(need.key)
            for need in missing
        )

    def declines(self, tool: Tool, value: Json) -> bool:
        """Whether an answer says what is wrong with a call, as the tool's rule has it, and is no error."""
        try:
            rule = self._rule(tool.name)
        except DynamicsError:
            return False
        return rule is not None and rule.declines(value)

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

    def _rule(self, name: str) -> CompiledRule | None:
        try:
            return self._rules[name]
        except KeyError:
            rule = self.dynamics.tools.get(name)
            known = rule is not None and rule.effect != "opaque"
            made = (
                CompiledRule(rule, self.dynamics, f"{self._source}: tools.{name}")
                if known and rule is not None
                else None
            )
            self._rules[name] = made
            return made


def _own(arguments: Mapping[str, Json]) -> dict[str, Json]:
    """A copy of the arguments down to their containers: what enters the world must not change with the caller's."""
    return {name: _copied(value, 2) if isinstance(value, list | dict) else value for name, value in arguments.items()}


def _copied(value: Json, depth: int) -> Json:
    if depth > MAX_VALUE_DEPTH:
        raise RefusedError("validation_error", "The arguments are nested too deeply")
    if isinstance(value, dict):
        return {name: _copied(item, depth + 1) for name, item in value.items()}
    return [_copied(item, depth + 1) for item in value] if isinstance(value, list) else value
