"""All weights from the trainer's GPUs to the server's, without files (NCCL).

It is vLLM's own transfer (`vllm.distributed.weight_transfer`, 0.32), so vLLM must be installed with the trainer too.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from torch import Tensor
from torch.distributed.tensor import DTensor

from envace_sdk.errors import TrainingError

from ..policy import Policy
from ..processes import Processes

__all__ = ["WeightTransfer"]


class WeightTransfer:
    """A group of the main process and the server's workers. All processes make one, and send at the same time.

    Args:
        policy: whose weights.
        processes: those of the trainer.
        url: of the server, without `/v1`.
        workers: how many GPUs the server computes with.

    Raises:
        TrainingError: there is no GPU, no vLLM here, or the group does not come about.
    """

    def __init__(self, policy: Policy, processes: Processes, url: str, workers: int) -> None:
        if processes.device.type != "cuda":
            raise TrainingError("rollout.server.transfer: nccl needs GPUs; `files` works everywhere")
        try:
            from vllm.distributed.weight_transfer.clients import HTTPVLLMWeightSyncClient
            from vllm.distributed.weight_transfer.nccl_engine import (
                NCCLTrainerInitInfo,
                NCCLTrainerWeightTransferEngine,
            )
        except ImportError as error:
            raise TrainingError(
                f"rollout.server.transfer: nccl needs vLLM 0.32 in the trainer's environment too ({error}); `files` "
                "does without"
            ) from error
        address, port = processes.from_main(_rendezvous(url))
        about = NCCLTrainerInitInfo(
            master_address=address, master_port=port, world_size=workers + 1, rank=processes.rank
        )
        try:
            self._engine: Any = NCCLTrainerWeightTransferEngine.trainer_init(
                about, client=HTTPVLLMWeightSyncClient(url), source=_Weights(policy)
            )
        except (OSError, RuntimeError, ValueError) as error:
            raise TrainingError(
                f"rollout.server.transfer: no group of GPUs with the server at {url} comes about: {error}. Start it "
                'with --weight-transfer-config \'{"backend": "nccl"}\', on GPUs that the trainer does not use'
            ) from error

    def send(self) -> None:
        """Send them. Raises: TrainingError when it breaks off."""
        try:
            self._engine.send_weights()
        except (OSError, RuntimeError, ValueError) as error:
            raise TrainingError(f"rollout.server.transfer: the weights did not get to the server: {error}") from error


class _Weights:
    """What vLLM calls a weight source: names with types and shapes, and the tensors in the same order."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def metadata(self) -> list[Any]:
        """Names, types and shapes; nothing is sent."""
        from vllm.distributed.weight_transfer.base import ParamMeta

        return [ParamMeta(name, self._policy.precision, tuple(held.shape)) for name, held in self._held()]

    def __iter__(self) -> Iterator[tuple[str, Tensor]]:
        for name, held in self._held():
            whole = held.detach()
            if isinstance(whole, DTensor):
                whole = whole.full_tensor()
            yield name, whole.to(self._policy.precision)

    def _held(self) -> Iterator[tuple[str, Tensor]]:
        yield from self._policy.trained.items()


def _rendezvous(url: str) -> tuple[str, int]:
    """An address of this machine that the server can reach, and a port that is free."""
    parts = urlsplit(url)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as towards:
        towards.connect((parts.hostname, parts.port or 80))
        address = str(towards.getsockname()[0])
    with socket.socket() as free:
        free.bind((address, 0))
        return address, int(free.getsockname()[1])
