"""An environment: a toolset with its dynamics, its recordings and the state it starts from."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Self

from envace_sdk.errors import FaultError, UnknownToolError, WorldError
from envace_sdk.evidence.label import Rehearsed, label
from envace_sdk.faults import FaultPlan, Schedule
from envace_sdk.json import Json
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import ToolCall, ToolResult
from envace_sdk.tools.recordings import Recorded
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.infer import infer
from envace_sdk.world.interpret import Interpreter
from envace_sdk.world.seed_data import load_seed_data, read_start
from envace_sdk.world.state import DEFAULT_CLOCK, State
from envace_sdk.world.world import World

from .again import forgotten
from .base import Rehearsal, Rehearser, Teachable
from .dynamics import DynamicsRehearser
from .faults import deliver
from .fixtures import FixtureRehearser
from .histories import note_changes
from .keyschemas import KeySchemas
from .ladder import Ladder
from .precedents import Precedents
from .recalled import RecalledRehearser
from .schema import SchemaRehearser
from .shapes import entity_schema, properties
from .starts import Starts
from .stirring import stirring

__all__ = ["Environment"]


class Environment:
    """Everything needed to rehearse a toolset. It is immutable: worlds change, the environment does not.

    Args:
        toolset: the tools to rehearse.
        dynamics: what they do; inferred from their schemas when not given.
        fixtures: observed calls, answered before anything else as long as they are still true.
        start: the state a new world begins with.
        model: the learned environment role, asked where neither fixture nor rule answers.
        recorded: recordings of the real server; their fixtures come after those of `fixtures`.
        recorded_only: answer with recordings, or not at all.
        precedents: calls observed elsewhere, in sessions that may have begun otherwise: no facts, but what the rules
            leave open is answered as these were.
        source: what messages call the dynamics, such as their file.
    """

    def __init__(
        self,
        toolset: Toolset,
        *,
        dynamics: Dynamics | None = None,
        fixtures: Sequence[Fixture] = (),
        start: State | None = None,
        model: Rehearser | None = None,
        recorded: Recorded | None = None,
        recorded_only: bool = False,
        precedents: Sequence[Fixture] = (),
        source: str = "",
    ) -> None:
        self.toolset = toolset
        self.dynamics = infer(toolset) if dynamics is None else dynamics
        self.recorded = recorded or Recorded()
        everything = (*fixtures, *self.recorded.fixtures)
        self.fixtures = tuple(fixture for fixture in everything if fixture.is_call)
        tools = {tool.name: tool for tool in toolset}
        self._keys = keys = KeySchemas(toolset, self.dynamics)
        interpreter = Interpreter(self.dynamics, source or f"dynamics of {toolset.name}", key_schema=keys)
        self._interpreter = interpreter
        observed = FixtureRehearser(everything, tools, self.dynamics, interpreter, self.recorded.matching)
        self._observed = observed
        self.start = observed.learn(start or State.start(dynamics=self.dynamics))
        observed.histories.stirring = stirring(precedents, tools, self.dynamics)
        writing = frozenset(name for name in tools if observed.histories.changes(ToolCall(name)))
        calls = (*self.fixtures, *(fixture for fixture in precedents if fixture.is_call))
        self.seen = calls
        """Every observed call that is known here: fixtures, and precedents."""
        replayed = observed.replay(calls, self.start)
        followed = Precedents(
            replayed,
            tools,
            self.dynamics,
            writing=writing,
            matching=self.recorded.matching,
        )
        self._precedents = observed.open = followed
        self._keeps_reads = bool(precedents)
        layers: list[Rehearser] = [observed]
        if not recorded_only:
            layers += [
                RecalledRehearser(observed, over_rules=True, precedents=followed),
                DynamicsRehearser(interpreter, replayed),
            ]
        layers.append(RecalledRehearser(observed, precedents=followed))
        if model is not None and not recorded_only:
            layers.append(model.knowing(self.dynamics, calls) if isinstance(model, Teachable) else model)
        if not recorded_only:
            layers.append(SchemaRehearser(tuple(toolset), self.dynamics, interpreter, keys, calls, followed))
        self._starts = Starts([f for f in precedents if f.is_call], self.start, tools, interpreter, observed.after)
        self._ladder = Ladder(
            tools,
            self.dynamics,
            observed,
            layers,
            followed,
            starts=self._starts,
            keeps_calls=model is not None,
            keeps_reads=self._keeps_reads,
        )

    @classmethod
    def load(
        cls,
        source: str | Path | Toolset,
        *,
        dynamics: Path | None = None,
        fixtures: Sequence[Path] = (),
        seed_data: Sequence[str | Path] = (),
        model: Rehearser | None = None,
        name: str | None = None,
        ignore: Sequence[str] = (),
        recorded_only: bool = False,
    ) -> Self:
        """Load a toolset from wherever `Toolset.load` can, with the files that lie beside it.

        In a toolset's folder, `dynamics.yaml`, `fixtures.jsonl`, `recordings.jsonl` (what the rules were learned from,
        which serves as precedents) and `world.json` are used when they are there;
        `dynamics` replaces the first, and what tools no rule mentions do is inferred; `fixtures` and `seed_data` add to
        the others. Of a recording, the catalogue is
        the toolset. `ignore` names parts of requests that do not matter for recordings, as `Matching` has them.

        Raises:
            ToolsetError, DynamicsError, FixtureError, WorldError: a file is wrong; the message names it.
        """
        toolset = source if isinstance(source, Toolset) else Toolset.load(source, name=name)
        beside = _Beside(toolset.folder)
        rules_file = dynamics or beside.file("dynamics.yaml")
        rules = Dynamics.load(rules_file) if rules_file else Dynamics()
        if any(tool.name not in rules.tools for tool in toolset):
            rules = rules.completed(infer(toolset))
        recorded = [*filter(None, [beside.file("fixtures.jsonl"), toolset.recording]), *fixtures]
        learned_from = [*filter(None, [beside.file("recordings.jsonl")])]
        clock, collections = beside.start()
        start = State.start(dynamics=rules, collections=collections, clock=clock or DEFAULT_CLOCK)
        environment = cls(
            toolset,
            dynamics=rules,
            recorded=Recorded.load(recorded, ignore=ignore),
            recorded_only=recorded_only,
            precedents=Recorded.load(learned_from, ignore=ignore, strict=False).fixtures,
            start=start,
            model=model,
            source=str(rules_file or ""),
        )
        seeded = environment.start
        for data in seed_data:
            seeded = load_seed_data(data, rules, seeded, schemas=environment.entity_schemas(seeded))
        environment.start = note_changes(environment.start, seeded)
        return environment

    @property
    def tasks_path(self) -> Path | None:
        """The toolset's task file, if it has one."""
        return _Beside(self.toolset.folder).file("tasks.jsonl")

    def check(self) -> list[str]:
        """Compile every rule now, instead of when its tool is first called; tools that have a rule and do not exist.

        Raises:
            DynamicsError: a rule is wrong; the message names the file, the tool and the field.
        """
        self._interpreter.check()
        return [name for name in self.dynamics.tools if name not in self.toolset]

    def entity_schemas(self, state: State) -> dict[str, Json]:
        """By collection, the JSON Schema of an entity, as the tools and the entities of `state` tell."""
        made: dict[str, Json] = {}
        for name in self.dynamics.collections:
            known = list(islice(state.collection(name).values(), 5))
            schema = entity_schema(name, self.toolset, self.dynamics, known)
            made[name] = {**schema, "properties": {**properties(schema), **properties(self._keys(name))}}
        return made

    def world(self, name: str = "default", *, seed: int = 0, clock: datetime | None = None) -> World:
        """A new world in the start state. The same seed, clock and calls give the same bytes."""
        state = self.start.replace(seed=seed)
        return World(name, state if clock is None else state.at(clock))

    def schedule(self, plan: FaultPlan, *, strict: bool = True) -> Schedule:
        """A fault plan for this environment's worlds.

        Raises:
            FaultError: a pattern of the plan matches no tool, unless not `strict`.
        """
        unmatched = plan.unmatched({tool.name for tool in self.toolset}) if strict else []
        if unmatched:
            raise FaultError(f"fault plan {plan.name!r} for {self.toolset.name}: {'; '.join(unmatched)}")
        return Schedule(plan, self.dynamics)

    async def rehearse(self, call: ToolCall, state: State, *, faults: Schedule | None = None) -> Rehearsal:
        """Rehearse `call` in `state` without changing anything; `Rehearsal.state` is the state after it.

        Raises:
            UnknownToolError: no tool has that name.
            MissError: only recordings may answer, and none does.
            DynamicsError: the tool's rule cannot be evaluated.
            FaultError: the same of the fault plan.
            UnsatisfiableError: the tool's output schema admits nothing.
        """
        return await self._ladder.rehearse(call, state, faults=faults)

    def observe(self, state: State, call: ToolCall, result: ToolResult) -> State:
        """The state after the real environment answered `call` in `state` with `result`.

        What the tool's rule changes happens, and what the answer shows is true from then on. An error changes nothing,
        and neither does what is said in words, beyond what the rule knows of it.

        Raises:
            UnknownToolError: no tool has that name.
        """
        if call.name not in self.toolset:
            raise UnknownToolError(call.name)
        after = self._precedents.note(self._observed.observe(Fixture(call, result), state), call, result)
        return self._starts.seen(call, forgotten(after)) if self._keeps_reads else after

    def recall(self, method: str, call: ToolCall, state: State) -> Fixture | None:
        """What was recorded of a request that calls no tool: true in `state` if possible, else as it was seen last."""
        return self._observed.find(call, state, method) or self._observed.recall(call, state, method)

    def explain_miss(self, method: str, call: ToolCall) -> str:
        """Why no recording answers such a request: the closest one, and what differs."""
        return self._observed.explain(call, method) or "nothing is recorded"

    async def call(self, world: World, call: ToolCall, *, faults: Schedule | None = None) -> Rehearsal:
        """Rehearse `call` on `world` and let it happen there. Calls on one world take turns.

        A call that is cancelled leaves the world as if it had not happened, or wholly as if it had; one that fails, as
        it was. The result carries the evidence label.

        Raises:
            UnknownToolError, MissError, DynamicsError, FaultError, UnsatisfiableError: as `rehearse`.
            TimedOutError, DisconnectedError: a fault lost the answer.
        """
        return await deliver(await self.perform(world, call, faults=faults))

    async def perform(
        self,
        world: World,
        call: ToolCall,
        *,
        faults: Schedule | None = None,
        save: Callable[[World], Awaitable[None]] | None = None,
    ) -> Rehearsal:
        """As `call`, up to the point where the answer would be sent: how it travels is in `Rehearsal.delivery`.

        `save` is awaited before the world's next call, if this one changed it; where it raises, nothing has happened.
        """
        async with world.lock:
            before = world.state
            rehearsal = await self._ladder.rehearse(call, before, faults=faults)
            world.commit(rehearsal.state)
            if save is not None and rehearsal.state is not before:
                try:
                    await save(world)
                except Exception:
                    world.commit(before)
                    raise
        return replace(rehearsal, result=replace(rehearsal.result, meta=self._label(rehearsal, world)))

    def _label(self, rehearsal: Rehearsal, world: World) -> dict[str, Json]:
        evidence = Rehearsed(
            layer=rehearsal.layer,
            confidence=rehearsal.confidence,
            outcome=rehearsal.outcome,
            world=world.name,
            version=rehearsal.state.version,
            toolset=self.toolset.name,
            injected=rehearsal.fault is not None,
            fault=rehearsal.fault,
            reason=rehearsal.reason,
            model=rehearsal.model,
            prompt_hash=rehearsal.prompt_hash,
        )
        return label(evidence, rehearsal.result.meta)


class _Beside:
    """The files that lie beside a toolset's `tools.json`."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def file(self, name: str) -> Path | None:
        path = self._folder / name if self._folder is not None else None
        return path if path is not None and path.is_file() else None

    def start(self) -> tuple[datetime | None, Mapping[str, Sequence[dict[str, Json]]]]:
        path = self.file("world.json")
        if path is None:
            return None, {}
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise WorldError(f"{path}: cannot be read: {error}") from error
        return read_start(data, str(path))
