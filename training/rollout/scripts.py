"""How a trajectory is put to the model: with a prompt of its own for every turn."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from envace_sdk.models import Completion, Message, Request, Sampling
from envace_sdk.rehearse.prompting import RehearsalPrompts
from envace_sdk.roles import (
    Step,
    ToolFormat,
    act_prompt,
    openai_tools,
    parse_response,
    render_response,
)
from envace_sdk.roles.stream import Parsed
from envace_sdk.tools.model import Tool, ToolCall, ToolResult
from envace_sdk.world.state import State

from ..rollout_config import RoleLimits, RolloutConfig

__all__ = ["Script", "SplitScript"]


class Script(Protocol):
    """One trajectory as the model sees it. What happens is told to it in order."""

    def user(self, text: str) -> None:
        """The user says something."""
        ...

    def act(self, seed: int) -> Request:
        """What to ask for the next act."""
        ...

    def parse(self, completion: Completion) -> Parsed:
        """What an act says. Raises: MalformedCallError."""
        ...

    def acted(self, completion: Completion, parsed: Parsed) -> None:
        """That act was made."""
        ...

    def misread(self, completion: Completion, problem: str) -> None:
        """An act could not be read, and the policy is told so."""
        ...

    def rehearse(self, tool: Tool, call: ToolCall, state: State, seed: int) -> Request:
        """What to ask for the response to a call; `state` is the world before it."""
        ...

    def read(self, completion: Completion, tool: Tool) -> ToolResult:
        """The response that the policy wrote. Raises: MalformedResponseError."""
        ...

    def responded(self, call: ToolCall, result: ToolResult, completion: Completion | None = None) -> None:
        """The call was answered; with the completion where the policy wrote the answer."""
        ...

    def write_act(self, call: ToolCall | None, answer: str = "") -> str:
        """What the policy should write for a call, or for a final answer."""
        ...

    def write_response(self, result: ToolResult) -> str:
        """What the policy should write for a result."""
        ...


def seed_of(*place: object) -> int:
    """The seed of what is sampled at a place, such as a turn of a trajectory: with one for all, all is drawn alike."""
    return int.from_bytes(hashlib.sha256("/".join(map(str, place)).encode()).digest()[:4], "big") >> 1


@dataclass(slots=True)
class SplitScript:
    """Each role has its own prompts, as in the reference implementation: the `split` rendering.

    Args:
        tools: what may be called.
        form: how calls are written.
        config: limits and styles.
        prompts: of the rehearsing role.
        examples: whole conversations that the acting role is shown first.
    """

    tools: Sequence[Tool]
    form: ToolFormat
    config: RolloutConfig
    prompts: RehearsalPrompts
    examples: Sequence[Sequence[Message]] = ()
    _conversation: list[Message] = field(default_factory=list)
    _steps: list[Step] = field(default_factory=list)

    def user(self, text: str) -> None:
        """As a user's message."""
        self._conversation.append(Message("user", text))

    def act(self, seed: int) -> Request:
        """The acting prompt with the conversation so far."""
        messages = act_prompt(
            self.tools,
            self._conversation,
            form=self.form,
            style=self.config.style,
            instructions=self.config.instructions,
            examples=self.examples,
        )
        tools = openai_tools(self.tools) if self.form.native else ()
        return Request(messages, tools=tools, sampling=_sampling(self.config.act, seed))

    def parse(self, completion: Completion) -> Parsed:
        """By the format. Raises: MalformedCallError."""
        return self.form.read(completion)

    def acted(self, completion: Completion, parsed: Parsed) -> None:  # noqa: ARG002  another rendering keeps its tokens
        """Calls are written as the format writes them, without thoughts."""
        self._conversation.append(
            self.form.assistant(parsed.calls, parsed.text) if parsed.calls else Message("assistant", parsed.text)
        )

    def misread(self, completion: Completion, problem: str) -> None:
        """What was written stays, with the reason after it."""
        self._conversation += [Message("assistant", completion.text), Message("user", f"Error: {problem}.")]

    def rehearse(self, tool: Tool, call: ToolCall, state: State, seed: int) -> Request:
        """The rehearsing prompt, with this trajectory's own history."""
        messages = self.prompts.messages(tool, call, state, self._steps)
        return Request(messages, sampling=_sampling(self.config.rehearse, seed))

    def read(self, completion: Completion, tool: Tool) -> ToolResult:
        """One response in its tag. Raises: MalformedResponseError."""
        return parse_response(completion.text, tool)

    def responded(self, call: ToolCall, result: ToolResult, completion: Completion | None = None) -> None:  # noqa: ARG002
        """As the format's tool message; and as history of the rehearsing role."""
        self._conversation.append(self.form.result(call, result))
        self._steps.append((call, result))

    def write_act(self, call: ToolCall | None, answer: str = "") -> str:
        """As the format writes it."""
        return answer if call is None else self.form.render_call(call.name, call.arguments)

    def write_response(self, result: ToolResult) -> str:
        """In its tag."""
        return render_response(result)


def _sampling(limits: RoleLimits, seed: int) -> Sampling:
    return Sampling(limits.max_tokens, limits.temperature, limits.top_p, seed)
