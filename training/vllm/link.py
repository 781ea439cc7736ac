"""A vLLM server that is kept at the trainer's weights.

What is trained as adapters is sent as adapters, each under a name of its own, so that nothing which the server computed
with older weights is taken for newer; all weights are read anew by the server, or sent from GPU to GPU.
"""

from __future__ import annotations

import logging
import shutil
import tempfile
import uuid
from collections.abc import Mapping
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from safetensors import SafetensorError
from torch import Tensor

from envace_sdk.errors import TrainingError
from envace_sdk.models import Message, Request, Sampling
from envace_sdk.models.transformers import TransformersModel

from ..config import TrainConfig
from ..rollout_config import ServerConfig
from ..rows import ROLES, Role, Row
from ..trainer import Trainer
from .client import Served, VLLMClient
from .command import serve_command
from .model import ServedPolicy
from .nccl import WeightTransfer

__all__ = ["Link"]

logger = logging.getLogger(__name__)

_FARTHEST: Final = 0.15
"""Nats by which the server's log-probabilities may be off, in the mean over some tokens: bfloat16 makes about 0.02."""
_TRIED: Final = 32


class Link:
    """The models of both roles, and how the server gets their weights.

    Under several processes all make one, and publish at the same time.

    Args:
        trainer: whose weights.
        words: its tokenizer and chat template.
        config: the trainer's settings.
        server: where the server is.
        place: the folder or hub id of the model that is trained.

    Raises:
        TrainingError: the settings name no server.
    """

    def __init__(
        self, trainer: Trainer, words: TransformersModel, config: TrainConfig, server: ServerConfig, place: str
    ) -> None:
        if server.url is None:
            raise TrainingError("rollout.server.url is not set, and no server was started for this run")
        self._trainer, self._processes = trainer, trainer.processes
        self._words = words
        self._place = place
        self._temperature = config.loss.temperature
        self._is_adapters = config.parameters.method == "lora"
        self._command = str(serve_command(place, config, server))
        self._client = VLLMClient(server.url, self._command, seconds=server.timeout)
        self._server = server
        roles: tuple[Role, ...] = ROLES if config.parameters.separate else ("act",)
        made = {role: ServedPolicy(words, self._client.url, server, name=f"policy ({role})") for role in roles}
        self.models: Mapping[Role, ServedPolicy] = {role: made.get(role, made["act"]) for role in ROLES}
        self._identity = self._processes.from_main(uuid.uuid4().hex[:8])
        self._served: Served | None = None
        self._version: int | None = None
        self._adapters: dict[Role, str] = {}
        self._folder: Path | None = None
        self._transfer: WeightTransfer | None = None

    async def publish(self) -> None:
        """Have the server sample with the weights as they are; all processes take part. Does nothing if it does.

        Raises:
            TrainingError: the server cannot be reached, does not take weights, or does not serve this model.
        """
        version = self._trainer.steps_done
        if version == self._version:
            return
        is_first = self._served is None
        served = self._served
        if served is None:
            served = self._served = await self._processes.by_main(self._connected)
        if self._server.transfer == "nccl":
            await self._send_directly()
        else:
            weights = self._trainer.policy.weights()
            self._adapters = await self._processes.by_main(lambda: self._send_files(version, weights))
        for role, model in self.models.items():
            model.serve(self._adapters.get(role, served.name), served.longest)
        if is_first:
            await self._compare(served)
        self._version = version

    async def close(self) -> None:
        """Have the server forget the adapters, if it is still there; close the connections; delete the files."""
        async with AsyncExitStack() as ending:  # each part is done even if another fails
            ending.callback(self._clear)
            ending.push_async_callback(self._forget)
            for model in {id(model): model for model in self.models.values()}.values():
                ending.push_async_callback(model.close)

    async def _forget(self) -> None:
        if not self._processes.is_main:
            return
        try:
            await self._unload(self._adapters)
        except TrainingError as error:
            # Often this is the end of a run that the server's going away has ended, and that error must be told.
            logger.warning("the server is not told to forget the adapters of this run: %s", error)

    def _clear(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    async def _connected(self) -> Served:
        served = await self._client.model()
        if not self._is_adapters and _is_tied(self._trainer.policy.base) and await self._client.is_on_cpu():
            raise TrainingError(
                f"{self._place} has an output layer that is its embedding too, and on a CPU vLLM (0.32) goes on with "
                "the old output layer when weights change: train adapters (`parameters: {method: lora}`), or sample "
                "without a server"
            )
        return served

    async def _send_files(self, version: int, weights: Mapping[str, Tensor]) -> dict[Role, str]:
        """Write them, and have them read; the names of adapters by role."""
        policy = self._trainer.policy
        folder = self._scratch() / f"{version:06}"
        try:
            # Frozen weights of the server are in this precision anyway, and full ones are cast when they are read.
            policy.save(folder, {name: held.to(policy.precision) for name, held in weights.items()})
        except (OSError, SafetensorError) as error:
            reason = getattr(error, "strerror", None) or error
            raise TrainingError(f"rollout.server.folder: weights cannot be written to {folder}: {reason}") from error
        if not self._is_adapters:
            await self._client.reload(folder)
            shutil.rmtree(folder)
            return {}
        names: dict[Role, str] = {}
        for role in ROLES:
            own = policy.adapter(role)
            names[role] = f"envace-{self._identity}-{version}" + (f"-{own}" if own else "")
            if list(names.values()).count(names[role]) == 1:
                await self._client.load_adapter(names[role], folder / own if own else folder)
        # The server may read an adapter again as long as it is in use, so only now can the older one go.
        await self._unload(self._adapters)
        for older in folder.parent.iterdir():
            if older != folder:
                shutil.rmtree(older)
        return names

    async def _send_directly(self) -> None:
        if self._transfer is None:
            workers = await self._processes.by_main(self._client.workers)
            self._transfer = WeightTransfer(self._trainer.policy, self._processes, self._client.url, workers)
        self._transfer.send()
        await self._processes.by_main(self._client.forget)

    async def _unload(self, adapters: Mapping[Role, str]) -> None:
        for name in dict.fromkeys(adapters.values()):
            await self._client.unload_adapter(name)

    def _scratch(self) -> Path:
        if self._folder is None:
            within = self._server.folder
            try:
                self._folder = Path(tempfile.mkdtemp(prefix="envace-weights-", dir=within)).resolve()
            except OSError as error:
                raise TrainingError(f"rollout.server.folder: {within}: {error.strerror or error}") from error
            # Whoever runs the server must be able to read them.
            self._folder.chmod(0o755)
        return self._folder

    async def _compare(self, served: Served) -> None:
        """Whether the server thinks of its own words what the policy thinks of them.

        Raises:
            TrainingError: it does not, so it serves something else.
        """
        prompt = tuple(self._words.encode([Message("user", "Count from one to twenty, in words.")]))
        request = Request(prompt_ids=prompt, sampling=Sampling(_TRIED, self._temperature, seed=0))
        for role, model in {model: (role, model) for role, model in self.models.items()}.values():
            (said,) = await self._processes.by_main(partial(model.complete, [request]))
            if said.finish_reason == "error":
                raise TrainingError(f"the server at {self._client.url} cannot answer: {said.error}")
            row = Row("the server's words", 0, role, prompt, said.token_ids or (), said.logprobs or ())
            (own,) = self._trainer.score([row])
            apart = fmean(abs(theirs - ours) for theirs, ours in zip(row.logprobs, own, strict=True))
            if apart > _FARTHEST:
                raise TrainingError(
                    f"rollout.server.url: the server at {self._client.url} serves {served.place}, and does not agree "
                    f"with the policy, which is {self._place}: its log-probabilities are off by {apart:.2f} nats in "
                    f"the mean. It serves another model, or was given other weights; start it with\n  {self._command}"
                )


def _is_tied(model: Any) -> bool:
    head = model.get_output_embeddings()
    return head is not None and head.weight is model.get_input_embeddings().weight
