"""A field to be filled: its name, and the scene of the object it belongs to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import TypeAlias

from .names import singular, words
from .scene import Scene
from .timeline import stage

__all__ = ["Field", "Maker", "one_of"]


@dataclass(slots=True)
class Field:
    """What is known of a field before it has a value."""

    name: str
    scene: Scene

    @property
    def random(self) -> Random:
        """The source of chance."""
        return self.scene.random

    @property
    def words(self) -> tuple[str, ...]:
        """The words of its name."""
        return words(self.name)

    @property
    def noun(self) -> str:
        """What it belongs to: `order_id` to an order, `id` in `orders` to an order too."""
        parts = self.words[:-1] or words(self.scene.name)
        return singular(parts[-1]) if parts else ""

    @property
    def instant(self) -> datetime:
        """When what it names took place."""
        return self.scene.timeline.instant(stage(self.words))


Maker: TypeAlias = Callable[[Field], str]


def one_of(*options: str) -> Maker:
    """Any of some texts."""
    return lambda field: field.random.choice(options)
