"""AdamW over the trained weights: schedule, clipping, and moments that can be stored and read back."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.distributed.tensor import DTensor

from .config import TrainConfig
from .policy import Policy, full_tensor

__all__ = ["Optimizer", "rate_factor"]


class Optimizer:
    """Applies gradients to the weights of a policy."""

    def __init__(self, policy: Policy, config: TrainConfig) -> None:
        self._policy, self._config = policy, config
        settings = config.optimizer
        self._adam = torch.optim.AdamW(
            policy.groups(config), lr=settings.learning_rate, betas=settings.betas, weight_decay=settings.weight_decay
        )

    def set_rate(self, step: int) -> float:
        """Set the learning rates of the update after `step` others; returns the highest."""
        factor = rate_factor(step, self._config)
        for group in self._adam.param_groups:
            group["lr"] = group["peak"] * factor
        return float(max(group["lr"] for group in self._adam.param_groups))

    def clear(self) -> None:
        """Forget all gradients."""
        self._adam.zero_grad(set_to_none=True)

    def apply(self) -> float:
        """Clip the gradient and move the weights, unless it is not finite; returns its norm before clipping."""
        parameters = [parameter for parameter in self._policy.trained.values() if parameter.grad is not None]
        norm = nn.utils.clip_grad_norm_(parameters, self._config.optimizer.max_grad_norm)
        value = float(norm.full_tensor() if isinstance(norm, DTensor) else norm)
        if math.isfinite(value):
            self._adam.step()
        return value

    def state(self) -> dict[str, Tensor]:
        """Moments and counts as `parameter|name`, whole and on the CPU; all processes take part."""
        return {
            f"{name}|{key}": full_tensor(value)
            for name, parameter in self._policy.trained.items()
            for key, value in self._adam.state.get(parameter, {}).items()
        }

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Read what `state` gave, as far as it is of weights that are trained now; all processes take part."""
        self._adam.state.clear()
        for place, value in state.items():
            name, _, key = place.rpartition("|")
            parameter = self._policy.trained.get(name)
            if parameter is None:
                continue
            if key == "step":
                self._adam.state[parameter][key] = value
                continue
            self._adam.state[parameter][key] = torch.zeros_like(parameter)
            self._policy.assign(self._adam.state[parameter][key], value, place)


def rate_factor(step: int, config: TrainConfig) -> float:
    """What the peak learning rate is multiplied by in the update after `step` others."""
    warmup = config.optimizer.warmup_steps
    if step < warmup:
        return (step + 1) / (warmup + 1)
    progress = min(1.0, (step - warmup) / max(1, config.steps - warmup))
    if config.optimizer.schedule == "linear":
        return 1 - progress
    if config.optimizer.schedule == "cosine":
        return (1 + math.cos(math.pi * progress)) / 2
    return 1.0
