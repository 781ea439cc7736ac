"""A model that says what it is told to: for tests, examples, and trying a pipeline before there is a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Self, TypeAlias

from envace_sdk.errors import ModelError

from .model import Closing, Completion, Request

__all__ = ["Answer", "ScriptedModel"]

Answer: TypeAlias = str | Completion
"""What a script says: a text, or a completion with tokens and all."""


class ScriptedModel(Closing):
    """Answers requests with given answers, in order; or by asking a function.

    Args:
        answers: the answers, one for each request over all batches; or a function from a request to its answer.
        name: what labels and reports call it.

    Attributes:
        requests: every request it has been asked, oldest first.
    """

    def __init__(self, answers: Iterable[Answer] | Callable[[Request], Answer], *, name: str = "scripted") -> None:
        self.name = name
        self.requests: list[Request] = []
        if callable(answers):
            self._answer = answers
        else:
            given: list[Answer] = [answers] if isinstance(answers, str) else list(answers)
            self._answer = _in_order(given, name)

    @classmethod
    def load(cls, file: str | Path) -> Self:
        """Answers from a JSON Lines file: each line a JSON string, or an object with `text`.

        An object may have the other members of `Completion` too: `token_ids`, `logprobs`, `prompt_ids`,
        `finish_reason`, and `tool_calls` as in OpenAI's chat API.

        Raises:
            ModelError: the file cannot be read, or a line is not such an answer.
        """
        from .scriptfile import read_answers

        return cls(read_answers(Path(file)), name=f"scripted:{Path(file).name}")

    async def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """The next answers.

        Raises:
            ModelError: there are no more.
        """
        out = []
        for request in requests:
            self.requests.append(request)
            answer = self._answer(request)
            out.append(answer if isinstance(answer, Completion) else Completion(answer))
        return out


def _in_order(answers: list[Answer], name: str) -> Callable[[Request], Answer]:
    left = iter(answers)

    def answer(request: Request) -> Answer:  # noqa: ARG001  the signature is the function's that a user may give
        for found in left:
            return found
        raise ModelError(f"{name} has {len(answers)} answers, and was asked for one more; add it")

    return answer
