"""What the environment role writes: one JSON object in a `<response>` tag, with the tool's result or its error.

`{"result": …}` is a success, `{"error": "…"}` a refusal. The member says which: a result may itself be an object that
speaks of errors, so nothing inside it could.
"""

from __future__ import annotations

from typing import Final

from envace_sdk.errors import MalformedCallError, MalformedResponseError
from envace_sdk.json import Json
from envace_sdk.jsonschema import compile_schema, explain
from envace_sdk.tools.model import Tool, ToolResult

from .stream import CallStream, Reading, Source
from .strictjson import read_json, write_json

__all__ = ["RESPONSE", "parse_response", "render_response", "shown_result"]

RESPONSE: Final = ("<response>", "</response>")
"""What stands around the JSON; also `Request.wrap` for a constrained response."""


def shown_result(result: ToolResult) -> str:
    """A result as the acting role reads it: the answer as JSON, or an object with `error` where the tool refused."""
    return write_json(_envelope(result) if result.is_error else result.value())


def render_response(result: ToolResult) -> str:
    """A result as the environment role must write it: what `parse_response` reads back.

    Of a result, its data is kept: structured content, else the first text (as JSON, where it is). Pictures and further
    texts are not.
    """
    return f"{RESPONSE[0]}{write_json(_envelope(result))}{RESPONSE[1]}"


def parse_response(text: str, tool: Tool, *, bare: bool = False, thinking: bool = False) -> ToolResult:
    """The result that the environment role wrote.

    Args:
        text: the whole text of the model; a `<think>` part at its start is passed over.
        tool: whose response it is. A result must be valid against its output schema, if it has one.
        bare: take the JSON without the tag too, as a backend gives it that constrained the text to a schema but could
            not put anything around it.
        thinking: the prompt has already opened `<think>`.

    Raises:
        MalformedResponseError: it is no response; the message says why.
    """
    stream = CallStream(lambda source, _: _grammar(source, bare=bare), thinking)
    try:
        stream.feed(text)
        body = stream.finish().text
    except MalformedCallError as error:
        raise MalformedResponseError(str(error).replace("call's", "response's")) from None
    try:
        found = read_json(body)
    except ValueError as error:
        raise MalformedResponseError(f"the response is {error}") from None
    return _result(found, tool)


def _grammar(source: Source, *, bare: bool) -> Reading[str]:
    opened = yield from source.take(RESPONSE[0])
    if not opened and not (bare and (yield from source.peek()) == "{"):
        raise MalformedResponseError(f"the response does not begin with {RESPONSE[0]}")
    yield from source.space()
    body = yield from source.value()
    yield from source.space()
    if opened and not (yield from source.take(RESPONSE[1])):
        raise MalformedResponseError(f"the response's JSON is not followed by {RESPONSE[1]}")
    yield from source.space()
    if (yield from source.peek()):
        raise MalformedResponseError("text after the response")
    return body


def _result(found: Json, tool: Tool) -> ToolResult:
    if not isinstance(found, dict) or found.keys() not in ({"result"}, {"error"}):
        raise MalformedResponseError('the response is not an object with one member, "result" or "error"')
    if "error" in found:
        message = found["error"]
        if not isinstance(message, str) or not message:
            raise MalformedResponseError("the error is not a text, or is empty")
        return ToolResult.text(message, is_error=True)
    value, schema = found["result"], tool.output_schema
    if schema is None:
        return ToolResult.text(value) if isinstance(value, str) else ToolResult.json(value, structured=False)
    violations = compile_schema(schema, where=f"the output schema of {tool.name}").violations(value)
    if violations:
        raise MalformedResponseError(f"the result does not fit the output schema: {explain(violations, limit=2)}")
    return ToolResult.json(value, structured=True)


def _envelope(result: ToolResult) -> dict[str, Json]:
    if result.is_error:
        return {"error": result.first_text or "the tool failed"}
    return {"result": result.value()}
