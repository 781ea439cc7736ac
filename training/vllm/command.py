"""The command that starts a vLLM server which rollouts can be sampled from."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ..config import TrainConfig
from ..rollout_config import ServerConfig

__all__ = ["ServeCommand", "serve_command"]

_RANKS: Final = (8, 16, 32, 64, 128, 256, 320, 512)
"""What vLLM takes as `--max-lora-rank`."""
_DTYPES: Final = {"bf16": "bfloat16", "f32": "float32"}


@dataclass(frozen=True, slots=True)
class ServeCommand:
    """A command that is yet to be run."""

    environment: Mapping[str, str]
    """Variables that it needs beside those there are."""
    arguments: tuple[str, ...]
    """Of the server, without the program."""

    def __str__(self) -> str:
        """As one types it."""
        return shlex.join([*(f"{name}={value}" for name, value in self.environment.items()), "vllm", "serve"]) + (
            f" {shlex.join(self.arguments)}"
        )


def serve_command(place: str, config: TrainConfig, server: ServerConfig) -> ServeCommand:
    """What a server needs for a run with these settings.

    The trainer's log-probabilities are at the sampling temperature and over the whole vocabulary, so the server's must
    be; and nothing of the model's own `generation_config` may change what is sampled.

    Args:
        place: the folder or hub id of the model.
        config: the trainer's settings.
        server: the server's.
    """
    parameters = config.parameters
    arguments = [place, "--logprobs-mode", "processed_logprobs", "--generation-config", "vllm"]
    if config.compute.precision in _DTYPES:
        arguments += ["--dtype", _DTYPES[config.compute.precision]]
    if parameters.method == "lora":
        rank = next((rank for rank in _RANKS if rank >= parameters.rank), parameters.rank)
        adapters = 2 if parameters.separate else 1
        arguments += ["--enable-lora", "--max-lora-rank", str(rank), "--max-loras", str(adapters)]
        return ServeCommand({"VLLM_ALLOW_RUNTIME_LORA_UPDATING": "1"}, (*arguments, *server.arguments))
    if server.transfer == "nccl":
        arguments += ["--weight-transfer-config", json.dumps({"backend": "nccl"})]
    return ServeCommand({"VLLM_SERVER_DEV_MODE": "1"}, (*arguments, *server.arguments))
