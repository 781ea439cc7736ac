"""The one method of every chat model, and the plain values that go in and come out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Literal, Protocol, Self, TypeAlias

from envace_sdk.errors import ModelError
from envace_sdk.json import Json

__all__ = ["ChatModel", "Closing", "Completion", "FinishReason", "Message", "NativeCall", "Request", "Role", "Sampling"]

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
"""Who says a message."""

FinishReason: TypeAlias = Literal["stop", "length", "error"]
"""Why a completion ended: the model was done (or said a stop string), ran out of tokens, or could not be run."""


@dataclass(frozen=True, slots=True)
class NativeCall:
    """A tool call in the fields of OpenAI's chat API, where it is not part of the text. Unchecked: a model wrote it."""

    name: str
    arguments: str
    """JSON text, as it came."""
    id: str | None = None

    def as_json(self) -> dict[str, Json]:
        """The entry of `tool_calls` in a message."""
        call: dict[str, Json] = {"type": "function", "function": {"name": self.name, "arguments": self.arguments}}
        return call if self.id is None else {"id": self.id, **call}


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation, in the fields of OpenAI's chat API."""

    role: Role
    content: str
    tool_calls: tuple[NativeCall, ...] = ()
    name: str | None = None
    tool_call_id: str | None = None

    def as_json(self) -> dict[str, Json]:
        """The message as the API and chat templates take it; what is not set is left out."""
        out: dict[str, Json] = {"role": self.role, "content": self.content}
        if self.tool_calls:
            out["tool_calls"] = [call.as_json() for call in self.tool_calls]
        if self.name is not None:
            out["name"] = self.name
        if self.tool_call_id is not None:
            out["tool_call_id"] = self.tool_call_id
        return out


@dataclass(frozen=True, slots=True)
class Sampling:
    """How tokens are drawn. For training, leave `top_p` at 1: log-probabilities do not know what it cut off.

    Raises:
        ModelError: a value is out of range.
    """

    max_tokens: int = 512
    """The most tokens a completion may have, at least 1."""
    temperature: float = 1.0
    """0 takes the most probable token each time."""
    top_p: float = 1.0
    seed: int | None = None
    """The same request with the same seed on the same backend and machine gives the same completion, whatever else
    is in the batch, as far as floating-point sums allow; None: different each time."""
    stop: tuple[str, ...] = ()
    """Texts that end a completion; the one met is not part of `Completion.text`."""

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            raise ModelError(f"max_tokens is {self.max_tokens}; it must be at least 1")
        if not 0 <= self.temperature < float("inf"):
            raise ModelError(f"temperature is {self.temperature}; it must be a finite number, at least 0")
        if not 0 < self.top_p <= 1:
            raise ModelError(f"top_p is {self.top_p}; it must be above 0 and at most 1")
        if not all(self.stop):
            raise ModelError("a stop text is empty; leave it out")


@dataclass(frozen=True, slots=True)
class Request:
    """What a model is asked: messages, or the very tokens of a prompt.

    Raises:
        ModelError: it has both or neither.
    """

    messages: tuple[Message, ...] | None = None
    prompt_ids: tuple[int, ...] | None = None
    """Token in, token out: the prompt is these tokens, nothing is added."""
    tools: tuple[Mapping[str, Json], ...] = ()
    """Tools in OpenAI's form, for models that take tools as data; other models read of tools in the messages."""
    schema: Json | None = None
    """A JSON Schema that the text must satisfy."""
    wrap: tuple[str, str] = ("", "")
    """With `schema`: texts that must stand around the JSON, such as a tag. A backend that cannot constrain them leaves
    them out, so that the text is the bare JSON."""
    sampling: Sampling = Sampling()

    def __post_init__(self) -> None:
        if (self.messages is None) == (self.prompt_ids is None):
            raise ModelError("a request holds either messages or prompt_ids")


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model said to one request."""

    text: str
    """Without special tokens, and without the stop text."""
    token_ids: tuple[int, ...] | None = None
    """Every token that was sampled, the end token and those of a stop text included; None: the backend does not say."""
    logprobs: tuple[float, ...] | None = None
    """Natural log-probability of each of `token_ids` under the model at the request's temperature (at 1 for
    temperature 0), over the whole vocabulary: neither `top_p` nor a schema changes it. None: the backend does not
    say."""
    finish_reason: FinishReason = "stop"
    prompt_ids: tuple[int, ...] | None = None
    """The prompt as the model saw it; None: the backend does not say."""
    tool_calls: tuple[NativeCall, ...] = ()
    """From servers that parse calls out of the text themselves."""
    error: str = ""
    """With finish reason `error`: why this one request could not be answered, where others of the batch were."""


class ChatModel(Protocol):
    """A language model: a batch of requests in, a completion for each out, in order."""

    name: str
    """What evidence labels and reports call it."""

    async def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Answer a batch. A request that alone cannot be answered, such as one too long, has finish reason `error`.

        Raises:
            ModelError: the model cannot be run at all, or refuses what the backend cannot do.
        """
        ...

    async def close(self) -> None:
        """Let go of what the model holds: connections, memory, threads. Closing twice is harmless."""
        ...


class Closing:
    """`async with model:` for the backends: closes it at the end."""

    async def close(self) -> None:
        """Nothing to let go of, unless a backend says otherwise."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()
