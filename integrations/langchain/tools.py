"""LangChain tools that answer from a rehearsed world."""

from __future__ import annotations

import json
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool, ToolException

from envace_sdk.evidence import KEY
from envace_sdk.inprocess import RehearsedTools
from envace_sdk.json import UNSET
from envace_sdk.tools.model import ToolResult

__all__ = ["answer_of", "langchain_tools"]


def langchain_tools(tools: RehearsedTools) -> list[BaseTool]:
    """One LangChain tool for each tool of the world, sync and async.

    An error result becomes a tool message with the status `error`. The artifact of any other message holds the
    `structured_content`, if there is some, and the `evidence` label. A fault that loses the answer raises
    `LostAnswerError`.
    """
    return [_tool(tools, name) for name in tools]


def _tool(tools: RehearsedTools, name: str) -> BaseTool:
    def called(**arguments: Any) -> tuple[Any, dict[str, Any]]:
        return answer_of(tools.call_sync(name, arguments).result)

    async def called_async(**arguments: Any) -> tuple[Any, dict[str, Any]]:
        return answer_of((await tools.call(name, arguments)).result)

    tool = tools.environment.toolset[name]
    return StructuredTool(
        name=name,
        description=tool.description or name,
        args_schema=dict(tool.input_schema),
        func=called,
        coroutine=called_async,
        response_format="content_and_artifact",
        handle_tool_error=True,
        metadata={"annotations": dict(tool.annotations)},
    )


def answer_of(result: ToolResult) -> tuple[Any, dict[str, Any]]:
    """Content and artifact of a result. Raises: ToolException if it is an error."""
    texts = [
        str(block.get("text", "")) if block.get("type") == "text" else json.dumps(dict(block), ensure_ascii=False)
        for block in result.content
    ]
    if result.is_error:
        raise ToolException("\n".join(texts))
    artifact: dict[str, Any] = {"evidence": result.meta.get(KEY)}
    if result.structured is not UNSET:
        artifact["structured_content"] = result.structured
    return "\n".join(texts), artifact
