"""What a tool is found to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .arguments import Argument
from .fields import Field
from .groups import Member
from .scene import Scene
from .verbs import Sense

__all__ = ["Case", "Decision", "Kind"]

Kind = Literal[
    "create",
    "copy",
    "upsert",
    "read",
    "search",
    "update",
    "state",
    "increase",
    "replace",
    "extend",
    "append",
    "take",
    "delete",
    "clear",
    "count",
    "exists",
    "stats",
    "settings",
    "configure",
    "create_many",
    "read_many",
    "update_many",
    "delete_many",
    "append_many",
    "take_many",
    "unchanging",
    "opaque",
]

"""The forms that rules have, finer than the effects of the dynamics format."""


@dataclass(frozen=True)
class Decision:
    """What a tool does, how sure that is, and why."""

    kind: Kind
    confidence: float
    reason: str
    lookup: tuple[Argument, Field] | None = None
    """The thing is named by another field of it than its key."""
    batch: Argument | None = None
    """The list that says which things, or holds them."""
    sense: Sense | None = None


@dataclass(frozen=True)
class Case:
    """A tool among its siblings, with what was decided of it: all that writing its rule takes."""

    member: Member
    decision: Decision
    scene: Scene

    @property
    def batch(self) -> Argument:
        """The list on which a tool for many works."""
        if self.decision.batch is None:
            raise AssertionError("only a tool for many has a batch")
        return self.decision.batch
