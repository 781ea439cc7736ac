"""The model layer: a language model in the environment role, asked where neither a recording nor a rule answers."""

from __future__ import annotations

import logging
import math
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from envace_sdk.errors import MalformedResponseError, ModelError
from envace_sdk.evidence.canonical import digest
from envace_sdk.json import UNSET
from envace_sdk.models.model import ChatModel, Completion, Message, Request, Sampling
from envace_sdk.roles import RESPONSE, parse_response, response_schema
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import Tool, ToolCall, ToolResult
from envace_sdk.world.dynamics import Dynamics, ToolRule
from envace_sdk.world.statuses import status_of

from .answers import REWRITTEN, fit
from .base import Context, Rehearsal
from .history import earlier
from .precedents.grounding import grounded
from .precedents.remit import is_silent
from .prompting import PromptSettings, RehearsalPrompts

__all__ = ["ModelRehearser", "prompt_hash"]

logger = logging.getLogger(__name__)

_CACHED: Final = 1024
_UNTOLD: Final = 0.5
"""Confidence in an answer of a model that does not say how likely it thought its words."""
_LEAST, _MOST = 0.05, 0.95
"""A model's own probability is no calibrated one; it never makes an answer certain."""
_READING: Final = frozenset({"read", "search", "compute"})


class ModelRehearser:
    """Plays the environment for one call.

    The model is told the tool, the nearest recorded calls, what the call touches in the world and what has been done
    there; what it writes is constrained to the tool's output schema where its backend can. What a reading tool is
    said to show of known entities gives way to what the world has. Text that is no response passes, as does a model
    that cannot be reached: the next layer answers.

    Equal prompts have equal answers: the last 1024 are remembered.

    Args:
        model: the language model.
        dynamics: the rules of the toolset; `Environment` gives its own.
        fixtures: recorded calls; likewise.
        settings: how much the model is told; by default what it was trained with, if it says so.
        max_tokens: the longest answer.
        temperature: 0 for the most probable answer.
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        dynamics: Dynamics | None = None,
        fixtures: Sequence[Fixture] = (),
        settings: PromptSettings | None = None,
        max_tokens: int = 1024,
        temperature: float = 0.0,
    ) -> None:
        self.model = model
        self._dynamics = dynamics or Dynamics()
        self._prompts = RehearsalPrompts(self._dynamics, fixtures, settings or PromptSettings.of(model))
        self._max_tokens = max_tokens
        self._temperature = temperature
        self._answers: OrderedDict[str, Completion] = OrderedDict()

    def knowing(self, dynamics: Dynamics, fixtures: Sequence[Fixture]) -> ModelRehearser:
        """The same model for a toolset with these rules and recordings."""
        return ModelRehearser(
            self.model,
            dynamics=dynamics,
            fixtures=fixtures,
            settings=self._prompts.settings,
            max_tokens=self._max_tokens,
            temperature=self._temperature,
        )

    async def rehearse(self, call: ToolCall, context: Context) -> Rehearsal | None:
        """Answer as the model predicts, or pass.

        Raises:
            UnsatisfiableError: the tool's output schema admits nothing.
        """
        tool, state = context.tool, context.state
        rule = self._dynamics.tools.get(call.name)
        messages = self._prompts.messages(tool, call, state, context.history or earlier(state))
        hashed = prompt_hash(messages)
        # Where the rule has said that the call succeeds, and only not with what, it cannot fail any more.
        may_fail = not (rule is not None and is_silent(rule) and rule.requires)
        completion = await self._completed(messages, tool, hashed, context, may_fail=may_fail)
        result = None if completion is None else _read(completion, tool)
        if completion is None or result is None or (result.is_error and not may_fail):
            return None
        confidence, name = _confidence(completion), self.model.name
        if result.is_error:
            reason = f"{name} expects that the server refuses; no rule speaks of it"
            outcome = status_of(result.first_text)
            return Rehearsal(result, state, "model", outcome, confidence, reason, model=name, prompt_hash=hashed)
        reason = f"{name} predicts it"
        if _only_reads(tool, rule):
            fitting = self._grounded(result, rule, call, context)
            if fitting is not result:
                result, reason = fitting, f"{reason}; the world knows some of it otherwise"
                confidence = min(confidence, max(REWRITTEN, confidence / 2))
        return Rehearsal(result, state, "model", "success", confidence, reason, model=name, prompt_hash=hashed)

    async def _completed(
        self, messages: tuple[Message, ...], tool: Tool, hashed: str, context: Context, *, may_fail: bool
    ) -> Completion | None:
        key = f"{hashed}/{context.state.seed}"
        if key in self._answers:
            self._answers.move_to_end(key)
            return self._answers[key]
        sampling = Sampling(self._max_tokens, self._temperature, seed=context.random.getrandbits(31))
        schema = response_schema(tool, errors=may_fail)
        request = Request(messages, schema=schema, wrap=RESPONSE, sampling=sampling)
        try:
            (completion,) = await self.model.complete([request])
        except ModelError as error:
            logger.warning("%s: the model layer passes: %s", tool.name, error)
            return None
        if completion.finish_reason != "stop":
            why = completion.error or f"its answer is longer than {self._max_tokens} tokens"
            logger.warning("%s: the model layer passes: %s: %s", tool.name, self.model.name, why)
            return None
        self._answers[key] = completion
        while len(self._answers) > _CACHED:
            self._answers.popitem(last=False)
        return completion

    def _grounded(self, result: ToolResult, rule: ToolRule | None, call: ToolCall, context: Context) -> ToolResult:
        """The result itself, or one that shows what the world has of the entities in it."""
        value = grounded(result.value(), rule, self._dynamics, context.state)
        if value is UNSET:
            return result
        tool = context.tool
        fitting = value if tool.output_schema is None else fit(tool, value, call, context.state, context.random)
        return ToolResult.json(fitting, structured=tool.output_schema is not None)


def prompt_hash(messages: Sequence[Message]) -> str:
    """SHA-256 of a prompt's canonical JSON: what evidence labels name it by."""
    return digest([message.as_json() for message in messages])


def _read(completion: Completion, tool: Tool) -> ToolResult | None:
    try:
        return parse_response(completion.text, tool, bare=True)
    except MalformedResponseError as error:
        logger.info("%s: the model layer passes: %s", tool.name, error)
        return None


def _only_reads(tool: Tool, rule: ToolRule | None) -> bool:
    """Whether what the tool shows was so before the call."""
    return tool.annotations.get("readOnlyHint") is True or (rule is not None and rule.effect in _READING)


def _confidence(completion: Completion) -> float:
    """The model's mean probability per token (the geometric one), within bounds."""
    if not completion.logprobs:
        return _UNTOLD
    mean = math.exp(math.fsum(completion.logprobs) / len(completion.logprobs))
    return min(max(mean, _LEAST), _MOST)
