"""Rollouts through a vLLM server on GPUs: how fast it samples, how far off it is, and what sending weights takes.

    python benchmarks/gpu/server.py --model transformers:Qwen/Qwen3-0.6B
    python benchmarks/gpu/server.py --model transformers:Qwen/Qwen3-8B --ways lora files nccl \\
        --server-gpus 1,2 --argument=--tensor-parallel-size=2

The trainer has the first GPU, the server those of `--server-gpus`. For each way of sending weights (adapters, whole
weights through files, whole weights from GPU to GPU) a server is started, given the weights, asked, given other
weights, and asked again. Beside it the transformers backend samples the same prompts with the trainer's own weights.
The last columns must be near 0: how far the server's log-probabilities are from the trainer's, before and after the
change.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from statistics import fmean
from typing import Any

import torch
from envace_sdk.training.rows import Row
from envace_sdk.training.run import run_config
from envace_sdk.training.run.live import Live
from envace_sdk.training.run.machine import model_place
from envace_sdk.training.vllm import rollout_server
from need import on_gpus

from envace_sdk.models import Completion, Message, Request, Sampling
from envace_sdk.models.transformers import TransformersModel

WAYS = ("lora", "files", "nccl")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="transformers:Qwen/Qwen3-0.6B")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--prompts", type=int, default=128)
    parser.add_argument("--tokens", type=int, default=256)
    parser.add_argument("--server-gpus", default="1", help="CUDA_VISIBLE_DEVICES of the server.")
    parser.add_argument("--python", help="The interpreter that has vLLM; default: this one.")
    parser.add_argument("--argument", action="append", default=[], help="A further one of vLLM; may be given often.")
    options = on_gpus(parser, least=2)
    print("| weights | first sending, s | later, s | vLLM, tokens/s | transformers, tokens/s | off | off after |")
    print("|---|---|---|---|---|---|---|")
    for way in options.ways:
        print(asyncio.run(measured(way, options)), flush=True)


async def measured(way: str, options: argparse.Namespace) -> str:
    """A line of the table."""
    server: dict[str, Any] = {
        "python": options.python,
        "arguments": options.argument,
        "environment": {} if options.try_on_cpu else {"CUDA_VISIBLE_DEVICES": options.server_gpus},
        "transfer": "nccl" if way == "nccl" else "files",
    }
    values = {
        "model": options.model,
        "parameters": {"method": "lora" if way == "lora" else "full"},
        "compute": {"precision": "f32" if options.try_on_cpu else "bf16"},
        "rollout": {"server": server},
    }
    config, place = run_config(values), model_place(options.model)
    with rollout_server(place, config, config.rollout.server, print) as url:  # type: ignore[arg-type]
        values["rollout"] = {"server": server | {"url": url}}
        live = Live(place, run_config(values))
        first = await timed(live.publish())
        said, seconds = await sampled(live.models["act"], options)
        before = off(live, said)
        local = TransformersModel(live.trainer.model, live.tokenizer, batch_size=options.prompts)
        with live.trainer.acting_as("act"):
            here, own_seconds = await sampled(local, options)
        await local.close()
        later = []
        for number in range(3):
            change(live, number)
            later.append(await timed(live.publish()))
        after = off(live, (await sampled(live.models["act"], options))[0])
        await live.close()
    rates = rate(said, seconds), rate(here, own_seconds)
    return (
        f"| {way} | {first:.2f} | {fmean(later):.2f} | {rates[0]:.0f} | {rates[1]:.0f} | {before:.4f} | {after:.4f} |"
    )


async def timed(work: Any) -> float:
    begin = time.perf_counter()
    await work
    return time.perf_counter() - begin


async def sampled(model: Any, options: argparse.Namespace) -> tuple[list[Completion], float]:
    """The prompts' completions, and the seconds they took."""
    requests = [
        Request(
            messages=(Message("user", f"Write story number {number} about a lamp."),),
            sampling=Sampling(options.tokens, seed=number),
        )
        for number in range(options.prompts)
    ]
    begin = time.perf_counter()
    found: list[Completion] = await model.complete(requests)
    return found, time.perf_counter() - begin


def rate(said: list[Completion], seconds: float) -> float:
    return sum(len(one.token_ids or ()) for one in said) / seconds


def off(live: Live, said: list[Completion]) -> float:
    """Mean absolute difference of log-probabilities, in nats a token."""
    rows = [
        Row("task", number, "act", one.prompt_ids or (), one.token_ids or ())
        for number, one in enumerate(said[:16])
        if one.token_ids
    ]
    pairs = zip(said[:16], live.trainer.score(rows), strict=True)
    return fmean(abs(a - b) for one, own in pairs for a, b in zip(one.logprobs or (), own, strict=True))


def change(live: Live, seed: int) -> None:
    """Move the weights a little, as an update does."""
    torch.manual_seed(seed)
    with torch.no_grad():
        for held in live.trainer.policy.trained.values():
            held.add_(torch.randn_like(held) * 0.002)
    live.trainer.steps_done += 1


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    main()
