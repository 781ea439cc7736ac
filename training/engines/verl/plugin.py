"""What verl finds: an agent loop that plays tasks in both roles, and a trainer that judges rows by role.

Loaded by `import verl` through the entry point `envace` of the group `verl.plugins`.
"""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import Any

import torch
import transfer_queue as tq
from omegaconf import DictConfig, OmegaConf
from tensordict import TensorDict
from transfer_queue import KVBatchMeta
from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopMetrics, AgentLoopOutput, register
from verl.trainer.ppo.v1.trainer_base import register_trainer
from verl.trainer.ppo.v1.trainer_sync import PPOTrainerSync
from verl.workers.utils.padding import response_to_nested

from ...config import AdvantageConfig
from .config import NAME
from .model import ServedPolicy
from .rollouts import Rollouts
from .rows import FIELD, advantages, pack

__all__ = ["EnvaceLoop", "EnvaceTrainer"]


@register(NAME)
class EnvaceLoop(AgentLoopBase):
    """Plays one trajectory of a task; each of its turns, or the whole as one stream, is a row of verl's."""

    async def run(self, sampling_params: dict[str, Any], **fields: Any) -> list[AgentLoopOutput]:
        """The rows of one trajectory; none where the policy wrote nothing.

        Args:
            sampling_params: what verl samples with.
            fields: of the task's entry in the data, with verl's uid, session_id and global_steps.
        """
        rollouts = _rollouts(self.config.envace.run, self.tokenizer)
        limits = self.rollout_config
        longest = limits.max_model_len or limits.prompt_length + limits.response_length
        policy = ServedPolicy(self.server_manager, self.tokenizer, sampling_params, longest)
        task = fields["extra_info"]
        # verl counts from 1 what the weights have seen one update less of.
        step = int(fields["global_steps"]) - 1
        trajectory = await rollouts.play(
            task["case"], policy, step=step, place=int(task["index"]), held_out=task["split"] != "train"
        )
        session = int(fields["session_id"])
        packed = pack(trajectory.rows(), rollouts.job.config, group=str(fields["uid"]), sample=session)
        seen = policy.versions or [step]
        return [
            AgentLoopOutput(
                prompt_ids=one.prompt_ids,
                response_ids=one.response_ids,
                response_mask=one.response_mask,
                response_logprobs=one.response_logprobs,
                reward_score=trajectory.reward,
                num_turns=len(trajectory.turns),
                metrics=AgentLoopMetrics(),
                extra_fields={
                    FIELD: one.about,
                    "min_global_steps": min(seen),
                    "max_global_steps": max(seen),
                    "reward_extra_info": {"acc": float(trajectory.solved)},
                },
            )
            for one in packed
        ]


@register_trainer(NAME)
class EnvaceTrainer(PPOTrainerSync):
    """verl's synchronous trainer with role-wise advantages, and one optimizer step an epoch over all rows there are."""

    def __init__(self, config: DictConfig) -> None:
        # The mode has found this class. verl looks at it again, for what it does in each of its own modes.
        config.trainer.v1.trainer_mode = "sync"
        super().__init__(config)

    def _get_required_batch_multiple(self, dp_size: int) -> int:
        return math.lcm(dp_size, int(self.config.actor_rollout_ref.rollout.n))

    def _compute_advantage(self, batch: KVBatchMeta, metrics: dict[str, Any]) -> KVBatchMeta:
        """First what verl corrects; then its advantages are replaced."""
        batch = super()._compute_advantage(batch, metrics)
        fields = tq.kv_batch_get(
            keys=batch.keys, partition_id=batch.partition_id, select_fields=["response_mask", "extra_fields"]
        )
        abouts = [extra.get(FIELD) for extra in fields.pop("extra_fields").tolist()]
        # What verl pads with is a copy of a row, its extra fields included: it must not count.
        real = [None if tag.get("is_padding") else about for tag, about in zip(batch.tags, abouts, strict=True)]
        settings = AdvantageConfig.model_validate(OmegaConf.to_container(self.config.envace.advantages))
        judged, report = advantages(real, settings)
        mask = fields["response_mask"]
        found = torch.zeros(mask.to_padded_tensor(0).shape)
        for place, segments in enumerate(judged):
            for where, advantage in segments:
                found[place, where] = advantage
        metrics["envace/learning_share"] = report.learning_share
        for role, own in report.roles.items():
            metrics[f"envace/{role}/rows"] = own.rows
            if own.reward is not None:
                metrics[f"envace/{role}/reward"] = own.reward
        nested = response_to_nested(found, mask)
        return tq.kv_batch_put(
            keys=batch.keys,
            partition_id=batch.partition_id,
            fields=TensorDict({"advantages": nested, "returns": nested.clone()}, batch_size=len(batch)),
        )

    def _update_actor(self, batch: KVBatchMeta, metrics: dict[str, Any]) -> KVBatchMeta:
        """One optimizer step for all rows: of verl's own fixed number, trajectories of many turns would take many."""
        actor = self.config.actor_rollout_ref.actor
        configured = actor.ppo_mini_batch_size
        actor.ppo_mini_batch_size = len(batch) // int(self.config.actor_rollout_ref.rollout.n)
        try:
            return super()._update_actor(batch, metrics)
        finally:
            actor.ppo_mini_batch_size = configured


@cache
def _rollouts(run: str, tokenizer: Any) -> Rollouts:
    """One for each run and process."""
    return Rollouts(Path(run), tokenizer)
