"""Running out of memory, and which setting to change then."""

from __future__ import annotations

import ctypes
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import torch

from envace_sdk.errors import MemoryLimitError

from .batches import MicroBatch
from .config import TrainConfig

__all__ = [
    "enough_for",
    "give_back_freed",
    "is_out_of_memory",
    "memory_limit",
    "peak_memory",
    "reset_peak_memory",
    "trim",
]

_MMAP_THRESHOLD: Final = -3
"""`M_MMAP_THRESHOLD` of glibc's malloc.h."""
_LARGE: Final = 16 * 2**20
"""Bytes. Lower, decoding waits for fresh pages at every token."""


def give_back_freed() -> None:
    """Have freed blocks of 16 MB and more given back to the system: in this process, and where malloc is glibc's.

    By itself glibc keeps ever larger ones as they are freed, up to 32 MB, in a heap whose holes fit no later tensor.
    """
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "mallopt"):
        libc.mallopt(_MMAP_THRESHOLD, _LARGE)


def trim() -> None:
    """Give back the pages of all blocks that are free now, where malloc is glibc's.

    Decoding grows its caches token by token; smaller ones leave holes that the update's large blocks do not fit.
    """
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        libc.malloc_trim(0)


def is_out_of_memory(error: RuntimeError) -> bool:
    """Whether torch failed to allocate, on an accelerator or on the CPU."""
    text = str(error)
    return isinstance(error, torch.OutOfMemoryError) or "DefaultCPUAllocator" in text or "not enough memory" in text


def memory_limit(error: RuntimeError, batch: MicroBatch, config: TrainConfig) -> MemoryLimitError:
    """The error to raise instead, with the one setting that helps most and costs least."""
    longest = max(map(len, batch.trees))
    size = f"{len(batch.trees)} x {longest} tokens"
    return MemoryLimitError(
        f"out of memory in a micro-batch of {size}: {_advice(batch, longest, config)} ({_reason(error)})"
    )


@contextmanager
def enough_for(what: str, config: TrainConfig) -> Iterator[None]:
    """While memory is taken that no micro-batch needs: `what` names it. Raises: MemoryLimitError if it is not there."""
    try:
        yield
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
        raise MemoryLimitError(f"out of memory for {what}: {_lighter(config)} ({_reason(error)})") from error


def _reason(error: RuntimeError) -> str:
    return next((line for line in str(error).splitlines() if line.strip()), "no reason given")[:200]


def _advice(batch: MicroBatch, longest: int, config: TrainConfig) -> str:
    compute = config.compute
    if len(batch.trees) > 1:
        lower = max(longest, batch.tokens // 2)
        return f"set compute.tokens_per_micro_batch to {lower} (it is {compute.tokens_per_micro_batch})"
    if not compute.gradient_checkpointing:
        return "set compute.gradient_checkpointing to true"
    return _lighter(config, f"one sequence of {longest} tokens does not fit; limit prompts, completions or turns, or ")


def _lighter(config: TrainConfig, before: str = "") -> str:
    """How the weights, and what is kept for each, take less; what else there is to do, where nothing does."""
    if config.parameters.method == "full":
        return "set parameters.method to lora, or with several GPUs compute.sharding to full"
    if config.compute.precision == "f32":
        return "set compute.precision to bf16"
    return f"{before}take a smaller model"


def reset_peak_memory(device: torch.device) -> None:
    """Begin to measure; on the CPU the peak is that of the process since its start."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)


def peak_memory(device: torch.device) -> int:
    """The most bytes in use since `reset_peak_memory`: of the accelerator, else of this process."""
    if device.type == "cuda":
        return int(torch.cuda.max_memory_allocated(device))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
