"""A chat model's tokens: what its template makes of a conversation, and of a piece of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from envace_sdk.errors import TrainingError
from envace_sdk.json import Json
from envace_sdk.models import Message

__all__ = ["ChatTokens", "ModelTokens"]


class ChatTokens(Protocol):
    """Tokens in the way of one model."""

    @property
    def end_ids(self) -> frozenset[int]:
        """The tokens that end a completion."""
        ...

    @property
    def end_id(self) -> int:
        """The one of them that ends a turn of the assistant in this model's template."""
        ...

    def encode(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Json]] = ()) -> list[int]:
        """The tokens of a conversation, up to where the assistant begins to write. Raises: ModelError."""
        ...

    def render(self, messages: Sequence[Message], *, generate: bool) -> str:
        """The text that the template makes of a conversation. Raises: TrainingError."""
        ...

    def tokens(self, text: str) -> list[int]:
        """The tokens of a piece of text, with nothing around it; special tokens in it are such."""
        ...


class ModelTokens:
    """The tokens of a `TransformersModel`.

    Args:
        model: the chat model; what is used of it are `tokenizer`, `encode` and `end_ids`.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._tokenizer = model.tokenizer
        self.end_ids: frozenset[int] = model.end_ids
        self.end_id: int = self._turn_end()

    def encode(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Json]] = ()) -> list[int]:
        """The tokens of a conversation, up to where the assistant begins to write. Raises: ModelError."""
        ids: list[int] = self._model.encode(messages, tools)
        return ids

    def render(self, messages: Sequence[Message], *, generate: bool) -> str:
        """The text that the template makes of a conversation. Raises: TrainingError."""
        try:
            text: str = self._tokenizer.apply_chat_template(
                [message.as_json() for message in messages], tokenize=False, add_generation_prompt=generate
            )
        except Exception as error:  # a template is somebody's program
            raise TrainingError(f"the chat template of {self._model.name} refuses the messages: {error}") from error
        return text

    def tokens(self, text: str) -> list[int]:
        """The tokens of a piece of text, with nothing around it; special tokens in it are such."""
        ids: list[int] = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    def _turn_end(self) -> int:
        """What the template puts after the assistant's words, where that is an end token."""
        mark = "envace-turn"
        text = self.render([Message("user", "a"), Message("assistant", mark)], generate=False)
        after = self.tokens(text.rpartition(mark)[2])
        if after and after[0] in self.end_ids:
            return after[0]
        return int(self._tokenizer.eos_token_id)
