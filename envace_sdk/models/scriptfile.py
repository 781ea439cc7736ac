"""The file of a scripted model: one answer a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from envace_sdk.errors import ModelError

from .model import Completion, NativeCall

__all__ = ["read_answers"]


class _Function(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    name: str
    arguments: str


class _Call(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    function: _Function
    id: str | None = None
    type: Literal["function"] = "function"


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    text: str
    token_ids: list[int] | None = None
    logprobs: list[Annotated[float, Field(le=0)]] | None = None
    prompt_ids: list[int] | None = None
    finish_reason: Literal["stop", "length", "error"] = "stop"
    tool_calls: list[_Call] = []

    def completion(self) -> Completion:
        return Completion(
            self.text,
            token_ids=None if self.token_ids is None else tuple(self.token_ids),
            logprobs=None if self.logprobs is None else tuple(self.logprobs),
            finish_reason=self.finish_reason,
            prompt_ids=None if self.prompt_ids is None else tuple(self.prompt_ids),
            tool_calls=tuple(
                NativeCall(call.function.name, call.function.arguments, call.id) for call in self.tool_calls
            ),
        )


_LINE: TypeAdapter[str | _Line] = TypeAdapter(str | _Line)


def read_answers(file: Path) -> list[Completion]:
    """Every answer of a script file.

    Raises:
        ModelError: it cannot be read, or a line is not an answer; the message names the line.
    """
    try:
        lines = file.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"{file}: cannot be read: {error}") from error
    answers = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found = _LINE.validate_python(json.loads(line))
        except ValidationError as error:
            where = ".".join(str(part) for part in error.errors()[0]["loc"][1:]) or "the line"
            raise ModelError(f"{file}, line {number}: {where}: {error.errors()[0]['msg']}") from error
        except (ValueError, RecursionError) as error:
            raise ModelError(f"{file}, line {number}: not JSON: {error}") from error
        answers.append(Completion(found) if isinstance(found, str) else found.completion())
    return answers
