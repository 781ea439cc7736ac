"""Which preset and which model suit this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging

from envace_sdk.errors import ModelError, TrainingError
from envace_sdk.files import absolute
from envace_sdk.models.fetch import FETCHABLE, Progress, fetch
from envace_sdk.models.load import place_of

__all__ = ["load_tokenizer", "load_weights", "model_place", "suitable_preset"]

_GIB = 2**30


def suitable_preset() -> str:
    """The preset for this machine, by its first GPU and how many there are."""
    if not torch.cuda.is_available():
        return "cpu-small"
    memory = torch.cuda.get_device_properties(0).total_memory
    if memory < 60 * _GIB:
        return "gpu-24gb"
    return "node-8x80gb" if torch.cuda.device_count() >= 8 else "gpu-80gb"


def model_place(uri: str, progress: Progress = lambda _: None) -> str:
    """The folder or hub id of the model to train, fetched if it is one that can be.

    Raises:
        TrainingError: the model runs elsewhere, or is a file whose weights cannot be trained.
        ModelError: it cannot be fetched, or there is no such model.
    """
    if uri in FETCHABLE:
        return str(fetch(uri, progress))
    kind, colon, rest = uri.partition(":")
    if not colon and Path(uri).is_dir():
        return absolute(place_of(uri)[0])
    if kind != "transformers" or not rest:
        known = ", ".join(sorted(FETCHABLE))
        missing = "" if colon else "there is no such folder, and no model of that name; "
        raise TrainingError(
            f"model: {uri!r} cannot be trained here: {missing}take one of {known}, a folder that is there, or "
            "transformers:HUB-ID"
        )
    if rest.endswith(".gguf"):
        raise TrainingError(f"model: {rest} is quantised; train the folder of safetensors that it was made from")
    return absolute(place_of(rest)[0])


def load_weights(place: str) -> tuple[Any, Any]:
    """The model and its tokenizer, in float32 on the CPU. Raises: ModelError."""
    tokenizer = load_tokenizer(place)
    with _loading(place):
        model = AutoModelForCausalLM.from_pretrained(
            place, dtype=torch.float32, use_safetensors=True, trust_remote_code=False
        )
    return model, tokenizer


def load_tokenizer(place: str) -> Any:
    """The model's tokenizer alone. Raises: ModelError when it cannot be loaded, or has no chat template."""
    with _loading(place):
        tokenizer = AutoTokenizer.from_pretrained(place, trust_remote_code=False)
    if not tokenizer.chat_template:
        raise ModelError(f"{place}: has no chat template; take an instruction-tuned model")
    return tokenizer


@contextmanager
def _loading(place: str) -> Iterator[None]:
    try:
        logging.disable_progress_bar()
        yield
    except (OSError, ValueError, ImportError, RuntimeError, KeyError, SafetensorError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ModelError(f"{place}: cannot be loaded with transformers: {reason:.300}") from error
    finally:
        logging.enable_progress_bar()
