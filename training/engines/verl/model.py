"""The policy as verl's rollout servers hold it, as a chat model: tokens in, tokens out."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from envace_sdk.errors import ModelError
from envace_sdk.models import Completion, Request
from envace_sdk.models.transformers import TransformersModel

__all__ = ["ServedPolicy", "Server"]


class Server(Protocol):
    """What is used of verl's `LLMServerClient`."""

    async def generate(self, request_id: str, *, prompt_ids: list[int], sampling_params: dict[str, Any]) -> Any:
        """A `TokenOutput`: token_ids, log_probs, stop_reason, extra_fields."""
        ...


class ServedPolicy(TransformersModel):
    """One trajectory's conversation with the servers; encodes and decodes as the policy in this process would.

    Args:
        server: verl's client.
        tokenizer: of the model.
        sampling: what verl samples with: temperature, top_p, and whether log-probabilities are wanted.
        longest: the most tokens of prompt and completion together.
    """

    def __init__(self, server: Server | None, tokenizer: Any, sampling: Mapping[str, Any], longest: int) -> None:
        super().__init__(None, tokenizer, name="policy (verl)")
        self._server = server
        self._sampling = dict(sampling)
        self._most = longest
        # Requests with the same id go to the same server, which may still hold what their prompts have in common.
        self._conversation = uuid.uuid4().hex
        self.versions: list[int] = []
        """How many updates the weights had seen, by completion, where the server says so."""

    async def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Answer a batch. Raises: ModelError where it cannot be answered at all, or a schema is to hold the answer."""
        return list(await asyncio.gather(*map(self._answer, requests)))

    async def _answer(self, request: Request) -> Completion:
        if request.schema is not None:
            raise ModelError("in rollouts for training, no schema holds the answer")
        if self._server is None:
            raise ModelError("this policy only encodes: it has no server")
        prompt = request.prompt_ids or tuple(self.encode(request.messages or (), request.tools))
        limit = min(request.sampling.max_tokens, self._most - len(prompt))
        if limit < 1:
            reason = f"the prompt has {len(prompt):,} tokens; {self._most:,} fit (tasks.prompt_tokens, verl.data)"
            return Completion("", finish_reason="error", prompt_ids=prompt, error=reason)
        output = await self._server.generate(
            self._conversation, prompt_ids=list(prompt), sampling_params={**self._sampling, "max_tokens": limit}
        )
        return self._answered(prompt, output, limit)

    def _answered(self, prompt: tuple[int, ...], output: Any, limit: int) -> Completion:
        tokens = tuple(output.token_ids)
        if output.stop_reason == "aborted" or not tokens:
            return Completion("", finish_reason="error", prompt_ids=prompt, error="the server gave the request up")
        if output.log_probs is None or len(output.log_probs) != len(tokens):
            raise ModelError("verl's server gives no log-probabilities: set rollout.calculate_log_probs")
        version = output.extra_fields.get("min_global_steps")
        if version is not None:
            self.versions.append(int(version))
        ended = tokens[-1] in self.end_ids
        return Completion(
            self.decode(tokens[:-1] if ended else tokens),
            token_ids=tokens,
            logprobs=tuple(output.log_probs),
            # A server may know more end tokens than the tokenizer names: whoever stops early was done.
            finish_reason="stop" if ended or len(tokens) < limit else "length",
            prompt_ids=prompt,
        )
