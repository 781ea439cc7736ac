"""Control of worlds, beside MCP and never as tools in the catalogue: list, show, reset, fork, snapshot, restore, diff,
faults.

One request is one JSON object, `{"do": "reset", "world": "default"}`; its answer is `{"ok": true, "result": …}` or
`{"ok": false, "error": "…"}`. Over the server's socket they are lines; over HTTP, the operation is in the path.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from envace_sdk.errors import EnvaceError, FaultError, WorldError
from envace_sdk.faults import PRESETS, FaultPlan, fault_plan
from envace_sdk.json import UNSET, Json
from envace_sdk.rehearse import Worlds
from envace_sdk.world.clock import clock_text
from envace_sdk.world.diff import EntityChange, diff
from envace_sdk.world.naming import NAME_LIMIT
from envace_sdk.world.state import State
from envace_sdk.world.world import World

from .snapshots import Snapshots

if TYPE_CHECKING:
    from envace_sdk.store import Store

__all__ = ["OPERATIONS", "Control"]

logger = logging.getLogger(__name__)

OPERATIONS: Final = ("list", "show", "reset", "fork", "snapshot", "restore", "diff", "faults")
Arguments: TypeAlias = Mapping[str, Json]


class Control:
    """The operations on the worlds of one server, which may serve several toolsets."""

    def __init__(
        self, realms: Mapping[str, Worlds], *, transport: str, store: Store | None = None, shared: bool = False
    ) -> None:
        self._realms = realms
        self._transport = transport
        self._shared = shared
        self._snapshots = {toolset: Snapshots(toolset, store) for toolset in realms}
        self._operations: Mapping[str, Callable[[Arguments], Awaitable[Json]]] = {
            "list": self._list,
            "show": self._show,
            "reset": self._reset,
            "fork": self._fork,
            "snapshot": self._snapshot,
            "restore": self._restore,
            "diff": self._diff,
            "faults": self._faults,
        }

    async def answer(self, request: Json) -> dict[str, Json]:
        """Carry out one request. Never raises: what is wrong with it is in the answer."""
        try:
            if not isinstance(request, dict) or request.get("do") not in OPERATIONS:
                raise WorldError(f"expected an object whose `do` is one of {', '.join(OPERATIONS)}")
            _require_json(request)
            return {"ok": True, "result": await self._operations[request["do"]](request)}
        except EnvaceError as error:
            return {"ok": False, "error": str(error)}
        except Exception:
            logger.exception("control operation failed")
            return {"ok": False, "error": "internal error; the server's log has the details"}

    async def _list(self, arguments: Arguments) -> Json:  # noqa: ARG002  all operations look alike
        return {
            "pid": os.getpid(),
            "transport": self._transport,
            "shared": self._shared,
            "toolsets": list(self._realms),
            "worlds": [self._summary(toolset, world) for toolset, worlds in self._realms.items() for world in worlds],
        }

    async def _show(self, arguments: Arguments) -> Json:
        toolset, world = await self._find(arguments)
        state = world.state
        shown = {**self._summary(toolset, world), "snapshots": await self._snapshots[toolset].names()}
        name = _text(arguments, "collection", None)
        if name is None:
            return shown
        if name not in state.collections:
            raise WorldError(f"world {world.name!r} has no collection {name!r} (it has: {_names(state.collections)})")
        collection = state.collection(name)
        key = _text(arguments, "key", None)
        if key is not None:
            if key not in collection:
                raise WorldError(f"{name} of world {world.name!r} has no {key!r}")
            return {**shown, "documents": [[key, collection.get(key)]]}
        limit, offset = _count(arguments, "limit", 20), _count(arguments, "offset", 0)
        page = [[key, document] for number, (key, document) in enumerate(collection.items()) if number < offset + limit]
        return {**shown, "documents": page[offset:]}

    async def _reset(self, arguments: Arguments) -> Json:
        toolset, world = await self._find(arguments)
        await self._realms[toolset].change(world, lambda _: world.origin)
        return self._summary(toolset, world)

    async def _fork(self, arguments: Arguments) -> Json:
        toolset, world = await self._find(arguments)
        return self._summary(toolset, await self._realms[toolset].forked(world.name, _text(arguments, "to")))

    async def _snapshot(self, arguments: Arguments) -> Json:
        toolset, world = await self._find(arguments)
        version = f"-v{world.state.version}"
        name = _text(arguments, "name", f"{world.name[: NAME_LIMIT - len(version)]}{version}")
        state = await self._snapshots[toolset].keep(name, world)
        answer = {**self._summary(toolset, world), "snapshot": name}
        return {**answer, "state": state.to_json()} if arguments.get("state") is True else answer

    async def _restore(self, arguments: Arguments) -> Json:
        toolset, world = await self._find(arguments)
        if "state" in arguments:
            state = State.from_json(arguments["state"])
        else:
            state = await self._snapshots[toolset].get(_text(arguments, "name"))
        state.check_keys(self._realms[toolset].environment.dynamics)
        await self._realms[toolset].change(world, lambda _: state)
        return self._summary(toolset, world)

    async def _diff(self, arguments: Arguments) -> Json:
        toolset, world = await self._find(arguments)
        since, other = _text(arguments, "since", None), _text(arguments, "other", None)
        if other is not None:
            before = (await self._find({**arguments, "world": other, "toolset": toolset}))[1].state
        else:
            before = world.origin if since is None else await self._snapshots[toolset].get(since)
        changes = diff(before, world.state)
        return {**self._summary(toolset, world), "changes": [_change(change) for change in changes]}

    async def _faults(self, arguments: Arguments) -> Json:
        """Show the plan of a world, or switch to another: a preset's name or a plan's data, null for none."""
        toolset, world = await self._find(arguments)
        worlds = self._realms[toolset]
        if "plan" in arguments:
            await worlds.switch_faults(world.name, _plan(arguments["plan"]))
        faults = worlds.faults(world.name)
        if faults is None:
            return {**self._summary(toolset, world), "plan": None, "counts": []}
        shown = {"plan": faults.plan.to_document(), "counts": faults.counts(world.state)}
        return {**self._summary(toolset, world), **shown}

    async def _find(self, arguments: Arguments) -> tuple[str, World]:
        """The world that a request names, and its toolset."""
        name, toolset = _text(arguments, "world"), _text(arguments, "toolset", None)
        if toolset is not None and toolset not in self._realms:
            raise WorldError(f"toolset {toolset!r} is not served here (served: {_names(self._realms)})")
        searched = self._realms if toolset is None else {toolset: self._realms[toolset]}
        found = [(realm, world) for realm, worlds in searched.items() if (world := await worlds.find(name)) is not None]
        if not found:
            known = _names({world.name for worlds in searched.values() for world in worlds})
            raise WorldError(f"no world {name!r} here (there are: {known})")
        if len(found) > 1:
            raise WorldError(
                f"several toolsets have a world {name!r}: say which ({_names(realm for realm, _ in found)})"
            )
        return found[0]

    def _summary(self, toolset: str, world: World) -> dict[str, Json]:
        state, faults = world.state, self._realms[toolset].faults(world.name)
        return {
            "toolset": toolset,
            "world": world.name,
            "seed": state.seed,
            "clock": clock_text(state.clock),
            "version": state.version,
            "entities": {name: len(collection) for name, collection in sorted(state.collections.items())},
            "faults": None if faults is None else faults.plan.name,
        }


def _plan(value: Json) -> FaultPlan | None:
    """Raises: FaultError. Whoever controls a server has no business with its files."""
    if isinstance(value, str) and value != "off" and value not in PRESETS:
        raise FaultError(f"no preset {value[:100]!r} (presets: {_names(PRESETS)})")
    return FaultPlan.from_document(value) if value is not None and not isinstance(value, str) else fault_plan(value)


def _require_json(request: Json) -> None:
    """Parsers let pass what cannot be answered, nor stored. Raises: WorldError."""
    try:
        json.dumps(request, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise WorldError(f"the request is not JSON: {error}") from None


def _change(change: EntityChange) -> dict[str, Json]:
    fields = {
        path: {side: value for side, value in (("before", before), ("after", after)) if value is not UNSET}
        for path, (before, after) in change.fields.items()
    }
    return {"kind": change.kind, "collection": change.collection, "key": change.key, "fields": fields}


def _names(names: Any) -> str:
    return ", ".join(sorted(names)) or "none"


def _text(arguments: Arguments, name: str, default: Any = UNSET) -> Any:
    value = arguments.get(name, default)
    if value is UNSET:
        raise WorldError(f"`{name}` is missing")
    if value is not default and not isinstance(value, str):
        raise WorldError(f"`{name}` must be text")
    return value


def _count(arguments: Arguments, name: str, default: int) -> int:
    value = arguments.get(name, default)
    if type(value) is not int or value < 0:
        raise WorldError(f"`{name}` must be a whole number from 0")
    return value
