"""The trainer's configuration: every setting, what it does, and a default that is safe.

A file names a preset of a size of machine (`presets/*.yaml`, meant to be read) and changes what it likes:

    preset: cpu-small
    steps: 60
    optimizer: {learning_rate: 1.0e-5}

Unknown and misspelt settings are errors, and an error names the setting.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any, Final, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from envace_sdk.errors import TrainingError
from envace_sdk.problems import first_of
from envace_sdk.yaml import YAMLError, load_yaml

from .advantages import Baseline
from .rows import Role
from .segments import Rendering
from .trackers import TrackerName

__all__ = [
    "AdvantageConfig",
    "CheckpointConfig",
    "ComputeConfig",
    "LossConfig",
    "OptimizerConfig",
    "ParameterConfig",
    "Section",
    "TrainConfig",
    "load_config",
    "merged",
    "preset",
    "presets",
    "read_mapping",
    "validate",
]

_MOST_BYTES = 1_000_000


class Section(BaseModel):
    """Base of all sections: frozen, no unknown settings, docstrings under fields are their descriptions."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True, allow_inf_nan=False)


class AdvantageConfig(Section):
    """How rows are judged; the arguments of `rolewise`."""

    baseline: Baseline = "row"
    """What counts once in a role's baseline: `row` as in the reference, `token`, or `trajectory`."""
    pooled: bool = False
    """One baseline over both roles; for ablation."""
    scale: bool = False
    """Divide by the standard deviation of the group's rewards; the reference does not."""
    epsilon: float = Field(1e-6, ge=0)
    """Rewards of a group that differ by no more than this are all the same."""


class LossConfig(Section):
    """The clipped surrogate and what is added to it."""

    clip_low: float = Field(0.2, gt=0, lt=1)
    """The probability ratio counts no further below 1 than this. It acts from the second epoch on."""
    clip_high: float = Field(0.2, gt=0)
    """And no further above 1 than this."""
    aggregation: Literal["token", "row"] = "token"
    """`token`: the mean over all tokens of the batch. `row`: the mean over rows of each row's mean over its tokens,
    which is what the reference's released script computes."""
    kl: float = Field(0.0, ge=0)
    """Coefficient of the KL divergence from the weights that training started from; above 0 rows without advantage
    are computed too, and full training keeps a copy of the start weights."""
    importance_cap: float | None = Field(2.0, gt=0)
    """Where sampler and trainer disagree about a token, its loss is multiplied by the ratio of their probabilities,
    but by no more than this (truncated importance sampling). null: no correction, only the report."""
    mask_truncated: bool = True
    """Completions that the token limit cut off are not trained; their rewards stay in the baselines."""
    temperature: float = Field(1.0, gt=0)
    """The temperature that rollouts are sampled at; log-probabilities in the update are taken at it too."""


class OptimizerConfig(Section):
    """AdamW and its schedule."""

    learning_rate: float = Field(1e-6, gt=0)
    """Peak learning rate: 1e-6 for full training of 8B as in the reference; small models and LoRA want 1e-5 to 1e-4."""
    role_learning_rates: dict[Role, float] = Field(default_factory=dict)
    """Learning rates by role instead; needs separate parameters."""
    role_weights: dict[Role, float] = Field(default_factory=dict)
    """What the loss of a role is multiplied by (1 if not named): the counterpart for shared parameters."""
    schedule: Literal["constant", "linear", "cosine"] = "constant"
    """What happens after the warm-up: nothing, or a decay to zero at the last step."""
    warmup_steps: int = Field(0, ge=0)
    """Steps over which the learning rate rises linearly to its peak."""
    weight_decay: float = Field(0.0, ge=0)
    """Decoupled weight decay."""
    betas: tuple[float, float] = (0.9, 0.999)
    """Decay rates of Adam's two moments."""
    max_grad_norm: float = Field(1.0, gt=0)
    """The gradient is scaled down to this norm where it is longer."""
    epochs: int = Field(1, ge=1, le=16)
    """Updates per batch of rows; with more than 1 the clip holds the later ones near the first."""

    @model_validator(mode="after")
    def _are_positive(self) -> Self:
        for name in ("role_learning_rates", "role_weights"):
            for role, value in getattr(self, name).items():
                if not value > 0:
                    raise ValueError(f"{name}.{role} is {value}; it must be above 0 (`parameters.frozen` stops a role)")
        if not all(0 <= beta < 1 for beta in self.betas):
            raise ValueError(f"betas are {self.betas}; each must be from 0 up to, but not, 1")
        return self


