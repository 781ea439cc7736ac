"""What reaches a tool: the last place before it runs, after all that could still change a call or answer it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from copy import copy
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool, Tool

from envace_sdk.errors import EvidenceError, NotExecutedError
from envace_sdk.guard import Action

from .calls import arguments_of, visible

__all__ = ["Reached", "innermost"]

_PLAIN = (BaseTool, StructuredTool, Tool)


class Reached:
    """What came of one right to execute: whether the tool ran, and what it returned or raised."""

    def __init__(self, action: Action) -> None:
        self.action = action
        self.ran = False
        """Whether the tool's own code was entered."""
        self.value: Any = None
        self.error: Exception | None = None
        """What it raised, also where the framework makes a message of it."""
        self.refusal: NotExecutedError | None = None
        """Why a call was not let through here, if one was not."""

    def enter(self, tool: BaseTool, arguments: Mapping[str, Any]) -> None:
        """Let a call through.

        Raises:
            NotExecutedError: it is not the one that was judged, or it has been executed already.
        """
        try:
            same = self.action.edited(visible(tool, arguments)).digest == self.action.digest
        except EvidenceError:
            same = False
        if same and not self.ran:
            self.error = None
            return
        why = (
            "it was executed once, and the verdict allows no more"
            if same
            else "its arguments changed after it was judged"
        )
        self.refusal = NotExecutedError(f"{self.action.name} was not executed: {why}")
        raise self.refusal

    def settle(self, returned: Any, raised: Exception | None) -> Any:
        """What the tool answered, once the framework has returned or raised something for the call.

        Raises:
            NotExecutedError: the tool never ran; somebody else answered, or its arguments were refused.
            Exception: what the tool raised.
        """
        if not self.ran:
            raise NotExecutedError(f"{self.action.name}: the tool itself never ran") from raised
        if self.error is not None:
            raise self.error
        if raised is None:
            return returned
        if raised is self.refusal:
            return self.value
        raise raised


def innermost(tool: BaseTool, reached: Reached) -> BaseTool:
    """The tool for one execution: alike in everything, but it lets only the call through that was judged."""

    def invoke(input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        reached.enter(tool, arguments_of(tool, input))
        try:
            reached.value = _noting(tool, reached).invoke(input, config, **kwargs)
        except Exception as error:
            reached.error = error
            raise
        return reached.value

    async def ainvoke(input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        reached.enter(tool, arguments_of(tool, input))
        try:
            reached.value = await _noting(tool, reached).ainvoke(input, config, **kwargs)
        except Exception as error:
            reached.error = error
            raise
        return reached.value

    return _with(tool, invoke=invoke, ainvoke=ainvoke)


def _noting(tool: BaseTool, reached: Reached) -> BaseTool:
    """The tool, noting when its own code is entered, which LangChain may keep it from by refusing the arguments.

    Where a class has its own way to invoke, it counts as entered: what may have run is never taken for undone.
    """
    kind = type(tool)
    if not any(kind.invoke is each.invoke and kind.ainvoke is each.ainvoke for each in _PLAIN) or (
        kind.run is not BaseTool.run or kind.arun is not BaseTool.arun
    ):
        reached.ran = True
        return tool
    return _with(tool, _run=_entering(tool._run, reached), _arun=_entering(tool._arun, reached))


def _with(tool: BaseTool, **methods: Callable[..., Any]) -> BaseTool:
    made = copy(tool)
    for name, method in methods.items():
        object.__setattr__(made, name, method)  # past pydantic, which takes no attribute that is not a field
    return made


def _entering(method: Callable[..., Any], reached: Reached) -> Callable[..., Any]:
    @functools.wraps(method)
    def entered(*args: Any, **kwargs: Any) -> Any:
        reached.ran = True
        return method(*args, **kwargs)

    return entered
