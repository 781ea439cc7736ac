"""Toolsets, their tools and worlds; what differs between two states; and calls from a form."""

from __future__ import annotations

from itertools import islice
from typing import Any, Final
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from envace_sdk.errors import EnvaceError
from envace_sdk.evidence.label import read_label
from envace_sdk.json import UNSET, Json
from envace_sdk.tools.model import Tool, ToolCall
from envace_sdk.world.diff import EntityChange, diff
from envace_sdk.world.state import State

from . import shown
from .forms import Form, change
from .schemaform import PREFIX, fields, typed_arguments
from .studio import Studio
from .toolsets import Opened

__all__ = ["routes"]

_PAGE: Final = 50
_START: Final = "start"
_WORLD, _SNAPSHOT = "world:", "snapshot:"


def routes(studio: Studio) -> list[Route]:
    """The routes of this view."""
    view = _Worlds(studio)
    return [
        Route("/worlds", view.list_),
        Route("/worlds/toolset", view.toolset),
        Route("/worlds/tool", view.tool),
        Route("/worlds/world", view.world),
        Route("/worlds/diff", view.diff),
        change("/worlds/call", view.call, studio.keys),
        change("/worlds/snapshot", view.snapshot, studio.keys),
    ]


class _Worlds:
    """The endpoints. Those that are not async block, and run in threads."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio
        self._page = studio.pages.page

    def list_(self, request: Request) -> Response:
        """The toolsets."""
        return self._page(request, "toolsets.html", names=self._studio.toolsets.names)

    async def toolset(self, request: Request) -> Response:
        """One toolset: its tools, worlds and snapshots."""
        opened = await self._opened(request.query_params.get("name", ""))
        rows = await run_in_threadpool(opened.rows)
        values = {
            "one": opened.environment.toolset,
            "rules": opened.environment.dynamics.tools,
            "worlds": rows,
            "states": [*_states([row.name for row in rows], await opened.snapshots.names())],
            "is_stored": self._studio.toolsets.is_stored,
        }
        return await run_in_threadpool(self._page, request, "toolset.html", **values)

    async def tool(self, request: Request) -> Response:
        """One tool, with a form to call it."""
        opened = await self._opened(request.query_params.get("toolset", ""))
        return await self._form(request, opened, request.query_params.get("name", ""), 200)

    async def call(self, request: Request, form: Form) -> Response:
        """Call a tool in a world; the world is made if there is none of that name."""
        opened = await self._opened(form.get("toolset", ""))
        name, world = form.get("tool", ""), form.get("world", "").strip()
        tool = _tool(opened, name)
        try:
            arguments = typed_arguments(tool.input_schema, form)
        except ValueError as error:
            return await self._form(request, opened, name, 400, form, problem=f"{error}.")
        worlds = opened.worlds()
        try:
            before = (await run_in_threadpool(worlds.get, world)).state
            rehearsal = await worlds.call(world, ToolCall(name, arguments))
        except EnvaceError as error:
            return await self._form(request, opened, name, 409, form, problem=str(error))
        answer = {
            "label": read_label(rehearsal.result.meta),
            "is_error": rehearsal.result.is_error,
            "value": rehearsal.result.value(),
            "changes": shown.changes([_change(one) for one in diff(rehearsal.supposed or before, rehearsal.state)]),
            "arguments": arguments,
        }
        return await self._form(request, opened, name, 200, form, answer=answer)

    async def world(self, request: Request) -> Response:
        """One world: its collections, and the entities of one, a page at a time."""
        given = request.query_params
        opened = await self._opened(given.get("toolset", ""))
        state = await run_in_threadpool(opened.state, given.get("name", ""))
        names = sorted(state.collections)
        chosen = given.get("collection", names[0] if names else "")
        collection = state.collection(chosen)
        offset = _number(given.get("offset", "0"))
        values = {
            "toolset": opened.name,
            "name": given.get("name", ""),
            "state": state,
            "collections": [(name, len(state.collection(name))) for name in names],
            "chosen": chosen,
            "entities": list(islice(collection.items(), offset, offset + _PAGE)),
            "offset": offset,
            "later": offset + _PAGE if offset + _PAGE < len(collection) else None,
        }
        return await run_in_threadpool(self._page, request, "world.html", **values)

    async def diff(self, request: Request) -> Response:
        """What differs between two states: the start, a world or a snapshot."""
        given = request.query_params
        opened = await self._opened(given.get("toolset", ""))
        before, after = given.get("before", _START), given.get("after", _START)
        changes = diff(await _state(opened, before), await _state(opened, after))
        rows = await run_in_threadpool(opened.rows)
        values = {
            "toolset": opened.name,
            "before": before,
            "after": after,
            "states": _states([row.name for row in rows], await opened.snapshots.names()),
            "changes": shown.changes([_change(one) for one in islice(changes, shown.MOST_CHANGES)]),
            "count": len(changes),
        }
        return await run_in_threadpool(self._page, request, "diff.html", **values)

    async def snapshot(self, request: Request, form: Form) -> Response:  # noqa: ARG002  as all changes are called
        """Keep the state of a world under a name."""
        opened = await self._opened(form.get("toolset", ""))
        world, name = form.get("world", ""), form.get("name", "").strip()
        await run_in_threadpool(opened.state, world)
        await opened.snapshots.keep(name, await run_in_threadpool(opened.worlds().get, world))
        query = urlencode({"toolset": opened.name, "before": _SNAPSHOT + name, "after": _WORLD + world})
        return RedirectResponse(f"/worlds/diff?{query}", status_code=303)

    async def _opened(self, name: str) -> Opened:
        return await run_in_threadpool(self._studio.toolsets.get, name)

    async def _form(
        self,
        request: Request,
        opened: Opened,
        name: str,
        status: int,
        form: Form | None = None,
        *,
        problem: str = "",
        answer: dict[str, Any] | None = None,
    ) -> Response:
        tool = _tool(opened, name)
        rows = await run_in_threadpool(opened.rows)
        typed = form or {}
        values = {
            "toolset": opened.name,
            "tool": tool,
            "rule": opened.environment.dynamics.tools.get(name),
            "fields": fields(tool.input_schema),
            "prefix": PREFIX,
            "typed": typed,
            "world": typed.get("world") or request.query_params.get("world", "default"),
            "worlds": [row.name for row in rows],
            "problem": problem,
            "answer": answer,
        }
        return await run_in_threadpool(self._page, request, "tool.html", status, **values)


def _tool(opened: Opened, name: str) -> Tool:
    found = next((tool for tool in opened.environment.toolset if tool.name == name), None)
    if found is None:
        raise HTTPException(404, f"{opened.name} has no tool of that name.")
    return found


def _states(worlds: list[str], snapshots: list[str]) -> list[tuple[str, str]]:
    """What can be compared: the value of a choice, and its words."""
    return [
        (_START, "the start"),
        *((_WORLD + name, f"world {name}") for name in worlds),
        *((_SNAPSHOT + name, f"snapshot {name}") for name in snapshots),
    ]


async def _state(opened: Opened, which: str) -> State:
    """Raises: HTTPException (404), WorldError, StoreError."""
    if which.startswith(_WORLD):
        return await run_in_threadpool(opened.state, which.removeprefix(_WORLD))
    if which.startswith(_SNAPSHOT):
        return await opened.snapshots.get(which.removeprefix(_SNAPSHOT))
    if which != _START:
        raise HTTPException(404, "There is no such state.")
    return opened.environment.start


def _change(one: EntityChange) -> Json:
    fields_ = {
        path: {side: value for side, value in (("before", old), ("after", new)) if value is not UNSET}
        for path, (old, new) in one.fields.items()
    }
    return {"kind": one.kind, "collection": one.collection, "key": one.key, "fields": fields_}


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0
