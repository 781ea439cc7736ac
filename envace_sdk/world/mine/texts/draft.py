"""Drafts of templates: the same parts, with everything that was seen in them, before they have names and kinds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from .embedded import Style

__all__ = ["Draft", "Hole", "Repeat", "extended", "literal_of", "merged"]


@dataclass(slots=True)
class Hole:
    """A part that differs: what was seen there, one entry per line or text."""

    values: list[str]
    known: bool = False
    """Whether all that was seen was known beforehand."""
    width: int = 0
    """How wide the column is that blanks fill up, after the value, or before it if negative; 0 for none."""
    json: bool = False
    """Whether all that was seen is JSON."""
    style: Style = None


@dataclass(slots=True)
class Repeat:
    """A part that is repeated, with a draft of its item."""

    item: Draft
    separator: str


Draft: TypeAlias = "list[str | Hole | Repeat]"


def merged(draft: Sequence[str | Hole | Repeat]) -> Draft:
    """The same, with literal texts that touch made one."""
    out: Draft = []
    for part in draft:
        last = out[-1] if out else None
        if isinstance(part, str) and isinstance(last, str):
            out[-1] = last + part
        elif part != "":
            out.append(part)
    return out


def extended(draft: Draft, values: Sequence[str]) -> Draft:
    """The draft with a part that differs after it; a hole that it ends with takes it in."""
    last = draft[-1] if draft else None
    if not any(values):
        return draft
    if isinstance(last, Hole) and len(last.values) == len(values):
        return [*draft[:-1], Hole([before + value for before, value in zip(last.values, values, strict=True)])]
    return [*draft, Hole(list(values))]


def literal_of(draft: Draft) -> str:
    """All that is always the same."""
    return "".join(part for part in draft if isinstance(part, str))
