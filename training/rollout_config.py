"""Settings of rollouts, of where responses come from, and of rewards: sections of a training run's configuration."""

from __future__ import annotations

from typing import Final, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from envace_sdk.roles import Style

from .config import Section
from .rows import Role

__all__ = [
    "NAME_IT",
    "JudgeConfig",
    "RewardConfig",
    "RoleLimits",
    "RolloutConfig",
    "ScheduleConfig",
    "ServerConfig",
    "Source",
]

NAME_IT: Final = "name it in rollout.real, as in {retail: mcp.json#retail}"
"""What to do where a real server is wanted, and none is known."""

Source: TypeAlias = Literal["train", "grounded", "real"]
"""Who answers calls: the policy rehearses; the environment's ladder; a real MCP server."""


class RoleLimits(Section):
    """What one turn of a role may take."""

    max_tokens: int = Field(256, ge=1)
    """The longest completion."""
    temperature: float = Field(1.0, ge=0)
    """Of sampling: of a role that is trained, the one that `loss.temperature` names."""
    top_p: float = Field(1.0, gt=0, le=1)
    """1 for a role that is trained: below, the sampler's log-probabilities are not those of what it drew from."""


class ScheduleConfig(Section):
    """Where responses come from, step by step."""

    source: Source = "train"
    """After the warm-up, where nothing below says otherwise."""
    mix: dict[Source, float] = Field(default_factory=dict)
    """Shares of sources instead of the one: each group draws its own."""
    grounded_steps: int = Field(0, ge=0)
    """Steps at the start in which the ladder answers."""
    real_every: int | None = Field(None, ge=1)
    """Every so many steps a real server answers, which calibrates the policy's rehearsals; null: never."""

    @model_validator(mode="after")
    def _has_shares(self) -> Self:
        if any(share < 0 for share in self.mix.values()) or (self.mix and not sum(self.mix.values())):
            raise ValueError("mix holds shares: numbers from 0 up, not all zero")
        return self

    @property
    def needs_real(self) -> bool:
        """Whether a real server is ever asked."""
        return self.source == "real" or self.real_every is not None or self.mix.get("real", 0) > 0


class ServerConfig(Section):
    """A vLLM server that samples rollouts, with the weights under training."""

    url: str | None = None
    """Of a server that runs, such as `http://127.0.0.1:8000`; null: one is started for the run and stopped after it."""
    python: str | None = None
    """Of a server that is started: the interpreter whose environment has vLLM; null: this one."""
    arguments: tuple[str, ...] = ()
    """Of a server that is started: further arguments, such as `--tensor-parallel-size=2`."""
    environment: dict[str, str] = Field(default_factory=dict)
    """Of a server that is started: further variables, such as `CUDA_VISIBLE_DEVICES`."""
    start_seconds: float = Field(900.0, gt=0)
    """Of a server that is started: how long it may take until it answers."""
    transfer: Literal["files", "nccl"] = "files"
    """How all weights get there after an update: through files, or from GPU to GPU. Adapters always are files."""
    folder: str | None = None
    """Where these files are, under a path that is the same for the server; null: the system's temporary folder."""
    concurrency: int = Field(256, ge=1)
    """Requests under way at once, in each process."""
    timeout: float = Field(600.0, gt=0)
    """Seconds for a completion, and for the server to read weights."""


class RolloutConfig(Section):
    """How trajectories are made."""

    group: int = Field(4, ge=1)
    """Trajectories per task (G)."""
    max_turns: int = Field(8, ge=1)
    """Acts in one trajectory, final answers included."""
    max_calls: int = Field(1, ge=1, le=64)
    """Calls in one act; more are a malformed act."""
    malformed: Literal["end", "count"] = "end"
    """What an act or a rehearsal that cannot be read does: it ends the trajectory, or is an error turn that the policy
    is told of. A call of a tool that is not shown always is the latter."""
    max_errors: int = Field(3, ge=1)
    """Error turns after which a trajectory ends."""
    act: RoleLimits = RoleLimits()
    rehearse: RoleLimits = RoleLimits()
    format: str = "hermes"
    """How calls are written: `hermes`, `llama3`, `mistral`, `mistral-v11`, `json` or `openai`."""
    style: Style = "json"
    """How tools are shown: whole definitions, or one line each (`compact`) for small models."""
    instructions: str = ""
    """Further rules for the acting role."""
    examples: int = Field(0, ge=0)
    """Worked examples in the acting prompt: a small model needs one or two to write calls at all."""
    recorded: int = Field(2, ge=0)
    """Recorded calls that the rehearsing role is shown; nearest first."""
    entities: int = Field(8, ge=0)
    """Things in the world that the rehearsing role is shown when a call touches them. 0: it must make them up."""
    history: int = Field(8, ge=0)
    """Earlier calls that the rehearsing role is shown."""
    prompt_characters: int | None = Field(24_000, ge=1)
    """The longest rehearsing prompt; see `rehearse_prompt` for what goes first."""
    schedule: ScheduleConfig = ScheduleConfig()
    real: dict[str, str] = Field(default_factory=dict)
    """By toolset, the real MCP server that answers where the schedule says so: its URL, in which `{world}` stands for a
    name that no other trajectory has, or `mcp.json#NAME`, whose command is run anew for each trajectory."""
    server: ServerConfig | None = None
    """Who samples: a vLLM server; null: the trainer's own weights in this process."""

    def limits(self, role: Role) -> RoleLimits:
        """What one turn of a role may take."""
        return self.act if role == "act" else self.rehearse


class JudgeConfig(Section):
    """A language model that judges what no condition can."""

    model: str
    """Its address, as `load_model` takes it."""
    retries: int = Field(2, ge=0)
    """How often a judgement that cannot be read, or had, is asked for again."""
    concurrency: int = Field(16, ge=1)
    """Judgements asked for at once."""


class RewardConfig(Section):
    """What a trajectory earns. Every term is between 0 and 1 before its weight."""

    outcome: Literal["share", "solved"] = "share"
    """`share`: the weight of the goals reached, times the weight of the guards kept; `solved`: all or nothing."""
    unanswered: float = Field(0.5, ge=0, le=1)
    """The share of its outcome that a trajectory keeps which ended without an answer to the user, at a limit or with a
    turn that cannot be read: its task is not solved, whatever was done."""
    malformed: float = Field(0.0, ge=0)
    """Taken off for each turn that cannot be read, from the role that wrote it."""
    rehearse_schema: float = Field(0.0, ge=0)
    """Added to the rehearsing role's reward: the share of its responses that are well-formed and fit the tool's output
    schema."""
    rehearse_agreement: float = Field(0.0, ge=0)
    """And how far they agree with what the environment's ladder (recordings, rules and the world) answers there."""
    judge: JudgeConfig | None = None
    """Who judges a task's `judged` items; null: they are left out."""
