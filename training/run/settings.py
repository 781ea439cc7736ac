"""The configuration of a whole run: the trainer's sections, and those of tasks, rollouts, warm-up and evaluation.

model: transformers:./Qwen3-0.6B
preset: gpu-24gb
steps: 200
tasks: {make: {count: 500, tools_per_task: 8}}
gate: 0.8
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any, Self

from pydantic import Field, model_validator

from envace_sdk.files import absolute
from envace_sdk.roles import tool_format

from ..config import Section, TrainConfig, merged, presets, read_mapping, validate
from ..rollout_config import NAME_IT, RewardConfig, RolloutConfig
from ..rows import ROLES
from ..tasks import MakeOptions

__all__ = ["EvaluationConfig", "RunConfig", "TaskConfig", "WarmupConfig", "load_run_config", "run_config"]


class TaskConfig(Section):
    """What is trained on."""

    folder: str | None = None
    """Task sets that `envace-sdk tasks make` wrote: those of the toolsets that are named are used instead of new ones,
    in the splits that they have; `make` and `shares` then count for nothing."""
    make: MakeOptions = MakeOptions()
    """What tasks to make of each toolset."""
    shares: tuple[float, float, float] = (0.7, 0.15, 0.15)
    """Of training, validation and test; no template is in two of them."""
    hold_back: tuple[str, ...] = ()
    """Toolsets all of whose tasks are for the test."""
    prompt_tokens: int | None = Field(None, ge=1)
    """Tasks whose solution has a longer prompt, in either role, are left out; null: none are."""
    per_step: int = Field(4, ge=1)
    """Tasks in one update, each with `rollout.group` trajectories."""


class WarmupConfig(Section):
    """Supervised updates of both roles before the first rollout."""

    steps: int = Field(40, ge=0)
    """Updates; 0 for a model that knows its roles already."""
    rows: int = Field(8, ge=1)
    """Turns in one update, of both roles."""
    learning_rate: float = Field(5e-5, gt=0)
    """Of these updates."""
    recordings: bool = True
    """Learn from the toolsets' recorded calls too, not only from the witnesses of tasks."""
    more: int = Field(1, ge=0)
    """How often the warm-up is repeated while the rehearsing role is below the gate."""


class EvaluationConfig(Section):
    """Measurements on validation tasks, whose templates are never trained on."""

    every: int = Field(10, ge=0)
    """Steps between measurements, beside those at the start and the end; 0: only these."""
    tasks: int = Field(16, ge=1)
    """Tasks that are tried, on the environment's ladder."""
    samples: int = Field(1, ge=1)
    """Attempts at each."""
    temperature: float = Field(0.0, ge=0)
    """Of sampling; 0 takes the likeliest token, so that a measurement can be repeated."""
    episodes: int = Field(16, ge=1)
    """Tasks whose solutions' calls are put to the rehearsing role."""


