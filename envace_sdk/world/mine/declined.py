"""Answers that say what is wrong with a call, and are no errors: servers that catch what goes wrong answer so."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from envace_sdk.json import Json

from .episodes import Episode, Step

__all__ = ["note_declined"]

_NAMES: Final = frozenset({"error", "errors", "error_message", "exception"})
_SAID: Final = re.compile(r"\s*(?:error|failed|failure|exception|traceback)\b", re.IGNORECASE)
_LEAST: Final = 2
_HALF: Final = 0.5


def note_declined(episodes: Sequence[Episode]) -> None:
    """Take such answers for what they say, where a tool that gives them gives others as well."""
    by_tool: dict[str, list[Step]] = {}
    for episode in episodes:
        for step in episode.steps:
            if step.ok:
                by_tool.setdefault(step.tool, []).append(step)
    for steps in by_tool.values():
        declined = [step for step in steps if _says_so(step.value)]
        if _LEAST <= len(declined) <= _HALF * len(steps):
            for step in declined:
                step.ok, step.is_declined = False, True


def _says_so(value: Json) -> bool:
    if isinstance(value, list):
        return len(value) == 1 and isinstance(value[0], dict) and _says_so(value[0])
    if isinstance(value, dict):
        return len(value) <= _LEAST and any(
            name.lower() in _NAMES and isinstance(part, str) and bool(part) for name, part in value.items()
        )
    return isinstance(value, str) and _SAID.match(value) is not None
