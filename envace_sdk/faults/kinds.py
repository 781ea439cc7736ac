"""The kinds of faults, as a plan names them, and what each can be told.

Texts are templates (`{…}` holds a CEL expression) over `args`, `world`, `now`, `tool` (its name), `nth` (which
matching call this is) and, for a rate limit, `retry_after`.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from envace_sdk.json import Json
from envace_sdk.world.dynamics import Status

__all__ = [
    "Disconnect",
    "Error",
    "Fault",
    "Latency",
    "Malformed",
    "NotFound",
    "Permission",
    "RateLimit",
    "Timeout",
]

MAX_DELAY = 3600.0


def _listed(value: Json) -> Json:
    return [value] if isinstance(value, str) else value


def _source(value: Json) -> Json:
    """YAML reads `when: true` as a value; as CEL source it means the same."""
    return str(value).lower() if isinstance(value, bool) else value


Seconds = Annotated[float, Field(ge=0, le=MAX_DELAY, allow_inf_nan=False)]


class _Fault(BaseModel):
    """Which calls a fault is for, and which of them it strikes.

    Without `every` and `probability` it strikes each call that matches. A call is struck once, by the first fault of
    the plan that is due; the others count it all the same.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    tools: Annotated[tuple[str, ...], BeforeValidator(_listed)] = Field(default=("*",), min_length=1)
    """Names of tools, or patterns with `*`, `?` and `[…]`."""
    calls: Literal["any", "reads", "writes"] = "any"
    """Only calls of tools that leave the world as it is, or only of those that may change it."""
    when: Annotated[str, BeforeValidator(_source)] | None = None
    """CEL condition over `args`, `world`, `now` and `tool`."""
    skip: int = Field(default=0, ge=0)
    """So many matching calls pass first."""
    every: int | None = Field(default=None, ge=1)
    """Strike every nth matching call."""
    probability: float | None = Field(default=None, ge=0, le=1)
    """Strike a matching call with this probability, seeded."""
    in_a_row: int = Field(default=1, ge=1)
    """Once due, strike so many matching calls one after the other."""
    limit: int | None = Field(default=None, ge=1)
    """Strike no more than so many calls."""
    delay: Seconds | tuple[Seconds, Seconds] = 0.0
    """Seconds until the answer; or the least and the most, between which each delay is drawn, seeded."""

    @model_validator(mode="after")
    def _one_trigger(self) -> Self:
        if self.every is not None and self.probability is not None:
            raise ValueError("give `every` or `probability`, not both")
        if isinstance(self.delay, tuple) and self.delay[0] > self.delay[1]:
            raise ValueError("the least `delay` comes first")
        return self


class RateLimit(_Fault):
    """Refused: too many calls."""

    kind: Literal["rate_limit"] = "rate_limit"
    retry_after: int | float = Field(default=30, ge=0)
    """Seconds after which the caller is told to come back."""
    text: str = "Rate limit exceeded. Try again in {retry_after} seconds."


class Permission(_Fault):
    """Refused: the caller may not."""

    kind: Literal["permission"] = "permission"
    text: str = "Permission denied: {tool} is not allowed."


class NotFound(_Fault):
    """What the call is about is not there."""

    kind: Literal["not_found"] = "not_found"
    text: str = "Not found."


class Error(_Fault):
    """Any other error result."""

    kind: Literal["error"] = "error"
    text: str = "Internal error."
    outcome: Status = "unknown"


class Timeout(_Fault):
    """No answer, until the caller gives up or `bound` has passed."""

    kind: Literal["timeout"] = "timeout"
    bound: Seconds | None = None
    """Seconds after which the request fails with an error of the protocol; left out: never."""
    applied: bool = False
    """Whether the call happened all the same, and only its answer is lost."""
    text: str = "Request timed out"


class Latency(_Fault):
    """The true answer, late. The call has happened before the delay begins."""

    kind: Literal["latency"] = "latency"
    delay: Seconds | tuple[Seconds, Seconds]


class Malformed(_Fault):
    """A result that is broken. The call has happened."""

    kind: Literal["malformed"] = "malformed"
    breaks: Literal["protocol", "schema", "json"] | None = None
    """What it breaks: the protocol's own form of results, the tool's output schema, or the JSON in its text, which is
    cut off in the middle. Left out: the output schema where there is one to break, else the protocol."""


class Disconnect(_Fault):
    """The connection closes instead of an answer."""

    kind: Literal["disconnect"] = "disconnect"
    applied: bool = False
    """Whether the call happened all the same."""
    text: str = "Connection closed"


Fault: TypeAlias = Annotated[
    RateLimit | Permission | NotFound | Error | Timeout | Latency | Malformed | Disconnect,
    Field(discriminator="kind"),
]
