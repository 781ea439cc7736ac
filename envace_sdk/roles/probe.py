"""What a model can do, found out by trying."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from envace_sdk.errors import MalformedCallError, ModelError
from envace_sdk.json import Json
from envace_sdk.jsonschema import compile_schema
from envace_sdk.models.model import ChatModel, Completion, Message, Request, Sampling
from envace_sdk.tools.model import Tool, ToolCall, ToolResult

from .act import act_prompt, dialogue
from .format import ToolFormat, openai_tools
from .formats import FORMATS, format_of_template
from .strictjson import read_json

__all__ = ["Ability", "Finding", "probe"]

Ability: TypeAlias = Literal["answer", "template", "tools", "native-tools", "logprobs", "tokens-in", "schema", "seed"]
"""What is tried."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether a model has an ability, and what was seen."""

    ability: Ability
    works: bool
    seen: str


_TOOLS: Final = tuple(
    Tool(
        {
            "name": name,
            "description": about,
            "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        }
    )
    for name, about in (("get_weather", "The weather in a city now."), ("get_population", "How many live in a city."))
)
_SCHEMA: Final[Json] = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 20}, "people": {"type": "integer", "minimum": 0}},
    "required": ["city", "people"],
    "additionalProperties": False,
}
_GREEDY: Final = Sampling(max_tokens=12, temperature=0)
_CALLING: Final = Sampling(max_tokens=48, temperature=0)
_HELLO: Final = (Message("user", "Say hello."),)


async def probe(
    model: ChatModel, form: ToolFormat | None = None, *, progress: Callable[[Finding], None] = lambda _: None
) -> list[Finding]:
    """Try everything.

    Args:
        model: what to try.
        form: the tool-call format; default: what its chat template speaks, else `hermes`.
        progress: told each finding as soon as it is there.

    Raises:
        ModelError: it cannot be asked even once.
    """
    completion = await _one(model, Request(messages=_HELLO, sampling=_GREEDY))
    template = _template(model)
    named = format_of_template(template or "")
    says = f"tools in the format {named}" if named else "says nothing of tools"
    findings: list[Finding] = []

    def found(ability: Ability, works: bool, seen: str) -> None:
        findings.append(Finding(ability, works, seen))
        progress(findings[-1])

    found("answer", bool(completion.text.strip() or completion.token_ids), repr(completion.text[:60]))
    found("template", bool(template), says if template else "not known here, or none")
    chosen = form or FORMATS[named or "hermes"]
    for ability, attempt in _ATTEMPTS.items():
        try:
            works, seen = await attempt(model, chosen)
        except (ModelError, MalformedCallError) as error:
            works, seen = False, str(error)
        found(ability, works, " ".join(seen.split())[:200])
    return findings


async def _tools(model: ChatModel, form: ToolFormat) -> tuple[bool, str]:
    """Without an example, and if that fails with one."""
    asked = [Message("user", "What is the weather in Ghent?")]
    shown = dialogue(
        "How many people live in Graz?",
        [(ToolCall("get_population", {"city": "Graz"}), ToolResult.json({"people": 302749}, structured=False))],
        form=form,
        answer="302749 people live in Graz.",
    )
    problem = ""
    for examples, words in ((), f"{form.name}, without an example"), ([shown], f"{form.name}, with one example"):
        messages = act_prompt(_TOOLS, asked, form=form, style="compact", examples=examples)
        tools = openai_tools(_TOOLS) if form.native else ()
        completion = await _one(model, Request(messages=messages, tools=tools, sampling=_CALLING))
        try:
            calls = form.read(completion).calls
        except MalformedCallError as error:
            problem = str(error)
            continue
        if calls:
            right = calls[0].name == "get_weather" and calls[0].arguments.get("city") == "Ghent"
            return right, words if right else f"{words}: the wrong call, {calls[0].name}"
        problem = f"no call, but {completion.text[:60]!r}"
    return False, f"{form.name}: {problem}"


async def _native(model: ChatModel, form: ToolFormat) -> tuple[bool, str]:  # noqa: ARG001
    if hasattr(model, "tokenizer"):
        return False, "the model runs in this process: its calls are text"
    works, seen = await _tools(model, FORMATS["openai"])
    return works, "the server parses calls itself" if works else seen


async def _logprobs(model: ChatModel, form: ToolFormat) -> tuple[bool, str]:  # noqa: ARG001
    completion = await _one(model, Request(messages=_HELLO, sampling=Sampling(max_tokens=16)))
    if completion.token_ids is None or completion.logprobs is None:
        missing = "token ids" if completion.token_ids is None else "log-probabilities"
        return False, f"no {missing}: fit for rehearsing and judging, not for training"
    matching = len(completion.token_ids) == len(completion.logprobs)
    return matching, f"{len(completion.logprobs)} for {len(completion.token_ids)} sampled tokens"


async def _tokens(model: ChatModel, form: ToolFormat) -> tuple[bool, str]:  # noqa: ARG001
    first = await _one(model, Request(messages=_HELLO, sampling=_GREEDY))
    if first.prompt_ids is None:
        return False, "the tokens of a prompt are not known"
    again = await _one(model, Request(prompt_ids=first.prompt_ids, sampling=_GREEDY))
    same = again.text == first.text
    return same, "the same text from messages and from their tokens" if same else "another text from the same tokens"


async def _schema(model: ChatModel, form: ToolFormat) -> tuple[bool, str]:  # noqa: ARG001
    asked = (Message("user", "Name a city and how many people live there."),)
    completion = await _one(model, Request(messages=asked, schema=_SCHEMA, sampling=Sampling(max_tokens=64, seed=1)))
    try:
        value = read_json(completion.text)
    except ValueError as error:
        return False, str(error)
    return compile_schema(_SCHEMA).is_valid(value), completion.text


async def _seed(model: ChatModel, form: ToolFormat) -> tuple[bool, str]:  # noqa: ARG001
    request = Request(messages=_HELLO, sampling=Sampling(max_tokens=16, seed=7))
    texts = [(await _one(model, request)).text for _ in range(2)]
    return texts[0] == texts[1], "the same text twice" if texts[0] == texts[1] else "two texts from one seed"


_ATTEMPTS: Final[dict[Ability, Callable[[ChatModel, ToolFormat], Awaitable[tuple[bool, str]]]]] = {
    "tools": _tools,
    "native-tools": _native,
    "logprobs": _logprobs,
    "tokens-in": _tokens,
    "schema": _schema,
    "seed": _seed,
}


async def _one(model: ChatModel, request: Request) -> Completion:
    completion = (await model.complete([request]))[0]
    if completion.finish_reason == "error":
        raise ModelError(completion.error or "the model could not answer")
    return completion


def _template(model: ChatModel) -> str | None:
    found = getattr(getattr(model, "tokenizer", None), "chat_template", None)
    return found if isinstance(found, str) else None
