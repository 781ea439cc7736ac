"""Models that run in this process with vLLM, for throughput on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from envace_sdk.errors import ModelError

from .model import Closing, Completion, Request
from .worker import Job, Worker

__all__ = ["VLLMModel"]


class VLLMModel(Closing):
    """A vLLM engine in this process. Requests that wait at the same time go to it together; it batches on.

    Args:
        engine: a `vllm.LLM`. For log-probabilities at the sampling temperature, as `load` sets it up:
            `logprobs_mode="processed_logprobs"`.
        name: what labels and reports call it.
        batch_size: the most requests handed over at once.
    """

    def __init__(self, engine: Any, *, name: str = "vllm", batch_size: int = 256) -> None:
        # It needs torch, which whoever has an engine has; without vLLM the message must be about vLLM.
        from .transformers import TransformersModel

        self.name = name
        self.engine = engine
        self.tokenizer = engine.get_tokenizer()
        self.longest: int = engine.llm_engine.model_config.max_model_len
        """The most tokens of prompt and completion together."""
        self._words = TransformersModel(None, self.tokenizer, name=name)
        self._worker: Worker[Request, Completion] = Worker(self._run, batch_size, name=f"decode {name}")

    @classmethod
    def load(cls, where: str, *, name: str | None = None, batch_size: int = 256, **engine: Any) -> Self:
        """Start an engine.

        Args:
            where: a folder or hub id.
            name: what labels and reports call it; default: `vllm:` and the place.
            batch_size: the most requests handed over at once.
            engine: for `vllm.LLM`, such as `dtype` or `gpu_memory_utilization`.

        Raises:
            ModelError: vLLM is not installed, or cannot load the model.
        """
        try:
            from vllm import LLM
        except ImportError as error:
            raise ModelError(f"vLLM is not installed ({error}); see docs/models.md") from error
        options = {"logprobs_mode": "processed_logprobs", **engine}
        try:
            started = LLM(model=where, **options)
        except (OSError, ValueError, RuntimeError) as error:
            raise ModelError(f"{where}: cannot be loaded with vLLM: {error}") from error
        return cls(started, name=name or f"vllm:{where}", batch_size=batch_size)

    async def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Answer a batch. Raises: ModelError if the engine fails or is closed."""
        return await self._worker.do(requests)

    async def close(self) -> None:
        """End the thread; the engine goes when nobody holds it."""
        await self._worker.close()

    def _run(self, jobs: Sequence[Job[Request, Completion]]) -> None:
        ready = []
        for job in jobs:
            try:
                prompt = self._prompt(job.asked)
            except ModelError as error:
                job.failed(error)
                continue
            if len(prompt) >= self.longest:
                reason = f"the prompt has {len(prompt):,} tokens; {self.name} takes {self.longest:,} and needs one more"
                job.done(Completion("", finish_reason="error", prompt_ids=prompt, error=reason))
            else:
                ready.append((job, prompt, _parameters(job.asked)))
        prompts = [{"prompt_token_ids": list(prompt)} for _, prompt, _ in ready]
        try:
            outputs = self.engine.generate(prompts, [each for *_, each in ready], use_tqdm=False) if ready else []
        except (ValueError, RuntimeError) as error:
            raise ModelError(f"{self.name}: decoding failed: {error}") from error
        for (job, prompt, _), output in zip(ready, outputs, strict=True):
            job.done(self._completion(output.outputs[0], prompt, job.asked))

    def _prompt(self, request: Request) -> tuple[int, ...]:
        if request.prompt_ids is not None:
            return request.prompt_ids
        return tuple(self._words.encode(request.messages or (), request.tools))

    def _completion(self, output: Any, prompt: tuple[int, ...], request: Request) -> Completion:
        token_ids = tuple(output.token_ids)
        logprobs = None
        if output.logprobs is not None:
            steps = zip(token_ids, output.logprobs, strict=True)
            logprobs = tuple(min(float(step[token].logprob), 0.0) for token, step in steps)
        return Completion(
            self._words.said(token_ids, request.sampling.stop),
            token_ids=token_ids,
            logprobs=logprobs,
            finish_reason="length" if output.finish_reason == "length" else "stop",
            prompt_ids=prompt,
        )


def _parameters(request: Request) -> Any:
    from vllm import SamplingParams

    sampling = request.sampling
    more: dict[str, Any] = {}
    if request.schema is not None:
        from vllm.sampling_params import StructuredOutputsParams

        more["structured_outputs"] = StructuredOutputsParams(json=request.schema)
    return SamplingParams(
        max_tokens=sampling.max_tokens,
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        seed=sampling.seed,
        stop=list(sampling.stop),
        logprobs=0,
        **more,
    )
