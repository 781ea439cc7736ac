"""From a tool call of LangChain to an action of the guard, the same one on every pass over its task."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from weakref import WeakKeyDictionary

from langchain_core.tools import BaseTool

from envace_sdk.guard import Guard, Pass
from envace_sdk.json import Json

from .underway import Underway

if TYPE_CHECKING:
    from langgraph.runtime import ExecutionInfo

__all__ = [
    "Passes",
    "Servers",
    "TaskPass",
    "annotations_of",
    "arguments_of",
    "injected_names",
    "is_tool_call",
    "passes_of",
    "server_of",
    "visible",
]

Servers: TypeAlias = str | Mapping[str, str]
"""The server whose tools they are: one for all, or by the name of the tool; "" where there is none."""

_MOST: Final = 4096
_HINTS: Final = ("title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


class TaskPass:
    """One pass over a task of a graph."""

    def __init__(self, calls: Pass, name: str) -> None:
        self.calls = calls
        """Numbers them."""
        self.name = name
        """The id of the task."""
        self.underway = Underway()
        self._kept: Any = None
        self._lock = threading.Lock()

    def kept(self, make: Callable[[], Any]) -> Any:
        """What `make` made when it was first asked for."""
        with self._lock:
            if self._kept is None:
                self._kept = make()
            return self._kept


class Passes:
    """The passes that are under way, over any number of tasks; may be used from any thread.

    A task of LangGraph keeps its id when it is resumed, and has a new one in a later turn and in a fork of the thread.
    The moment of its first attempt is new on every pass.
    """

    def __init__(self) -> None:
        self._passes: OrderedDict[tuple[str, str, str], tuple[tuple[float, int], TaskPass]] = OrderedDict()
        self._lock = threading.Lock()

    def current(self, info: ExecutionInfo, *, task: str = "") -> TaskPass:
        """The pass that an execution belongs to. `task` tells its actions from others, in place of the task's id."""
        thread = info.thread_id or ""
        if info.node_first_attempt_time is None:
            # Equal calls are then taken for one, so that none is executed twice.
            return TaskPass(Pass(thread, task or info.task_id), info.task_id)
        key = (thread, info.checkpoint_ns, info.task_id)
        stamp = (info.node_first_attempt_time, info.node_attempt)
        with self._lock:
            known = self._passes.get(key)
            if known is None or known[0] != stamp:
                known = (stamp, TaskPass(Pass(thread, task or info.task_id), info.task_id))
            self._passes[key] = known
            self._passes.move_to_end(key)
            if len(self._passes) > _MOST:
                self._passes.popitem(last=False)
            return known[1]


_by_guard: WeakKeyDictionary[Guard, Passes] = WeakKeyDictionary()
_lock = threading.Lock()


def passes_of(guard: Guard) -> Passes:
    """The passes of all that one guard stands before, so that its tools in one task know of each other."""
    with _lock:
        return _by_guard.setdefault(guard, Passes())


def injected_names(tool: BaseTool) -> frozenset[str]:
    """The parameters of a tool that LangChain fills in: a runtime, a state, a store, the call's id."""
    names = frozenset(getattr(tool, "_injected_args_keys", ()))
    if isinstance(tool.args_schema, dict):
        return names
    shown: Any = tool.tool_call_schema
    every: Any = tool.get_input_schema()
    return names | (every.model_fields.keys() - shown.model_fields.keys()) if hasattr(shown, "model_fields") else names


def visible(tool: BaseTool, arguments: Mapping[str, Any]) -> dict[str, Json]:
    """The arguments that the model chose."""
    hidden = injected_names(tool)
    return {name: value for name, value in arguments.items() if name not in hidden}


def is_tool_call(given: Any) -> bool:
    """Whether a tool is given a whole tool call, not its arguments alone."""
    return isinstance(given, Mapping) and given.get("type") == "tool_call"


def arguments_of(tool: BaseTool, given: Any) -> dict[str, Any]:
    """The arguments in what a tool is given: a tool call, arguments by name, or the value of its only one."""
    if is_tool_call(given):
        return dict(given["args"])
    if isinstance(given, Mapping):
        return dict(given)
    hidden = injected_names(tool)
    return {next((name for name in tool.args if name not in hidden), "input"): given}


def annotations_of(tool: BaseTool) -> dict[str, Json]:
    """What the tool's server says of it, as MCP's adapters keep it: hints, never facts."""
    metadata = tool.metadata or {}
    nested = metadata.get("annotations")
    found: dict[str, Json] = {name: metadata[name] for name in _HINTS if name in metadata}
    return found | dict(nested) if isinstance(nested, Mapping) else found


def server_of(tool: str, servers: Servers) -> str:
    """The server whose tool it is."""
    return servers if isinstance(servers, str) else servers.get(tool, "")