class ParameterConfig(Section):
    """Which weights are trained."""

    method: Literal["full", "lora"] = "lora"
    """All weights, or low-rank adapters on every linear layer (LoRA, arXiv 2106.09685)."""
    separate: bool = False
    """An adapter for each role; needs `lora`. The reference does better with parameters that both share."""
    frozen: tuple[Role, ...] = ()
    """Roles that are rolled out but not trained."""
    rank: int = Field(16, ge=1, le=1024)
    """Rank of the adapters."""
    alpha: int = Field(32, ge=1)
    """The adapters' output is scaled by alpha / rank."""
    dropout: float = Field(0.0, ge=0, lt=1)
    """Dropout in front of the adapters; above 0 trainer and sampler disagree by design."""
    targets: str | tuple[str, ...] = "all-linear"
    """Names of the layers that get adapters, or `all-linear`."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.separate and self.method != "lora":
            raise ValueError("separate parameters need `method: lora`: an adapter for each role")
        if len(set(self.frozen)) == 2:
            raise ValueError("both roles are frozen, so there is nothing to train")
        return self


class ComputeConfig(Section):
    """What fits the machine; none of it changes what is learned, up to rounding."""

    device: Literal["auto", "cpu"] = "auto"
    """`auto` takes the accelerator if there is one."""
    precision: Literal["auto", "f32", "bf16"] = "auto"
    """`bf16` computes in bfloat16 and keeps trained weights and their optimizer state in float32. `auto` is bf16 on an
    accelerator that has it, else f32."""
    tokens_per_micro_batch: int = Field(4096, ge=1)
    """The most tokens, padding included, that go through the model at once; the first thing to lower when memory
    runs out. A sequence that is longer goes alone."""
    share_prefixes: bool = False
    """Compute once what sequences begin with alike, such as a group's prompt; needs full attention in all layers."""
    gradient_checkpointing: bool = False
    """Recompute activations layer by layer in the backward pass: about a third more time, much less memory."""
    sharding: Literal["none", "full"] = "none"
    """`full`: each of several processes holds but its share of weights, gradients and optimizer state (FSDP2)."""


class CheckpointConfig(Section):
    """When the run is saved."""

    every: int = Field(10, ge=1)
    """Steps between checkpoints; the last step always makes one."""
    keep: int = Field(2, ge=1)
    """How many of the newest stay on disk."""


class TrainConfig(Section):
    """All settings of the trainer. Commands that know of tasks and rollouts add sections of their own to it."""

    steps: int = Field(100, ge=1)
    """Updates in the whole run; the schedule ends here."""
    seed: int = Field(0, ge=0, lt=2**32)
    """Of everything random in the trainer."""
    rendering: Rendering = "split"
    """`split`: each turn is a sequence with a prompt of its own. `stream`: a trajectory is one sequence as far as its
    turns' contexts extend each other; far fewer tokens over many turns."""
    trackers: tuple[TrackerName, ...] = ("tensorboard", "store")
    """Where metrics go besides `metrics.jsonl`; trackio and wandb must be installed. `store` is the database at
    ENVACE_STORE_URL, or the user's own: `envace-sdk train runs` lists what is in it."""
    advantages: AdvantageConfig = AdvantageConfig()
    loss: LossConfig = LossConfig()
    optimizer: OptimizerConfig = OptimizerConfig()
    parameters: ParameterConfig = ParameterConfig()
    compute: ComputeConfig = ComputeConfig()
    checkpoints: CheckpointConfig = CheckpointConfig()

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.optimizer.role_learning_rates and not self.parameters.separate:
            raise ValueError(
                "optimizer.role_learning_rates need `parameters.separate: true`; with shared parameters use "
                "optimizer.role_weights"
            )
        if self.optimizer.warmup_steps >= self.steps:
            raise ValueError(f"optimizer.warmup_steps is {self.optimizer.warmup_steps} of {self.steps} steps; lower it")
        return self


