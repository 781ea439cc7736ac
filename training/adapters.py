"""Adapters in the names of peft's parameters, and in files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from safetensors.torch import load_file
from torch import Tensor

from envace_sdk.errors import TrainingError

__all__ = ["SHARED", "adapter_in", "read_weights", "without_adapter"]

SHARED = "default"
"""peft's name for the adapter that lies in an exported folder itself, not in one below it."""


def read_weights(folder: Path, method: str, adapters: tuple[str, ...]) -> Iterator[tuple[str, Tensor]]:
    """Names and tensors of an exported folder, one file at a time."""
    if method == "full":
        files = sorted(folder.glob("*.safetensors"))
        if not files:
            raise TrainingError(f"{folder}: holds no weights (*.safetensors)")
        for path in files:
            yield from load_file(path).items()
        return
    for adapter in adapters:
        path = (folder if adapter == SHARED else folder / adapter) / "adapter_model.safetensors"
        if not path.exists():
            raise TrainingError(f"{path}: is missing; was it written with the same `parameters` settings?")
        for name, tensor in load_file(path).items():
            parts = name.split(".")
            parts.insert(_lora_part(parts) + 1, adapter)
            yield ".".join(parts), tensor


def adapter_in(name: str) -> str | None:
    """The adapter that a parameter belongs to, by its name in peft's model; None if to no adapter."""
    parts = name.split(".")
    place = _lora_part(parts)
    return parts[place + 1] if 0 <= place < len(parts) - 1 else None


def without_adapter(name: str) -> str:
    """The name of an adapter's parameter in a file."""
    parts = name.split(".")
    del parts[_lora_part(parts) + 1]
    return ".".join(parts)


def _lora_part(parts: list[str]) -> int:
    return next((place for place, part in enumerate(parts) if part.startswith("lora_")), -1)
