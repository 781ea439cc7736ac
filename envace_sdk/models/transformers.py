"""Models that run in this process with transformers: a folder, a hub id or a GGUF file; on the CPU or a GPU."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from random import Random
from typing import Any, Final, Self

import torch
from safetensors import SafetensorError
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging

from envace_sdk.errors import ModelError
from envace_sdk.json import Json

from .constraint import Constraints
from .decoding import Row, decode, why_no_trees
from .load import place_of
from .model import Closing, Completion, Message, Request
from .worker import Job, Worker

__all__ = ["TransformersModel"]

_CALLS: Final = frozenset({"[TOOL_CALLS]", "[ARGS]", "[CALL_ID]", "<|python_tag|>", "<tool_call>", "</tool_call>"})
_SHOWN: Final = _CALLS | {"<think>", "</think>"}
"""Special tokens of some tokenizers that are part of what the model says."""
_LOG: Final = logging.get_logger(__name__)


class TransformersModel(Closing):
    """A causal language model with its tokenizer.

    Requests that wait at the same time are decoded together, whoever made them; each distinct prompt of a batch is read
    once. Decoding runs in a thread of its own. Log-probabilities are of the tokens that were sampled, in float32.

    Do not train the module while a request is under way. Its mode (training or evaluation) is kept.

    Args:
        model: a causal language model of transformers, or one wrapped by peft; used as it is, on its device.
        tokenizer: its tokenizer.
        name: what labels and reports call it.
        batch_size: the most requests decoded at once; when memory runs out, fewer are.
    """

    folder: Path | None = None
    """Where it was loaded from, if that is a folder."""

    def __init__(self, model: Any, tokenizer: Any, *, name: str = "transformers", batch_size: int = 32) -> None:
        if batch_size < 1:
            raise ModelError(f"batch_size is {batch_size}; it must be at least 1")
        self.name = name
        self.model = model
        self.tokenizer = tokenizer
        self._worker: Worker[Request, Completion] = Worker(self._run, batch_size, name=f"decode {name}")

    @classmethod
    def load(
        cls,
        where: str,
        *,
        name: str | None = None,
        device: str | None = None,
        dtype: str | None = None,
        batch_size: int = 32,
        revision: str | None = None,
    ) -> Self:
        """Load a model. Only safetensors and GGUF are read, and no code from the model's folder is run.

        Args:
            where: a folder, a GGUF file, or an id on the Hugging Face hub.
            name: what labels and reports call it; default: `transformers:` and the place.
            device: such as `cpu` or `cuda:0`; default: a GPU if there is one.
            dtype: `float32`, `bfloat16` or `float16`; default: float32 on the CPU, bfloat16 elsewhere.
            batch_size: the most requests decoded at once.
            revision: of a hub id, the commit or tag.

        Raises:
            ModelError: it is not there, or cannot be read; the message says where it was looked for.
        """
        target = device or ("cuda" if torch.cuda.is_available() else "cpu")
        kind = getattr(torch, dtype or ("float32" if target == "cpu" else "bfloat16"), None)
        if not isinstance(kind, torch.dtype):
            raise ModelError(f"{dtype!r} is not a number format; one is float32, bfloat16, float16")
        place, more = place_of(where)
        more["trust_remote_code"] = False  # else transformers asks whoever sits at the terminal
        if revision is not None:
            more["revision"] = revision
        try:
            logging.disable_progress_bar()
            tokenizer = AutoTokenizer.from_pretrained(place, **more)
            model = AutoModelForCausalLM.from_pretrained(place, dtype=kind, use_safetensors=True, **more).to(target)
        except (OSError, ValueError, ImportError, RuntimeError, KeyError, SafetensorError) as error:
            raise ModelError(f"{where}: cannot be loaded with transformers: {_first_line(error)}") from error
        finally:
            logging.enable_progress_bar()
        model.eval()
        made = cls(model, tokenizer, name=name or f"transformers:{where}", batch_size=batch_size)
        made.folder = Path(place) if Path(place).is_dir() else None
        return made

    @property
    def device(self) -> Any:
        """The torch device that the model is on."""
        return self.model.device

    @cached_property
    def end_ids(self) -> frozenset[int]:
        """The tokens that end a completion."""
        named = getattr(getattr(self.model, "generation_config", None), "eos_token_id", None)
        several = named if isinstance(named, list) else [named]
        return frozenset(each for each in [*several, self.tokenizer.eos_token_id] if each is not None)

    @cached_property
    def longest(self) -> int | None:
        """The most tokens of prompt and completion together; None: the model does not say."""
        found = getattr(self.model.config.get_text_config(), "max_position_embeddings", None)
        return found if isinstance(found, int) and found > 0 else None

    def encode(
        self,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Json]] = (),
        add_generation_prompt: bool = True,
    ) -> list[int]:
        """The tokens of a conversation in the model's own chat template.

        Args:
            messages: the conversation.
            tools: in OpenAI's form, for templates that show tools.
            add_generation_prompt: end with the beginning of the assistant's turn.

        Raises:
            ModelError: there is no template, or it refuses such a conversation.
        """
        if not self.tokenizer.chat_template:
            raise ModelError(f"{self.name} has no chat template; take an instruction-tuned model, or give prompt_ids")
        try:
            ids: list[int] = self.tokenizer.apply_chat_template(
                [_templated(message) for message in messages],
                tools=[dict(tool) for tool in tools] or None,
                add_generation_prompt=add_generation_prompt,
                tokenize=True,
                return_dict=True,
            )["input_ids"]
        except Exception as error:  # a template is somebody's program
            raise ModelError(f"the chat template of {self.name} refuses the messages: {_first_line(error)}") from error
        return ids

    def decode(self, token_ids: Sequence[int]) -> str:
        """The text of tokens, without the special ones that are not part of what the model says."""
        kept = [token for token in token_ids if token not in self._silent]
        text: str = self.tokenizer.decode(kept, skip_special_tokens=False, clean_up_tokenization_spaces=False)
        return text

    def said(self, token_ids: Sequence[int], stops: Sequence[str] = ()) -> str:
        """The text of a completion: without the token that ends it, and up to the first of the stop texts."""
        ends = bool(token_ids) and token_ids[-1] in self.end_ids
        text = self.decode(token_ids[:-1] if ends else token_ids)
        found = [at for stop in stops if (at := text.find(stop)) >= 0]
        return text[: min(found)] if found else text

    async def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Answer a batch. Raises: ModelError if the model is closed, fails, or memory does not hold one request."""
        return await self._worker.do(requests)

    async def close(self) -> None:
        """End the thread; the module stays with whoever else holds it."""
        await self._worker.close()

    @cached_property
    def _silent(self) -> frozenset[int]:
        special = {token for token, added in self.tokenizer.added_tokens_decoder.items() if added.special}
        shown = {token for token, added in self.tokenizer.added_tokens_decoder.items() if added.content in _SHOWN}
        return frozenset((special | set(self.tokenizer.all_special_ids)) - shown)

    @cached_property
    def _trees(self) -> bool:
        return not why_no_trees(self.model)

    @cached_property
    def _constraints(self) -> Constraints:
        return Constraints(self.tokenizer, sorted(self.end_ids))

    def _run(self, jobs: Sequence[Job[Request, Completion]]) -> None:
        """Decode these jobs together; called in the worker's thread."""
        ready = []
        for job in jobs:
            try:
                prompt = self._prompt(job.asked)
            except ModelError as error:
                job.failed(error)
                continue
            if self.longest is not None and len(prompt) >= self.longest:
                reason = f"the prompt has {len(prompt):,} tokens; {self.name} takes {self.longest:,} and needs one more"
                job.done(Completion("", finish_reason="error", prompt_ids=prompt, error=reason))
            else:
                ready.append((job, prompt))
        self._decode(ready)

    def _prompt(self, request: Request) -> tuple[int, ...]:
        ids = request.prompt_ids
        if ids is None:
            ids = tuple(self.encode(request.messages or (), request.tools))
        size = self.model.get_input_embeddings().weight.shape[0]
        if not ids or min(ids) < 0 or max(ids) >= size:
            raise ModelError(f"a prompt needs at least one token, each from 0 to {size - 1:,}")
        return ids

    def _row(self, job: Job[Request, Completion], prompt: tuple[int, ...]) -> Row:
        request, sampling = job.asked, job.asked.sampling
        room = sampling.max_tokens if self.longest is None else self.longest - len(prompt)
        return Row(
            prompt,
            min(sampling.max_tokens, room),
            sampling.temperature,
            sampling.top_p,
            Random(sampling.seed),
            matcher=None if request.schema is None else self._constraints.matcher(request.schema, request.wrap),
            stopped=partial(self._ends_with, sampling.stop) if sampling.stop else None,
            abandoned=job.abandoned,
        )

    def _ends_with(self, stops: Sequence[str], tokens: Sequence[int]) -> bool:
        """Whether one of the stop texts stands in the last tokens."""
        window = max(len(stop.encode()) for stop in stops) + 4
        tail = self.tokenizer.decode(tokens[-window:], skip_special_tokens=False, clean_up_tokenization_spaces=False)
        return any(stop in tail for stop in stops)

    def _decode(self, asked: Sequence[tuple[Job[Request, Completion], tuple[int, ...]]]) -> None:
        """Decode in one batch, or in two where memory runs out."""
        rows = []
        for job, prompt in asked:
            try:
                rows.append((job, self._row(job, prompt)))
            except ModelError as error:
                job.failed(error)
        if not rows:
            return
        try:
            self._evaluate([row for _, row in rows])
        except RuntimeError as error:
            if not _out_of_memory(error):
                raise ModelError(f"{self.name}: decoding failed: {_first_line(error)}") from error
            if len(rows) == 1:
                reason = f"{len(rows[0][1].prompt):,} prompt tokens and up to {rows[0][1].max_tokens:,} more"
                rows[0][0].failed(ModelError(f"{self.name}: memory does not hold one request of {reason}"))
                return
        else:
            for job, row in rows:
                job.done(self._completion(row, job.asked))
            return
        _LOG.warning("%s: memory does not hold %d requests at once; lower batch_size", self.name, len(rows))
        left = [(job, row.prompt) for job, row in rows]
        self._decode(left[: len(left) // 2])
        self._decode(left[len(left) // 2 :])

    def _evaluate(self, rows: Sequence[Row]) -> None:
        """Decode in evaluation mode; the module's own mode is back before anybody is answered."""
        training = self.model.training
        self.model.eval()
        try:
            decode(self.model, rows, end_ids=self.end_ids, pad_id=self.tokenizer.pad_token_id or 0, trees=self._trees)
        finally:
            self.model.train(training)

    def _completion(self, row: Row, request: Request) -> Completion:
        return Completion(
            self.said(row.tokens, request.sampling.stop),
            token_ids=tuple(row.tokens),
            logprobs=tuple(row.logprobs),
            finish_reason="error" if row.problem else row.finish or "error",
            prompt_ids=row.prompt,
            error=row.problem,
        )


def _templated(message: Message) -> dict[str, Json]:
    """A message as chat templates take it: arguments of calls are objects, where they can be read."""
    out = message.as_json()
    for call in out.get("tool_calls", ()):
        try:
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
        except (ValueError, RecursionError):
            continue
    return out


def _out_of_memory(error: RuntimeError) -> bool:
    return isinstance(error, torch.OutOfMemoryError) or "can't allocate memory" in str(error)


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
