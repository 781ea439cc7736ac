"""What is known of what calls change, and of what their outcomes say about which things there are."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Effects", "Existence", "Name", "Place"]

Name = tuple[str, str]
"""A tool, and the name that it has for a thing."""
Place = tuple[str, str, str]
"""A tool, the name that it has for a thing, and a field of this."""


@dataclass(slots=True)
class Effects:
    """What is known of what calls change."""

    sets: dict[Place, str] = field(default_factory=dict)
    """The CEL expression of a field after the call."""
    spared: set[Place] = field(default_factory=set)
    """Fields that a tool leaves as they are."""
    harmless: set[Name] = field(default_factory=set)
    """Tools that change nothing of a thing."""
    judged: bool = False
    """Whether it was looked at who shows what as it is."""
    private: set[tuple[str, str]] = field(default_factory=set)
    """Kind and field: shown only by calls that change it."""
    makes: dict[Name, str] = field(default_factory=dict)
    """How a call makes the thing: "" where it is new each time, "upsert" where it may be there already."""
    removes: set[Name] = field(default_factory=set)
    likes: dict[Name, str] = field(default_factory=dict)
    """Things that become as another one is, by the name that the call has for that."""
    foreign: set[tuple[str, str, str]] = field(default_factory=set)
    """Viewer, kind and field: what is shown under that name is not what others show, or is made for the call."""

    def touches(self, tool: str, name: str, what: str) -> bool:
        """Whether a call may change a field in a way that is not known."""
        return (
            (tool, name) not in self.harmless
            and (tool, name, what) not in self.spared
            and (tool, name, what) not in self.sets
        )


@dataclass(slots=True)
class Existence:
    """What outcomes say of which things exist."""

    missing: dict[tuple[str, int], str] = field(default_factory=dict)
    """By tool and number of the failure, the name of the thing that is missing."""
    taken: dict[tuple[str, int], str] = field(default_factory=dict)
    """By tool and number of the failure, the name of the thing that is there already."""

    def needs(self, tool: str, name: str) -> bool:
        """Whether a tool is known to fail where the thing is missing."""
        return any(of == tool and who == name for (of, _), who in self.missing.items())
