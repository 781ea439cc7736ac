"""The Berkeley Function-Calling Leaderboard as its package `bfcl-eval` has it: its items and its own checker.

Single-turn categories only. Those of several turns and the agentic ones run in the package's own loop, on models that
the package itself knows how to ask.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any, Final

from envace_sdk.errors import TrainingError
from envace_sdk.models import Message
from envace_sdk.models.cache import cache_folder
from envace_sdk.tools.model import Tool, ToolCall

from .asking import Answer, Item

__all__ = ["Bfcl", "Score"]

_NAME: Final = "envace-sdk"
"""What the model under test is called in the package's table of models."""
_ROOT: Final = "BFCL_PROJECT_ROOT"
_INSTALL: Final = "pip install bfcl-eval soundfile"


@dataclass(frozen=True, slots=True)
class Score:
    """What the package's checker says of the answers to a category."""

    correct: int
    total: int
    errors: Mapping[str, int]
    """How many answers are wrong in which way, in the package's words."""


class Bfcl:
    """The installed package.

    Raises:
        TrainingError: it is not installed, or something that it imports is not; the message says what to install.
    """

    def __init__(self) -> None:
        # Else the package makes folders for results beside itself, among the installed packages.
        os.environ.setdefault(_ROOT, str(cache_folder() / "bfcl"))
        self._utils = _module("bfcl_eval.utils")
        self._runner = _module("bfcl_eval.eval_checker.eval_runner")
        self._convert = _module("bfcl_eval.model_handler.utils").convert_to_tool
        self._types = _module("bfcl_eval.constants.type_mappings").GORILLA_TO_OPENAPI
        self._openai = _module("bfcl_eval.constants.enums").ModelStyle.OPENAI_COMPLETIONS
        self.categories: tuple[str, ...] = tuple(_module("bfcl_eval.constants.category_mapping").SINGLE_TURN_CATEGORY)
        """The categories that can be run here."""
        self.version = version("bfcl-eval")
        _register()

    def items(self, category: str, limit: int | None = None, seed: int = 0) -> list[Item]:
        """Items of a category, in its order.

        Args:
            category: one of `categories`.
            limit: how many, drawn by the seed; None for all.
            seed: the same seed draws the same items.

        Raises:
            TrainingError: there is no such category, or it is not of a single turn.
        """
        if category not in self.categories:
            raise TrainingError(
                f"bfcl: {category!r} is no single-turn category; those are {', '.join(self.categories)}. Others run in "
                "the package's own loop: `bfcl generate` on a model served by vLLM"
            )
        entries = self._utils.load_dataset_entry(category)
        if limit is not None and limit < len(entries):
            places = sorted(Random(f"{seed}/{category}").sample(range(len(entries)), limit))
            entries = [entries[place] for place in places]
        return [self._item(entry) for entry in entries]

    def score(self, category: str, answers: Sequence[Answer], folder: Path) -> Score:
        """What the package's checker says.

        Args:
            category: of the answers.
            answers: in the order of the category, at least one.
            folder: where the package writes what was wrong with which answer.
        """
        results = [{"id": answer.id, "result": _result(answer)} for answer in answers]
        # The checker tells of its progress on the standard output.
        with contextlib.redirect_stdout(io.StringIO()):
            self._runner.evaluate_task(category, folder, folder, results, _NAME, _Handler(), {}, allow_missing=True)
        place = folder / _NAME / self._utils.get_directory_structure_by_category(category)
        path = place / self._utils.get_file_name_by_category(category, is_score_file=True)
        lines = path.read_text(encoding="utf-8").split("\n")  # texts of models hold other ends of lines
        head, *wrong = [json.loads(line) for line in lines if line]
        errors = Counter(str(entry.get("error_type") or entry.get("error")) for entry in wrong)
        return Score(int(head["correct_count"]), int(head["total_count"]), dict(errors.most_common()))

    def _item(self, entry: Mapping[str, Any]) -> Item:
        converted = self._convert(entry["function"], self._types, self._openai)
        functions = [tool["function"] for tool in converted]
        tools = tuple(
            Tool({"name": one["name"], "description": one["description"], "inputSchema": one["parameters"]})
            for one in functions
        )
        (turn,) = entry["question"]
        return Item(entry["id"], tuple(Message(said["role"], said["content"]) for said in turn), tools)


class _Handler:
    """What the checker asks for the calls in a result: they have been read already."""

    def decode_ast(self, result: Any, language: Any, has_tool_call_tag: bool) -> list[dict[str, Any]]:  # noqa: ARG002
        """The calls; raises for an answer in words, which the checker takes as one without calls."""
        if not isinstance(result, list):
            raise ValueError("the answer has no calls")
        return [{name: json.loads(arguments) for name, arguments in call.items()} for call in result]


def _result(answer: Answer) -> Any:
    """An answer as the package writes those of models that call functions natively."""
    if not answer.calls or answer.problem is not None:
        return answer.text
    return [_written(call) for call in answer.calls]


def _written(call: ToolCall) -> dict[str, str]:
    return {call.name: json.dumps(dict(call.arguments), ensure_ascii=False)}


def _register() -> None:
    """The checker looks the model up, to know whether its tools' names have `_` where the data have `.`."""
    models = _module("bfcl_eval.constants.model_config")
    models.MODEL_CONFIG_MAPPING[_NAME] = models.ModelConfig(
        model_name=_NAME,
        display_name=_NAME,
        url="",
        org="",
        license="",
        model_handler=_Handler,
        is_fc_model=True,
        underscore_to_dot=True,
    )


def _module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.partition(".")[0] == "bfcl_eval":
            raise TrainingError(f"the benchmark is not installed: {_INSTALL}") from error
        raise TrainingError(f"bfcl-eval needs {error.name}, which is not installed: {_INSTALL}") from error
