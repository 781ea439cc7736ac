"""Policies without weights, over a tokenizer of bytes, for tests of rollouts."""

import asyncio
import json
import re
from datetime import UTC, datetime
from random import Random

from envace_sdk.jsonschema import generate
from envace_sdk.models import Completion, ScriptedModel
from envace_sdk.roles import tool_format

START, END = 256, 257
FORM = tool_format("hermes")
CALLED = re.compile(r"Call: (\w+) ")


class ByteTokens:
    """ChatML over bytes."""

    end_ids = frozenset({END})
    end_id = END

    def render(self, messages, *, generate):
        text = "".join(f"<|im_start|>{m.role}\n{m.content}<|im_end|>\n" for m in messages)
        return text + ("<|im_start|>assistant\n" if generate else "")

    def encode(self, messages, tools=()):
        return self.tokens(self.render(messages, generate=True))

    def tokens(self, text):
        ids = []
        for part in re.split(r"(<\|im_start\|>|<\|im_end\|>)", text):
            ids += {"<|im_start|>": [START], "<|im_end|>": [END]}.get(part) or list(part.encode())
        return ids

    def text(self, ids):
        marks = {START: b"<|im_start|>", END: b"<|im_end|>"}
        return b"".join(marks.get(one) or bytes([one]) for one in ids).decode()


TOKENS = ByteTokens()


def prompt_text(request):
    return TOKENS.text(request.prompt_ids) if request.prompt_ids else TOKENS.render(request.messages, generate=True)


def model_of(says, name="policy"):
    """A chat model with tokens, from a function of the prompt's text to a text (or a Completion)."""

    def complete(request):
        said = says(prompt_text(request))
        if isinstance(said, Completion):
            return said
        prompt = request.prompt_ids or tuple(TOKENS.encode(request.messages))
        ids = (*TOKENS.tokens(said), END)
        return Completion(said, ids, (-0.5,) * len(ids), prompt_ids=prompt)

    return ScriptedModel(complete, name=name)


def is_rehearsal(prompt):
    return "You stand in for the server" in prompt or prompt.endswith("<tool_response>\n")


def acts_of(task):
    """What the witness does, act by act."""
    answers = task.answer.split("\n") if task.follow_ups else [task.answer]
    acts = []
    for turn, answer in enumerate(answers):
        acts += [FORM.render_call(c.tool, c.arguments) for c in task.witness if c.turn == turn]
        acts.append(answer)
    return acts


def witness_of(cases):
    """Says what the witness of the case in the prompt does next."""

    def says(prompt):
        case = max((c for c in cases if c.task.instruction in prompt), key=lambda c: prompt.rfind(c.task.instruction))
        since = prompt[prompt.rfind(case.task.instruction) :]
        return acts_of(case.task)[since.count("<|im_start|>assistant") - 1]

    return says


def wish_of(environment, prompt):
    """A well-formed success, whatever was called."""
    tool = environment.toolset[CALLED.findall(prompt)[-1]]
    schema = tool.output_schema or {"type": "object", "properties": {"status": {"const": "ok"}}, "required": ["status"]}
    value = generate(schema, random=Random(0), clock=datetime(2026, 1, 1, tzinfo=UTC))
    return f"<response>{json.dumps({'result': value})}</response>"


def collect(source, cases, *arguments, **options):
    return asyncio.run(source.collect(cases, *arguments, **options))


def says_in_order(*texts):
    left = iter(texts)
    return lambda _: next(left)


def tool_call(name, **arguments):
    return FORM.render_call(name, arguments)
