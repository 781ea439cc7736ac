"""Other words for the same wish, by a language model; what must be said stays, or the words stay as they were."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from envace_sdk.errors import ExpressionError
from envace_sdk.json import Json
from envace_sdk.models.model import ChatModel, Message, Request, Sampling
from envace_sdk.tasks import Task
from envace_sdk.tasks.said import says

__all__ = ["paraphrased"]

_INSTRUCTIONS: Final = (
    "You rewrite what a user asks of an assistant, so that it sounds like a person who writes a short message. Keep "
    "every name, number, date, code and quoted text exactly as it is, keep every condition, add nothing, leave nothing "
    "out, and do not name tools or fields where a person would not. Answer with the new message only."
)
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)+)"')
_AT_ONCE: Final = 32
_LONGER: Final = 2.5
"""A paraphrase that is longer than this many times the original tells more than that did."""


async def paraphrased(tasks: Sequence[Task], model: ChatModel, *, seed: int = 0) -> list[Task]:
    """The tasks with the user's words in other words, where the model found some that say the same.

    The same are: every value that the witness passes on and the user told, and every quoted text. A paraphrase that
    lacks one is not taken.

    Args:
        tasks: what was made.
        model: who paraphrases.
        seed: of the model's sampling.

    Raises:
        ModelError: the model cannot be run.
    """
    turns = [(place, turn, text) for place, task in enumerate(tasks) for turn, text in enumerate(_turns(task))]
    said: dict[tuple[int, int], str] = {}
    for begin in range(0, len(turns), _AT_ONCE):
        batch = turns[begin : begin + _AT_ONCE]
        requests = [_request(text, seed + begin + n) for n, (_, _, text) in enumerate(batch)]
        for (place, turn, text), completion in zip(batch, await model.complete(requests), strict=True):
            told = completion.text.strip()
            if completion.finish_reason == "stop" and _says_the_same(tasks[place], text, told):
                said[place, turn] = told
    return [
        task.model_copy(
            update={
                "instruction": said.get((place, 0), task.instruction),
                "follow_ups": [said.get((place, turn), text) for turn, text in enumerate(task.follow_ups, 1)],
            }
        )
        for place, task in enumerate(tasks)
    ]


def _turns(task: Task) -> list[str]:
    return [task.instruction, *task.follow_ups]


def _request(text: str, seed: int) -> Request:
    messages = (Message("system", _INSTRUCTIONS), Message("user", text))
    return Request(messages, sampling=Sampling(max_tokens=64 + len(text), temperature=0.8, seed=seed))


def _says_the_same(task: Task, text: str, told: str) -> bool:
    if not told or len(told) > _LONGER * len(text) + 40:
        return False
    values = {str(value) for call in task.witness or () for value in _scalars(call.arguments)}
    told_before = {value for value in values if _says(text, value)}
    return all(_says(told, value) for value in {*told_before, *_QUOTED.findall(text)})


def _says(text: str, value: str) -> bool:
    try:
        return says(text, value)
    except ExpressionError:
        return True  # nothing in it that could be said


def _scalars(value: Json) -> Iterator[Json]:
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _scalars(part)
    elif value is not None and not isinstance(value, bool):
        yield value
