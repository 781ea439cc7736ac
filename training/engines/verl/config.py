"""A run's settings in verl's own tree, as a Hydra configuration that people can read and change."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from envace_sdk.errors import TrainingError

from ...config import merged
from ...run.settings import RunConfig

__all__ = ["NAME", "verl_config"]

NAME: Final = "envace"
"""What the agent loop, the trainer and the section of our own settings are called within verl."""

_PROMPT_TOKENS: Final = 8192
"""Where `tasks.prompt_tokens` sets no limit."""
_NO_DUAL_CLIP: Final = 1e6
"""verl bounds what a token of negative advantage may lose (dual clip); our loss has no such bound."""


def verl_config(config: RunConfig, place: str, directory: Path, tasks: int) -> dict[str, Any]:
    """The configuration: what is derived from the run's settings, and over it the run's section `verl`.

    Args:
        config: of the run.
        place: folder or hub id of the model.
        directory: of the run, absolute.
        tasks: how many there are to train on.

    Raises:
        TrainingError: a setting means nothing to verl, or something else; the message names each.
    """
    _check(config, tasks)
    folder = directory / "verl"
    derived: dict[str, Any] = {
        "defaults": ["ppo_trainer", "_self_"],
        "hydra": {"searchpath": ["pkg://verl.trainer.config"], "run": {"dir": str(folder / "hydra")}},
        NAME: {"run": str(directory), "advantages": config.advantages.model_dump(mode="json")},
        "data": _data(config, folder),
        "actor_rollout_ref": {
            "model": _model(config, place),
            "actor": _actor(config),
            "rollout": _rollout(config),
        },
        "algorithm": _algorithm(config),
        "trainer": _trainer(config, directory, folder, tasks),
    }
    return merged(derived, config.verl)


def _check(config: RunConfig, tasks: int) -> None:
    parts, optimizer = config.parameters, config.optimizer
    problems = [
        ("gate: verl's engine measures no fidelity; leave it out", config.gate is not None),
        ("parameters.separate: verl has one set of weights for both roles", parts.separate),
        ("optimizer.role_weights: verl weighs all rows alike", bool(optimizer.role_weights)),
        ("optimizer.schedule: verl has `constant` and `cosine`", optimizer.schedule == "linear"),
        ("loss.aggregation: verl's mean over rows counts its padding; take `token`", config.loss.aggregation == "row"),
        (
            "rollout: verl samples both roles at one temperature, which is `loss.temperature`, and one top_p",
            {config.rollout.act.temperature, config.rollout.rehearse.temperature} != {config.loss.temperature}
            or config.rollout.act.top_p != config.rollout.rehearse.top_p,
        ),
        ("rollout.schedule: a real server is not reached from verl's workers", config.rollout.schedule.needs_real),
        (
            f"tasks: a step takes {config.tasks.per_step}, and there are {tasks} to train on; lower tasks.per_step",
            tasks < config.tasks.per_step,
        ),
    ]
    found = [text for text, is_wrong in problems if is_wrong]
    if found:
        raise TrainingError("--engine verl cannot do what is set:\n" + "\n".join(f"  {text}" for text in found))


def _data(config: RunConfig, folder: Path) -> dict[str, Any]:
    return {
        "train_files": str(folder / "train.jsonl"),
        "val_files": str(folder / "validation.jsonl"),
        "train_batch_size": config.tasks.per_step,
        "max_prompt_length": config.tasks.prompt_tokens or _PROMPT_TOKENS,
        "max_response_length": _response_tokens(config),
        "seed": config.seed,
        "dataloader_num_workers": 0,
    }


def _response_tokens(config: RunConfig) -> int:
    """The longest response that a sequence may have."""
    rollout = config.rollout
    act, rehearse = rollout.act.max_tokens, rollout.rehearse.max_tokens
    return max(act, rehearse) if config.rendering == "split" else rollout.max_turns * (act + rehearse)


def _model(config: RunConfig, place: str) -> dict[str, Any]:
    parameters = config.parameters
    found: dict[str, Any] = {
        "path": place,
        "enable_gradient_checkpointing": config.compute.gradient_checkpointing,
    }
    if parameters.method == "lora":
        targets = parameters.targets if isinstance(parameters.targets, str) else list(parameters.targets)
        found |= {"lora_rank": parameters.rank, "lora_alpha": parameters.alpha, "target_modules": targets}
    return found


def _actor(config: RunConfig) -> dict[str, Any]:
    loss, optimizer = config.loss, config.optimizer
    longest = (config.tasks.prompt_tokens or _PROMPT_TOKENS) + _response_tokens(config)
    return {
        "strategy": "fsdp2",
        "ppo_mini_batch_size": config.tasks.per_step,
        "ppo_epochs": optimizer.epochs,
        "use_dynamic_bsz": True,
        "ppo_max_token_len_per_gpu": max(config.compute.tokens_per_micro_batch, longest),
        "clip_ratio_low": loss.clip_low,
        "clip_ratio_high": loss.clip_high,
        "clip_ratio_c": _NO_DUAL_CLIP,
        "loss_agg_mode": "token-mean",
        "use_kl_loss": loss.kl > 0,
        "kl_loss_coef": loss.kl,
        "kl_loss_type": "low_var_kl",
        "optim": {
            "lr": optimizer.learning_rate,
            "lr_scheduler_type": optimizer.schedule,
            "lr_warmup_steps": optimizer.warmup_steps,
            "weight_decay": optimizer.weight_decay,
            "betas": list(optimizer.betas),
            "clip_grad": optimizer.max_grad_norm,
        },
    }


def _rollout(config: RunConfig) -> dict[str, Any]:
    return {
        "name": "vllm",
        "n": config.rollout.group,
        "temperature": config.loss.temperature,
        "top_p": config.rollout.act.top_p,
        "calculate_log_probs": True,
        "tensor_model_parallel_size": 1,
        "load_format": "safetensors" if config.parameters.method == "lora" else "dummy",
        "agent": {"default_agent_loop": NAME},
        "val_kwargs": {
            "n": config.evaluation.samples,
            "temperature": config.evaluation.temperature,
            "do_sample": config.evaluation.temperature > 0,
        },
    }


def _algorithm(config: RunConfig) -> dict[str, Any]:
    cap = config.loss.importance_cap
    correction: Mapping[str, Any] = (
        {"rollout_is": None} if cap is None else {"rollout_is": "token", "rollout_is_threshold": cap}
    )
    # verl's own advantage is computed and then replaced; of its estimators, this one needs no critic.
    return {"adv_estimator": "grpo", "norm_adv_by_std_in_grpo": False, "rollout_correction": dict(correction)}


def _trainer(config: RunConfig, directory: Path, folder: Path, tasks: int) -> dict[str, Any]:
    steps_per_epoch = tasks // config.tasks.per_step
    return {
        "v1": {"trainer_mode": NAME},
        "total_training_steps": config.steps,
        "total_epochs": -(-config.steps // steps_per_epoch),
        "project_name": NAME,
        "experiment_name": directory.name,
        "default_local_dir": str(folder / "checkpoints"),
        # The store is written by our own loop only; verl has its own loggers.
        "logger": ["console", *(name for name in config.trackers if name != "store")],
        "save_freq": config.checkpoints.every,
        "max_actor_ckpt_to_keep": config.checkpoints.keep,
        "test_freq": config.evaluation.every or -1,
        "val_before_train": config.evaluation.every > 0,
        "n_gpus_per_node": 8,
        "nnodes": 1,
    }
