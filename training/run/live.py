"""The policy under training as chat models: rollouts read the trainer's own weights, or a vLLM server is given them."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from envace_sdk.errors import TrainingError
from envace_sdk.models import ChatModel, Message
from envace_sdk.models.decoding import Row as Decoded
from envace_sdk.models.transformers import TransformersModel

from ..memory import give_back_freed
from ..rewards import Rewarder
from ..rollout import RolloutSource
from ..rollout_config import RoleLimits, RolloutConfig
from ..rows import ROLES, Role
from ..segments import Rendering
from ..tokens import ModelTokens
from ..trainer import Trainer
from ..vllm import Link
from .machine import load_weights
from .settings import RunConfig

__all__ = ["Live"]


class _RoleModel(TransformersModel):
    """Decodes with the weights of one role, in the precision of training."""

    def __init__(self, trainer: Trainer, tokenizer: Any, role: Role, lock: threading.Lock, batch_size: int) -> None:
        super().__init__(trainer.model, tokenizer, name=f"policy ({role})", batch_size=batch_size)
        self._trainer = trainer
        self._role = role
        self._lock = lock

    def _evaluate(self, rows: Sequence[Decoded]) -> None:
        # Adapters are switched in the module, so one role decodes at a time.
        with self._lock, self._trainer.acting_as(self._role):
            super()._evaluate(rows)


class Live:
    """A trainer, and the chat models and rollouts of its weights.

    Args:
        place: the folder or hub id of the model.
        config: all settings.
        weights: a folder with weights or adapters to begin with instead, as `Trainer.export` writes them.
        examples: by toolset, whole conversations that the acting role is shown first.

    Raises:
        ModelError: the model cannot be loaded; TrainingError: settings do not suit it; ToolsetError: a real server's
            configuration cannot be read.
    """

    def __init__(
        self,
        place: str,
        config: RunConfig,
        weights: Path | None = None,
        *,
        examples: Mapping[str, Sequence[Sequence[Message]]] | None = None,
    ) -> None:
        give_back_freed()
        is_whole = weights is not None and config.parameters.method == "full"
        model, self.tokenizer = load_weights(str(weights) if is_whole else place)
        self.config = config
        self._examples = examples or {}
        self.parameters: int = sum(held.numel() for held in model.parameters())
        self.trainer = Trainer(model, config, tokenizer=self.tokenizer, pad_id=self.tokenizer.pad_token_id or 0)
        if weights is not None and not is_whole:
            self.trainer.policy.begin_with(weights)
        words = TransformersModel(self.trainer.model, self.tokenizer, name=f"the tokenizer of {place}")
        self.tokens = ModelTokens(words)
        server = config.rollout.server
        self._link = None if server is None else Link(self.trainer, words, config, server, place)
        self.models: Mapping[Role, ChatModel] = self._own_models() if self._link is None else self._link.models
        self._rewarder = Rewarder.load(config.rewards)
        self.source = self._source(config.rollout, config.seed, config.rendering)
        self.serving = self.source
        if config.rendering == "stream":
            self.serving = self._source(config.rollout, config.seed, "split")
        """Whose prompts the rehearsing role has where the model is served, which tells it of no user."""

    def evaluating(self, samples: int, temperature: float) -> RolloutSource:
        """Rollouts to measure with: so many attempts at a task, at a temperature."""
        rollout = self.config.rollout
        limits: dict[str, RoleLimits] = {
            role: RoleLimits(max_tokens=rollout.limits(role).max_tokens, temperature=temperature) for role in ROLES
        }
        measuring = rollout.model_copy(update={"group": samples, **limits})
        return self._source(measuring, self.config.seed + 1, self.config.rendering)

    async def publish(self) -> None:
        """Have rollouts sampled with the weights as they are; all processes take part.

        Raises:
            TrainingError: the vLLM server that samples them cannot take the weights.
        """
        if self._link is not None:
            await self._link.publish()

    def _own_models(self) -> Mapping[Role, ChatModel]:
        if self.trainer.policy.is_sharded:
            raise TrainingError(
                "compute.sharding: full leaves no process with weights to sample with; let a vLLM server sample: "
                "--rollout-server URL"
            )
        lock = threading.Lock()
        roles: tuple[Role, ...] = ROLES if self.config.parameters.separate else ("act",)
        made = {role: _RoleModel(self.trainer, self.tokenizer, role, lock, self.config.batch_size) for role in roles}
        return {role: made.get(role, made["act"]) for role in ROLES}

    def _source(self, rollout: RolloutConfig, seed: int, rendering: Rendering) -> RolloutSource:
        one = self.models["act"]
        models = one if one is self.models["rehearse"] else self.models
        return RolloutSource(
            models,
            rollout,
            self._rewarder,
            examples=self._examples,
            seed=seed,
            rendering=rendering,
            tokens=self.tokens,
        )

    async def close(self) -> None:
        """End the threads, and let go of the server and the judge; the weights go with the last reference to this."""
        async with AsyncExitStack() as ending:  # each is closed even if another cannot be
            ending.push_async_callback(self._rewarder.close)
            for model in {id(model): model for model in self.models.values()}.values():
                ending.push_async_callback(model.close)
            if self._link is not None:
                ending.push_async_callback(self._link.close)