ConfigT = TypeVar("ConfigT", bound=TrainConfig)


def load_config(path: str | Path, kind: type[ConfigT]) -> ConfigT:
    """The configuration in a YAML file, on top of the preset that it names, if any.

    Args:
        path: The file.
        kind: `TrainConfig`, or a class that extends it.

    Raises:
        TrainingError: the file cannot be read, or a setting is unknown or wrong; the message names both.
    """
    return validate(read_mapping(Path(path)), kind, source=str(path))


def validate(values: Mapping[str, Any], kind: type[ConfigT], *, source: str = "config") -> ConfigT:
    """The configuration that a mapping describes, as `load_config` reads it; `source` is named in errors.

    Raises: TrainingError, where a setting is unknown or wrong.
    """
    own = {name: value for name, value in values.items() if name != "preset"}
    if "preset" in values:
        own = merged(preset(values["preset"], source=source), own)
    try:
        return kind.model_validate(own)
    except ValidationError as error:
        raise TrainingError(first_of((f"{source}: {_line(one, kind)}" for one in error.errors()), "\n")) from None


def presets() -> dict[str, Path]:
    """The shipped presets, smallest machine first: name and file."""
    folder = Path(str(resources.files(__package__).joinpath("presets")))
    return {path.stem.split("-", 1)[1]: path for path in sorted(folder.glob("[0-9]*-*.yaml"))}


def preset(name: object, *, source: str = "config") -> dict[str, Any]:
    """The settings of a preset.

    Raises:
        TrainingError: there is none of that name.
    """
    known = presets()
    if not isinstance(name, str) or name not in known:
        raise TrainingError(f"{source}: preset: there is no {name!r}; there are {', '.join(known)}")
    return read_mapping(known[name])


def read_mapping(path: Path) -> dict[str, Any]:
    """The settings in a YAML file, as they are written. Raises: TrainingError."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise TrainingError(f"{path}: is over {_MOST_BYTES} bytes; this is no configuration")
        found = load_yaml(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise TrainingError(f"{path}: cannot be read: {error}") from error
    except YAMLError as error:
        raise TrainingError(f"{path}: is no YAML: {error}") from error
    if found is None:
        return {}
    if not isinstance(found, dict) or not all(isinstance(key, str) for key in found):
        raise TrainingError(f"{path}: must be a mapping of settings, like `steps: 60`")
    return found


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Settings on top of others, section by section."""
    found = dict(below)
    for name, value in above.items():
        old = found.get(name)
        found[name] = merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return found


_REASONS: Final = {
    "model_type": "expected settings by name, or leave it out",
    "dict_type": "expected values by name",
    "missing": "is missing",
}


def _line(problem: Mapping[str, Any], kind: type[BaseModel]) -> str:
    place = ".".join(map(str, problem["loc"]))
    if problem["type"] == "extra_forbidden":
        close = difflib.get_close_matches(str(problem["loc"][-1]), _settings(kind, problem["loc"][:-1]), n=1)
        return f"{place}: there is no such setting" + (f"; did you mean {close[0]}?" if close else "")
    reason = _REASONS.get(problem["type"]) or problem["msg"].removeprefix("Value error, ")
    shown = "" if isinstance(problem["input"], dict) else f" (it is {problem['input']!r:.60})"
    return f"{place}: {reason}{shown}" if place else reason


def _settings(kind: type[BaseModel], loc: tuple[Any, ...]) -> list[str]:
    """The names that are known at a place."""
    here: Any = kind
    for step in loc:
        item = getattr(here, "model_fields", {}).get(step)
        here = item.annotation if item else None
    return list(getattr(here, "model_fields", {}))