class RunConfig(TrainConfig):
    """All settings of `envace-sdk train`."""

    model: str = "smollm2-135m"
    """What is trained: a name of `envace-sdk models list`, a folder or a hub id of transformers."""
    tasks: TaskConfig = TaskConfig()
    rollout: RolloutConfig = RolloutConfig()
    rewards: RewardConfig = RewardConfig()
    warmup: WarmupConfig = WarmupConfig()
    evaluation: EvaluationConfig = EvaluationConfig()
    gate: float | None = Field(None, ge=0, le=1)
    """Fidelity that the rehearsing role must have before its responses are trained on; until then the environment's
    ladder answers. null: it need not."""
    batch_size: int = Field(32, ge=1)
    """Requests that are decoded at once; lower it when memory runs out in rollouts."""
    samples: int = Field(2, ge=0)
    """Trajectories per step that are kept for people to read."""
    verl: dict[str, Any] = Field(default_factory=dict)
    """With `--engine verl`: settings in verl's own tree, over those that are derived from the others; such as
    `trainer: {nnodes: 4}` or `actor_rollout_ref: {rollout: {name: sglang}}`."""

    def from_anywhere(self) -> Self:
        """The same, with places of files that hold from any directory: a run is gone on with from where one likes."""
        rollout, rewards = self.rollout, self.rewards
        changed: dict[str, Any] = {"real": {name: absolute(place) for name, place in rollout.real.items()}}
        if rollout.server is not None:
            python, folder = rollout.server.python, rollout.server.folder
            places = {"python": python and absolute(python), "folder": folder and str(Path(folder).absolute())}
            changed["server"] = rollout.server.model_copy(update=places)
        if rewards.judge is not None:
            judge = rewards.judge.model_copy(update={"model": absolute(rewards.judge.model)})
            rewards = rewards.model_copy(update={"judge": judge})
        return self.model_copy(update={"rollout": rollout.model_copy(update=changed), "rewards": rewards})

    @model_validator(mode="after")
    def _samples_what_is_learned(self) -> Self:
        for role in ROLES:
            limits, wanted = self.rollout.limits(role), self.loss.temperature
            if role in self.parameters.frozen:
                continue
            if limits.temperature != wanted:
                raise ValueError(
                    f"rollout.{role}.temperature is {limits.temperature:g} and loss.temperature {wanted:g}: what is "
                    "learned must be what was sampled, so set both to the same"
                )
            if limits.top_p != 1:
                raise ValueError(f"rollout.{role}.top_p is {limits.top_p:g}; what is learned from must be sampled at 1")
        return self

    @model_validator(mode="after")
    def _groups_compare(self) -> Self:
        if self.rollout.group == 1:
            raise ValueError("rollout.group is 1: a trajectory is compared with others of its task, so take 2 or more")
        return self

    @model_validator(mode="after")
    def _stream_can_be_written(self) -> Self:
        if self.rendering == "stream" and tool_format(self.rollout.format).native:
            raise ValueError(
                f"rendering: stream needs calls as text, which rollout.format: {self.rollout.format} has not"
            )
        return self

    @model_validator(mode="after")
    def _servers_fit(self) -> Self:
        server = self.rollout.server
        if server is not None and server.transfer == "nccl" and self.parameters.method == "lora":
            raise ValueError("rollout.server.transfer: nccl is for `parameters.method: full`; adapters are files")
        if self.rollout.schedule.needs_real and not self.rollout.real:
            raise ValueError(f"rollout.schedule asks for a real server; {NAME_IT}")
        return self


def load_run_config(path: str | Path | None, changes: Mapping[str, Any], *, preset: str) -> RunConfig:
    """The configuration of a file on top of a preset, with some settings changed.

    Args:
        path: a YAML file; None for the preset alone.
        changes: settings that go before the file's, such as those of the command line.
        preset: where the file names none.

    Raises:
        TrainingError: the file cannot be read, or a setting is unknown or wrong; the message names both.
    """
    return run_config(_given(path, changes, preset), source="train" if path is None else str(path)).from_anywhere()


def preset_name(path: str | Path | None, changes: Mapping[str, Any], *, preset: str) -> str:
    """Of the preset that `load_run_config` begins with. Raises: TrainingError."""
    return str(_given(path, changes, preset)["preset"])


def _given(path: str | Path | None, changes: Mapping[str, Any], preset: str) -> dict[str, Any]:
    own = {} if path is None else read_mapping(Path(path))
    return merged({"preset": preset, **own}, changes)


def run_config(values: Mapping[str, Any], *, source: str = "config") -> RunConfig:
    """The configuration that a mapping describes, as `load_run_config` reads it. Raises: TrainingError."""
    named = values.get("preset")
    if isinstance(named, str) and named in presets():
        file = Path(str(resources.files(__package__).joinpath("presets", f"{named}.yaml")))
        values = merged(read_mapping(file), values)
    return validate(values, RunConfig, source=source)
