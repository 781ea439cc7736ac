"""Where in the instance a value is made."""

from __future__ import annotations

from dataclasses import dataclass

from ..pointer import escape
from ..values.names import singular
from ..values.scene import Scene

__all__ = ["Spot"]


@dataclass(slots=True)
class Spot:
    """A place in the instance, what it is called, and what surrounds it."""

    name: str
    scene: Scene
    pointer: str = ""
    depth: int = 0
    loops: int = 0
    """How many schemas that lead back to themselves lie on the way here."""

    def property(self, name: str, scene: Scene) -> Spot:
        """A property of the object here, whose scene it is."""
        return Spot(name, scene, f"{self.pointer}/{escape(name)}", self.depth + 1, self.loops)

    def item(self, index: int) -> Spot:
        """An item of the array here: one of many, so nothing of what it is about is shared."""
        name = singular(self.name)
        return Spot(name, self.scene.other(name), f"{self.pointer}/{index}", self.depth + 1, self.loops)

    def looped(self) -> Spot:
        """The same place, one loop further."""
        return Spot(self.name, self.scene, self.pointer, self.depth, self.loops + 1)
