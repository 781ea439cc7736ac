"""One item of a benchmark, how a model is asked it, and what it answered."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, Self, TypeAlias, get_args

from envace_sdk.errors import MalformedCallError, ModelError
from envace_sdk.models import ChatModel, Completion, Message, Request, Sampling
from envace_sdk.rehearse.prompting import ABOUT
from envace_sdk.roles import Style, ToolFormat, format_of_template, openai_tools, tool_format
from envace_sdk.tools.model import Tool, ToolCall

__all__ = ["Answer", "Asking", "Item"]

Problem: TypeAlias = Literal["malformed", "cut off", "failed"]
"""Why an answer holds no calls that can be read: they are malformed; the token limit was met; the model took no such
prompt."""

_TASK: Final = (
    "Answer the user by calling the tools; write several calls at once where several are needed. If no tool fits, or "
    "the user has not said what a call needs, answer in plain words, without a call."
)


@dataclass(frozen=True, slots=True)
class Item:
    """One question, and the tools that may be called."""

    id: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model answered."""

    id: str
    text: str
    calls: tuple[ToolCall, ...] = ()
    problem: Problem | None = None
    why: str = ""
    tokens: int | None = None
    """How many were sampled; None: the backend does not say."""


@dataclass(frozen=True, slots=True)
class Asking:
    """How items are put to the model, all in the same way.

    A call is what the format reads as one: strictly, and nothing is guessed from text that is none.
    """

    form: ToolFormat
    style: Style = "json"
    sampling: Sampling = field(default_factory=lambda: Sampling(temperature=0))

    @classmethod
    def of(cls, model: ChatModel, named: str | None, sampling: Sampling) -> Self:
        """In the format that is named; else in the one the model was trained in, where its folder says so; else in the
        one its chat template speaks; else as data of the API for endpoints, and in `hermes` for all others.

        Raises:
            ModelError: there is no such format, or what the folder says cannot be read.
        """
        about = _about(model)
        style: Style = about.get("style", "json")
        if style not in get_args(Style):
            raise ModelError(f"{ABOUT} of {model.name}: style is {style!r}; it is one of {', '.join(get_args(Style))}")
        chosen = named or about.get("tool_format") or _spoken(model)
        return cls(tool_format(str(chosen)), style, sampling)

    def request(self, item: Item) -> Request:
        """What to ask the model. Instructions of the item itself go before those on how to call."""
        own = [message.content for message in item.messages if message.role == "system"]
        said = tuple(message for message in item.messages if message.role != "system")
        parts = [*own, _TASK]
        if not self.form.native:
            parts += ["Tools:\n" + self.form.render_tools(item.tools, self.style), self.form.instructions()]
        tools = openai_tools(item.tools) if self.form.native else ()
        system = Message("system", "\n\n".join(filter(None, parts)))
        return Request((system, *said), tools=tools, sampling=self.sampling)

    def read(self, item: Item, completion: Completion) -> Answer:
        """The calls in what the model wrote."""
        tokens = None if completion.token_ids is None else len(completion.token_ids)
        if completion.finish_reason == "error":
            return Answer(item.id, "", problem="failed", why=completion.error, tokens=tokens)
        try:
            parsed = self.form.read(completion)
        except MalformedCallError as error:
            problem: Problem = "cut off" if completion.finish_reason == "length" else "malformed"
            return Answer(item.id, completion.text, problem=problem, why=str(error), tokens=tokens)
        cut: Problem | None = "cut off" if completion.finish_reason == "length" else None
        return Answer(item.id, completion.text, tuple(parsed.calls), cut, tokens=tokens)


async def ask(model: ChatModel, asking: Asking, items: Sequence[Item]) -> list[Answer]:
    """The answers to a batch of items, in order. Raises: ModelError when the model cannot be run."""
    completions = await model.complete([asking.request(item) for item in items])
    return [asking.read(item, completion) for item, completion in zip(items, completions, strict=True)]


def _about(model: ChatModel) -> dict[str, Any]:
    """What a trained model's folder says of its prompts."""
    folder = getattr(model, "folder", None)
    path = None if folder is None else Path(folder) / ABOUT
    if path is None or not path.is_file():
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"{path}: cannot be read: {error}") from error
    return found if isinstance(found, dict) else {}


def _spoken(model: ChatModel) -> str:
    tokenizer = getattr(model, "tokenizer", None)
    if tokenizer is None and model.name.startswith("openai:"):
        return "openai"
    return format_of_template(str(getattr(tokenizer, "chat_template", "") or "")) or "hermes"
