"""From JSON that a model wrote to the parts of a call, or to the reason why it is none."""

from __future__ import annotations

from collections.abc import Sequence

from envace_sdk.errors import MalformedCallError
from envace_sdk.json import Json
from envace_sdk.models.model import NativeCall
from envace_sdk.tools.model import ToolCall

from .strictjson import MAX_TEXT, read_json

__all__ = ["arguments", "decoded", "identity", "named", "native_calls"]


def decoded(text: str) -> Json:
    """A JSON value. Raises: MalformedCallError."""
    try:
        return read_json(text)
    except ValueError as error:
        raise MalformedCallError(f"the call is {error}" if str(error).startswith("not JSON") else str(error)) from None


def named(name: Json) -> str:
    """A tool's name. Raises: MalformedCallError."""
    if not isinstance(name, str) or not name:
        raise MalformedCallError("the call's name is not a text, or is empty")
    return name


def arguments(value: Json) -> dict[str, Json]:
    """A call's arguments. Raises: MalformedCallError."""
    if not isinstance(value, dict):
        raise MalformedCallError("the call's arguments are not an object")
    return value


def identity(value: Json) -> str | None:
    """A call's id, if it has one. Raises: MalformedCallError."""
    if value is not None and not isinstance(value, str):
        raise MalformedCallError("the call's id is not a text")
    return value


def native_calls(calls: Sequence[NativeCall]) -> tuple[ToolCall, ...]:
    """Calls that came in the fields of OpenAI's chat API.

    Raises:
        MalformedCallError: a name is empty, or arguments are not the JSON text of an object.
    """
    if any(len(call.arguments) > MAX_TEXT for call in calls):
        raise MalformedCallError(f"the arguments are longer than {MAX_TEXT:,} characters")
    return tuple(ToolCall(named(call.name), arguments(decoded(call.arguments)), call.id) for call in calls)
