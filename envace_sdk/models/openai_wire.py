"""The bodies of OpenAI's chat and completion endpoints, and what their answers say. Answers are untrusted."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from envace_sdk.json import Json

from .model import Completion, FinishReason, NativeCall, Request

__all__ = ["WireError", "body_of", "path_of", "read_completion", "said_by"]

_LONGEST: Final = 500


class WireError(Exception):
    """An answer is not what the endpoint must answer; the message says what is missing."""


def path_of(request: Request) -> str:
    """Which endpoint takes it, below the base URL."""
    return "/chat/completions" if request.prompt_ids is None else "/completions"


def body_of(request: Request, model: str) -> dict[str, Json]:
    """The body that asks for a completion, for its token ids and for their log-probabilities."""
    sampling = request.sampling
    body: dict[str, Json] = {"model": model, "max_tokens": sampling.max_tokens, "temperature": sampling.temperature}
    if request.prompt_ids is None:
        body |= {"messages": [message.as_json() for message in request.messages or ()], "logprobs": True}
    else:
        body |= {"prompt": list(request.prompt_ids), "logprobs": 0}
    if request.tools:
        body["tools"] = [dict(tool) for tool in request.tools]
    if request.schema is not None:
        form = {"name": "answer", "schema": request.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": form}
    if sampling.top_p < 1 or request.prompt_ids is not None:
        # Whoever gives tokens means what is said; vLLM would take another one from the model's generation_config.
        body["top_p"] = sampling.top_p
    if sampling.seed is not None:
        body["seed"] = sampling.seed
    if sampling.stop:
        body["stop"] = list(sampling.stop)
    return {**body, "return_token_ids": True}


def read_completion(answer: Json, request: Request, *, tempered: bool) -> Completion:
    """The completion in an endpoint's answer.

    Args:
        answer: the JSON of the answer.
        request: what was asked.
        tempered: whether the server's log-probabilities are at the request's temperature; else they are at 1, and at
            other temperatures are left out.

    Raises:
        WireError: it is not such an answer.
    """
    choice = _first(answer)
    chat = request.prompt_ids is None
    message = choice.get("message") if chat else choice
    if not isinstance(message, Mapping):
        raise WireError("the choice has no message")
    text = message.get("content" if chat else "text")
    if text is not None and not isinstance(text, str):
        raise WireError("the text of the choice is not a text")
    token_ids = _ids(choice.get("token_ids"))
    usable = token_ids is not None and (tempered or request.sampling.temperature in {0, 1})
    logprobs = _logprobs(choice.get("logprobs")) if usable else None
    prompt_ids = request.prompt_ids or _ids(choice.get("prompt_token_ids")) or _ids(answer.get("prompt_token_ids"))
    finish, error = _finish(choice.get("finish_reason"))
    return Completion(
        text or "",
        token_ids=token_ids,
        logprobs=logprobs if token_ids is not None and len(logprobs or ()) == len(token_ids) else None,
        finish_reason=finish,
        prompt_ids=prompt_ids,
        tool_calls=_calls(message.get("tool_calls")) if chat else (),
        error=error,
    )


def _first(answer: Json) -> Mapping[str, Any]:
    choices = answer.get("choices") if isinstance(answer, Mapping) else None
    if not isinstance(choices, Sequence) or not choices or not isinstance(choices[0], Mapping):
        raise WireError("it has no choices")
    found: Mapping[str, Any] = choices[0]
    return found


def _finish(reason: Json) -> tuple[FinishReason, str]:
    if reason in {"stop", "tool_calls", "function_call", None}:
        return "stop", ""
    return ("length", "") if reason == "length" else ("error", f"the server ended it: {str(reason)[:80]}")


def _ids(value: Json) -> tuple[int, ...] | None:
    if not isinstance(value, list) or not all(type(each) is int and each >= 0 for each in value):
        return None
    return tuple(value)


def _logprobs(value: Json) -> tuple[float, ...] | None:
    """Of the chat endpoint a list of objects, of the completion endpoint a list of numbers."""
    if not isinstance(value, Mapping):
        return None
    entries = value.get("content")
    found = (
        [entry.get("logprob") if isinstance(entry, Mapping) else None for entry in entries]
        if isinstance(entries, list)
        else value.get("token_logprobs")
    )
    if not isinstance(found, list) or not all(isinstance(each, int | float) and math.isfinite(each) for each in found):
        return None
    return tuple(min(float(each), 0.0) for each in found)


def _calls(value: Json) -> tuple[NativeCall, ...]:
    if not value:
        return ()
    if not isinstance(value, list):
        raise WireError("tool_calls is not a list")
    calls = []
    for entry in value:
        function = entry.get("function") if isinstance(entry, Mapping) else None
        name = function.get("name") if isinstance(function, Mapping) else None
        arguments = function.get("arguments") if isinstance(function, Mapping) else None
        if not isinstance(name, str) or not isinstance(arguments, str):
            raise WireError("a tool call has no name or no arguments")
        identity = entry.get("id")
        calls.append(NativeCall(name, arguments, identity if isinstance(identity, str) else None))
    return tuple(calls)


def said_by(text: str) -> str:
    """What the body of an error says, in a line."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = text
    for key in ("error", "message", "detail"):
        if isinstance(found, Mapping) and key in found:
            found = found[key]
    return " ".join(str(found).split())[:_LONGEST]
