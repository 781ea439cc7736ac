"""A trajectory as one stream of tokens: the `stream` rendering.

The environment's turns stand where the model's own chat template has them, in its tool role, and the policy writes
them there. Each prompt is the tokens before it, as they were sampled, and the few that the template puts between two
turns; nothing is tokenised twice. In this rendering the rehearsing role sees what the acting role sees: the tools, the
conversation, and its own earlier answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from envace_sdk.errors import MalformedCallError, MalformedResponseError, TrainingError
from envace_sdk.models import Completion, Message, Request, Sampling
from envace_sdk.roles import RESPONSE, ToolFormat, act_prompt, parse_response, read_json, write_json
from envace_sdk.roles.response import shown_result
from envace_sdk.roles.stream import Parsed
from envace_sdk.tools.model import Tool, ToolCall, ToolResult
from envace_sdk.world.state import State

from ..rollout_config import RoleLimits, RolloutConfig
from ..tokens import ChatTokens

__all__ = ["StreamScript"]

_MARKS: Final = ("envace-mark-0", "envace-mark-1", "envace-mark-2")


@dataclass(slots=True)
class StreamScript:
    """One trajectory in one context. An act holds one call at most.

    Args:
        tools: what may be called.
        form: how calls are written; not a native one, whose calls are no text.
        config: limits and styles.
        tokens: of the model.
        examples: whole conversations that are shown first.

    Raises:
        TrainingError: the format is native.
    """

    tools: Sequence[Tool]
    form: ToolFormat
    config: RolloutConfig
    tokens: ChatTokens
    examples: Sequence[Sequence[Message]] = ()
    _context: tuple[int, ...] = field(default=(), init=False)
    _between: str = field(default="", init=False)
    """What the template puts after the context, and has not become tokens yet."""
    _tail: str = field(default="", init=False)
    """What the format puts after a result within its message: the policy writes that too."""

    def __post_init__(self) -> None:
        if self.form.native:
            raise TrainingError(f"the `stream` rendering needs calls as text; the format {self.form.name!r} has none")

    def user(self, text: str) -> None:
        """The first words begin the context; later ones follow the last answer."""
        if not self._context:
            said = [Message("user", text)]
            prompt = act_prompt(
                self.tools,
                said,
                form=self.form,
                style=self.config.style,
                instructions=self.config.instructions,
                examples=self.examples,
            )
            self._context = tuple(self.tokens.encode(prompt))
            return
        self._between += self._glue(Message("assistant", _MARKS[0]), Message("user", text), generate=True)

    def act(self, seed: int) -> Request:
        """The context up to where the assistant begins."""
        return self._request(self.config.act, seed)

    def parse(self, completion: Completion) -> Parsed:
        """By the format, with one call at most. Raises: MalformedCallError."""
        parsed = self.form.read(completion)
        if len(parsed.calls) > 1:
            raise MalformedCallError(f"{len(parsed.calls)} calls at once; in a stream there can be one")
        return parsed

    def acted(self, completion: Completion, parsed: Parsed) -> None:
        """The act joins the context as it was sampled."""
        self._take(completion)
        for call in parsed.calls:
            self._between += self._around(call)[0]

    def misread(self, completion: Completion, problem: str) -> None:
        """The act joins the context, and the user says what is wrong with it."""
        self._take(completion)
        self.user(f"Error: {problem}.")

    def rehearse(self, tool: Tool, call: ToolCall, state: State, seed: int) -> Request:  # noqa: ARG002
        """The context up to where the tool's answer begins."""
        return self._request(self.config.rehearse, seed)

    def read(self, completion: Completion, tool: Tool) -> ToolResult:
        """The JSON that the acting role will read, an object with nothing but `error` being an error.

        Raises:
            MalformedResponseError: it is none, or does not fit the tool's output schema.
        """
        text = completion.text.strip()
        body = text.removesuffix(self._tail.strip()).rstrip() if self._tail.strip() else text
        try:
            value = read_json(body)
        except ValueError as error:
            raise MalformedResponseError(f"the response is {error}") from None
        is_error = isinstance(value, dict) and value.keys() == {"error"}
        enveloped = write_json(value if is_error else {"result": value})
        return parse_response(f"{RESPONSE[0]}{enveloped}{RESPONSE[1]}", tool)

    def responded(self, call: ToolCall, result: ToolResult, completion: Completion | None = None) -> None:
        """The answer joins the context: as it was sampled, or as the environment gave it."""
        if completion is None:
            self._between += shown_result(result)
        else:
            self._take(completion)
        self._between += self._around(call)[1]

    def write_act(self, call: ToolCall | None, answer: str = "") -> str:
        """As the format writes it."""
        return answer if call is None else self.form.render_call(call.name, call.arguments)

    def write_response(self, result: ToolResult) -> str:
        """As the acting role reads it, to the end of the message."""
        return shown_result(result) + self._tail

    def _around(self, call: ToolCall) -> tuple[str, str]:
        """What the template puts before a tool's answer, and from there to where the assistant goes on."""
        result = ToolResult.text(_MARKS[1])
        message = self.form.result(call, result)
        shown = shown_result(result)
        if shown not in message.content:
            raise TrainingError(f"the format {self.form.name!r} does not show a result as it is")
        _, _, self._tail = message.content.partition(shown)
        marked = Message(
            message.role,
            message.content.replace(shown, _MARKS[1]),
            name=message.name,
            tool_call_id=message.tool_call_id,
        )
        acted = Message("assistant", _MARKS[0])
        before = self._glue(acted, marked, generate=False).partition(_MARKS[1])[0]
        after = self._glue(acted, marked, generate=True).partition(_MARKS[1])[2]
        return before, after

    def _glue(self, acted: Message, said: Message, *, generate: bool) -> str:
        """What stands after an assistant's words, with the message after them."""
        text = self.tokens.render([Message("user", "-"), acted, said], generate=generate)
        return text.rpartition(_MARKS[0])[2]

    def _take(self, completion: Completion) -> None:
        if completion.prompt_ids is None or completion.token_ids is None:
            raise TrainingError("the `stream` rendering needs a model that says which tokens it read and wrote")
        self._context = completion.prompt_ids + completion.token_ids
        self._between = ""

    def _request(self, limits: RoleLimits, seed: int) -> Request:
        sampling = Sampling(limits.max_tokens, limits.temperature, limits.top_p, seed)
        return Request(prompt_ids=self._context + tuple(self._joined()), sampling=sampling)

    def _joined(self) -> list[int]:
        """The tokens between the context and what comes next, less the end of turn that was sampled already."""
        ids = self.tokens.tokens(self._between) if self._between else []
        if self._context and self._context[-1] in self.tokens.end_ids:
            ends = [place for place, token in enumerate(ids) if token in self.tokens.end_ids]
            if ends:
                return ids[ends[0] + 1 :]
        return ids
