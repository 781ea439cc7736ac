"""An environment: a toolset with its dynamics, its recordings and the state it starts from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Self

from envace_sdk.errors import WorldError
from envace_sdk.evidence.label import Rehearsed, label
from envace_sdk.json import Json
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import ToolCall
from envace_sdk.tools.recordings import load_fixtures
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.infer import infer
from envace_sdk.world.interpret import Interpreter
from envace_sdk.world.seed_data import load_seed_data, read_start
from envace_sdk.world.state import DEFAULT_CLOCK, State
from envace_sdk.world.world import World

from .base import Rehearsal, Rehearser
from .dynamics import DynamicsRehearser
from .fixtures import FixtureRehearser, note_changes
from .ladder import Ladder
from .schema import SchemaRehearser

__all__ = ["Environment"]


class Environment:
    """Everything needed to rehearse a toolset. It is immutable: worlds change, the environment does not.

    Args:
        toolset: the tools to rehearse.
        dynamics: what they do; inferred from their schemas when not given.
        fixtures: observed calls, answered before anything else as long as they are still true.
        start: the state a new world begins with.
        model: the learned environment role, asked where neither fixture nor rule answers.
    """

    def __init__(
        self,
        toolset: Toolset,
        *,
        dynamics: Dynamics | None = None,
        fixtures: Sequence[Fixture] = (),
        start: State | None = None,
        model: Rehearser | None = None,
    ) -> None:
        self.toolset = toolset
        self.dynamics = infer(toolset) if dynamics is None else dynamics
        self.fixtures = tuple(fixtures)
        tools = {tool.name: tool for tool in toolset}
        interpreter = Interpreter(self.dynamics, f"dynamics of {toolset.name}")
        recorded = FixtureRehearser(self.fixtures, tools, self.dynamics, interpreter)
        self.start = recorded.learn(start or State.start(dynamics=self.dynamics))
        layers: list[Rehearser] = [recorded, DynamicsRehearser(interpreter)]
        if model is not None:
            layers.append(model)
        layers.append(SchemaRehearser(tuple(toolset), self.dynamics, interpreter, self.fixtures))
        self._ladder = Ladder(tools, self.dynamics, recorded, layers)

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
    ) -> Self:
        """Load a toolset from wherever `Toolset.load` can, with the files that lie beside it.

        In a toolset's folder, `dynamics.yaml`, `fixtures.jsonl` and `world.json` are used when they are there;
        `dynamics` replaces the first, `fixtures` and `seed_data` add to the others.

        Raises:
            ToolsetError, DynamicsError, FixtureError, WorldError: a file is wrong; the message names it.
        """
        toolset = source if isinstance(source, Toolset) else Toolset.load(source, name=name)
        beside = _Beside(toolset.folder)
        rules_file = dynamics or beside.file("dynamics.yaml")
        rules = Dynamics.load(rules_file) if rules_file else infer(toolset)
        recorded = [*filter(None, [beside.file("fixtures.jsonl")]), *fixtures]
        clock, collections = beside.start()
        start = State.start(dynamics=rules, collections=collections, clock=clock or DEFAULT_CLOCK)
        environment = cls(
            toolset,
            dynamics=rules,
            fixtures=[fixture for path in recorded for fixture in load_fixtures(path)],
            start=start,
            model=model,
        )
        seeded = environment.start
        for data in seed_data:
            seeded = load_seed_data(data, rules, seeded)
        environment.start = note_changes(environment.start, seeded)
        return environment

    @property
    def tasks_path(self) -> Path | None:
        """The toolset's task file, if it has one."""
        return _Beside(self.toolset.folder).file("tasks.jsonl")

    def world(self, name: str = "default", *, seed: int = 0, clock: datetime | None = None) -> World:
        """A new world in the start state. The same seed, clock and calls give the same bytes."""
        state = self.start.replace(seed=seed)
        return World(name, state if clock is None else state.at(clock))

    async def rehearse(self, call: ToolCall, state: State) -> Rehearsal:
        """Rehearse `call` in `state` without changing anything; `Rehearsal.state` is the state after it.

        Raises:
            UnknownToolError: no tool has that name.
            DynamicsError: the tool's rule cannot be evaluated.
            UnsatisfiableError: the tool's output schema admits nothing.
        """
        return await self._ladder.rehearse(call, state)

    async def call(self, world: World, call: ToolCall) -> Rehearsal:
        """Rehearse `call` on `world` and let it happen there. Calls on one world take turns.

        A call that is cancelled or fails leaves the world as it was. The result carries the evidence label.

        Raises:
            UnknownToolError, DynamicsError, UnsatisfiableError: as `rehearse`.
        """
        async with world.lock:
            rehearsal = await self._ladder.rehearse(call, world.state)
            world.commit(rehearsal.state)
        return replace(rehearsal, result=replace(rehearsal.result, meta=self._label(rehearsal, world)))

    def _label(self, rehearsal: Rehearsal, world: World) -> dict[str, Json]:
        evidence = Rehearsed(
            layer=rehearsal.layer,
            confidence=rehearsal.confidence,
            outcome=rehearsal.outcome,
            world=world.name,
            version=rehearsal.state.version,
            toolset=self.toolset.name,
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
