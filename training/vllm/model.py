"""The policy as a vLLM server runs it: tokens in, tokens and log-probabilities out; nothing is tokenized there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from envace_sdk.errors import ModelError
from envace_sdk.json import Json
from envace_sdk.models import Completion, Request
from envace_sdk.models.model import Closing
from envace_sdk.models.openai import OpenAIModel
from envace_sdk.models.transformers import TransformersModel

from ..rollout_config import ServerConfig

__all__ = ["ServedPolicy"]

_PLAIN: Final[dict[str, Json]] = {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0, "skip_special_tokens": False}
"""What a server takes from the model's `generation_config` where a request is silent: training knows none of it."""


class ServedPolicy(Closing):
    """One role of the policy, or both.

    Args:
        words: the policy's tokenizer and chat template, as rollouts in this process use them.
        url: of the server, without `/v1`.
        server: its settings.
        name: what labels and reports call it.
    """

    def __init__(self, words: TransformersModel, url: str, server: ServerConfig, *, name: str) -> None:
        self.name = name
        self._words = words
        self._longest = 0
        self._endpoint = OpenAIModel(
            "",
            f"{url}/v1",
            timeout=server.timeout,
            concurrency=server.concurrency,
            extra_body={**_PLAIN, "stop_token_ids": sorted(words.end_ids)},
            tempered=True,
            name=name,
        )

    def serve(self, model: str, longest: int) -> None:
        """Ask for this model from now on.

        Args:
            model: the server's name of the weights.
            longest: the most tokens of prompt and completion together.
        """
        self._endpoint.model, self._longest = model, longest

    async def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Answer a batch; one whose prompt is too long has finish reason `error`.

        Raises:
            ModelError: the server cannot be asked, has not been given weights, or does not say which tokens it wrote.
        """
        if not self._endpoint.model:
            raise ModelError(f"{self.name}: the server has not been given the policy's weights; publish them first")
        prompts = [self._prompt(request) for request in requests]
        asked = [
            Request(
                prompt_ids=prompt,
                schema=request.schema,
                wrap=request.wrap,
                sampling=replace(
                    request.sampling, max_tokens=min(request.sampling.max_tokens, self._longest - len(prompt))
                ),
            )
            for request, prompt in zip(requests, prompts, strict=True)
            if len(prompt) < self._longest
        ]
        said = iter(zip(asked, await self._endpoint.complete(asked), strict=True))
        return [self._read(*next(said)) if len(prompt) < self._longest else self._long(prompt) for prompt in prompts]

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.close()

    def _prompt(self, request: Request) -> tuple[int, ...]:
        if request.prompt_ids is not None:
            return request.prompt_ids
        return tuple(self._words.encode(request.messages or (), request.tools))

    def _read(self, request: Request, completion: Completion) -> Completion:
        if completion.finish_reason == "error":
            return completion
        if completion.token_ids is None or completion.logprobs is None:
            raise ModelError(f"{self.name}: the server does not say which tokens it wrote, and how likely; is it vLLM?")
        return replace(completion, text=self._words.said(completion.token_ids, request.sampling.stop))

    def _long(self, prompt: tuple[int, ...]) -> Completion:
        reason = f"the prompt has {len(prompt):,} tokens; the server takes {self._longest:,} and needs one more"
        return Completion("", finish_reason="error", prompt_ids=prompt, error=f"{reason} (--max-model-len)")
