"""Rules tried on what was recorded: for each part of a rule, how often it was right, and where it was not.

The recorded episodes are played call by call. Each call is answered by its rule in the state that the calls before it
left, which is brought up to what their answers showed; so a wrong rule does not spoil what comes after it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from envace_sdk.errors import DynamicsError, WorldError
from envace_sdk.json import UNSET, Json, Unset
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.answer import Answer
from envace_sdk.world.dynamics import Dynamics, ToolRule
from envace_sdk.world.interpret import Interpreter
from envace_sdk.world.keys import Document, get_path, key_of, key_text, set_path
from envace_sdk.world.state import State

from .episodes import Step, episodes_of
from .showing import Shows, entity_in, labels, leaves
from .trial import FAILED, Instance, Tally, Trial
from .values import same

__all__ = ["try_rules"]

_PATHS: Final = 300
_KEPT: Final = 40

Progress = Callable[[str, int, int], None]


def try_rules(
    toolset: Toolset,
    dynamics: Dynamics,
    start: Mapping[str, Sequence[Document]],
    fixtures: Sequence[Fixture],
    *,
    progress: Progress | None = None,
) -> dict[str, Trial]:
    """Try the rules of all tools that were called.

    Args:
        toolset: the tools.
        dynamics: the rules.
        start: what is there in the beginning, by collection.
        fixtures: what was recorded.
        progress: told how far it is.

    Raises:
        WorldError: what is there in the beginning does not go with the rules.
    """
    episodes = episodes_of(fixtures, [tool.name for tool in toolset])
    trial = _Trying(toolset, dynamics)
    state = State.start(dynamics=dynamics, collections=start)
    for number, episode in enumerate(episodes):
        if progress is not None:
            progress("trying the rules", number, len(episodes))
        trial.play(episode.steps, state)
    return trial.found


class _Trying:
    def __init__(self, toolset: Toolset, dynamics: Dynamics) -> None:
        self.found: dict[str, Trial] = {}
        self._toolset = toolset
        self._dynamics = dynamics
        self._interpreter = Interpreter(dynamics)
        self._shows = Shows(toolset, dynamics, self._interpreter)
        self._pending: dict[tuple[str, str], dict[str, tuple[str, Step]]] = {}

    def play(self, steps: Sequence[Step], state: State) -> None:
        self._pending = {}
        for step in steps:
            state = self._tried(step, state)

    def _tried(self, step: Step, state: State) -> State:
        trial = self.found.setdefault(step.tool, Trial())
        trial.calls += 1
        trial.errors += not step.ok
        rule = self._dynamics.tools.get(step.tool)
        if rule is None:
            trial.left += 1
            return state
        try:
            answer = self._answer(step, rule, state)
        except (DynamicsError, WorldError) as error:
            self._count_broken(trial, _instance(step, step.value, UNSET, note=str(error)))
            return self._corrected(step, rule, None, state) if step.ok else state
        if answer is None:
            trial.left += 1
        else:
            self._judge(step, answer, trial)
        if not step.ok:
            return state
        if answer is not None and answer.error is None:
            self._note(step, rule, answer)
            state = answer.state if answer.state is state else answer.state.tick()
        return self._corrected(step, rule, answer, state)

    def _answer(self, step: Step, rule: ToolRule, state: State) -> Answer | None:
        minted = self._made(step, rule)
        if minted is not None and rule.collection is not None:
            # What a call has made was not there, whatever other episodes begin with.
            state = state.remove(rule.collection, key_text(minted))
        random = state.random(step.tool, json.dumps(step.args, sort_keys=True))
        return self._interpreter.run(self._toolset[step.tool], step.args, state, random, minted=minted)

    def _made(self, step: Step, rule: ToolRule) -> Json:
        """The key of the entity that a call is seen to have made."""
        if rule.effect != "create" or rule.collection is None or not step.ok:
            return None
        shown = entity_in(step.value, rule)
        fields = self._dynamics.collections[rule.collection].key_fields
        parts = [get_path(shown, name) if shown is not None else UNSET for name in fields]
        if any(part is UNSET or part is None for part in parts):
            return None
        return parts if len(parts) > 1 else parts[0]

    @staticmethod
    def _count_broken(trial: Trial, instance: Instance) -> None:
        trial.failed += 1
        trial.wrongs[frozenset({FAILED})] += 1
        trial.mistaken = trial.mistaken or instance
        if len(trial.broken) < _KEPT:
            trial.broken.append(instance)

    def _judge(self, step: Step, answer: Answer, trial: Trial) -> None:
        if answer.error is not None:
            agrees = not step.ok and same(_data(answer.error), step.value)
            wrong = None if agrees else _instance(step, step.value, _data(answer.error))
            place = answer.requirement
            tally = trial.absence if place is None else trial.requirements.setdefault(place, Tally())
            tally.count(wrong)
        elif not step.ok:
            wrong = _instance(step, step.value, answer.value)
            trial.passed += 1
            trial.wrongs[frozenset({FAILED})] += 1
            if len(trial.unforeseen) < _KEPT:
                trial.unforeseen.append(wrong)
        else:
            wrong = self._compared(step, answer, trial)
        trial.mistaken = trial.mistaken or wrong

    def _compared(self, step: Step, answer: Answer, trial: Trial) -> Instance | None:
        given = _data(str(answer.value)) if answer.is_text else answer.value
        wrong: dict[str, Instance] = {}
        right: Counter[str] = Counter()
        for path, recorded, made in leaves(step.value, given):
            place = path if path in trial.answer or len(trial.answer) < _PATHS else "…"
            if recorded is not UNSET and made is not UNSET and same(recorded, made):
                right[place] += 1
            else:
                wrong.setdefault(place, _instance(step, recorded, made))
        for place in right.keys() - wrong.keys():
            trial.answer.setdefault(place, Tally()).count(None)
        for place, instance in wrong.items():
            trial.answer.setdefault(place, Tally()).count(instance)
        trial.wrongs[frozenset(wrong)] += 1
        return next(iter(wrong.values()), None)

    def _note(self, step: Step, rule: ToolRule, answer: Answer) -> None:
        """Remember what the rule made of fields, until an answer shows them."""
        for collection, key in answer.writes:
            if key is None:
                continue
            document = answer.state.get(collection, key)
            if document is None:
                self._pending.pop((collection, key), None)
                continue
            pending = self._pending.setdefault((collection, key), {})
            for path, label in labels(rule, collection):
                if get_path(document, path) is not UNSET:
                    pending[path] = (label, step)

    def _corrected(self, step: Step, rule: ToolRule, answer: Answer | None, state: State) -> State:
        """The state with what the answer shows, which tells of the calls that wrote it."""
        for collection, key, shown in self._shows(step, rule, answer, state):
            held = state.get(collection, key)
            document: Document = {} if held is None else held
            pending = self._pending.get((collection, key), {})
            for path, value in shown:
                known = get_path(document, path)
                if path in pending:
                    label, writer = pending.pop(path)
                    note = "" if writer is step else f"as {step.tool} showed at call {step.index + 1}"
                    agrees = known is not UNSET and same(known, value)
                    wrong = None if agrees else _instance(writer, value, known, note=note)
                    self.found[writer.tool].fields.setdefault(label, Tally()).count(wrong)
                if known is UNSET or not same(known, value):
                    document = set_path(document, path, value)
            if document is not held and key_of(document, self._dynamics.collections[collection].key) == key:
                state = state.put(collection, key, document)
        return state


def _data(text: str) -> Json:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _instance(step: Step, recorded: Json | Unset, given: Json | Unset, *, note: str = "") -> Instance:
    return Instance(step.episode, step.index, step.args, recorded, given, note)
