"""What all tools of a toolset have in common: when calls fail, how, and when an answer is given again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from .cases import Case
from .events import Event
from .features import Features, is_under
from .harmless import harmless_deeds
from .origins import is_distinctive
from .scene import Scene
from .tree import Tree, grow

__all__ = ["Commons"]

_MOST = 1500
_MOST_REPEATED = 3000
_GENERAL = frozenset(
    {"ever", "known", "met", "did", "like", "head", "again", "own", "has", "sign", "size", "key", "usual"}
)
_NAMED, _SHOWN, _ITSELF = "*", "+", "="
"""Marks of what was done: to what the call names, to what its answer showed, or the call itself."""


class Commons:
    """Trees over the cases of all tools, for what a single tool has seen too little of.

    Args:
        cases: all of them.
        row: the situation of a case.
        name: what the form of its answer is called.
    """

    def __init__(self, cases: Sequence[Case], row: Callable[[Case], Features], name: Callable[[Case], str]) -> None:
        self._cases = cases
        self._row = row
        self._name = name

    def error(self, row: Features, tool: str) -> float:
        """How likely a call of the tool is an error in this situation."""
        return self._status.shares(_general(row, tool)).get("error", 0.0)

    def kinds(self, row: Features, tool: str) -> dict[str, float]:
        """If it is an error, how likely it is one of each form."""
        return {} if self._kinds is None else self._kinds.shares(_general(row, tool))

    def repeats(self, scene: Scene, again: Event) -> float:
        """How likely the call is answered as the same call before it in this world was."""
        row = self._between(scene, again)
        if row["count"] == "0" and "own" in row:
            return 1.0
        shares = [tree.shares(row).get("same", 0.0) for name in ("", scene.tool) if (tree := self._repeating.get(name))]
        return sum(shares) / len(shares) if shares else 0.5

    @cached_property
    def _sample(self) -> list[tuple[Case, Features]]:
        chosen = self._cases[:: max(1, -(-len(self._cases) // _MOST))]
        return [(case, _general(self._row(case), case.event.tool)) for case in chosen]

    @cached_property
    def _status(self) -> Tree:
        labels = ["error" if case.event.is_error else "success" for case, _ in self._sample]
        return grow([row for _, row in self._sample], labels)

    @cached_property
    def _kinds(self) -> Tree | None:
        errors = [(case, row) for case, row in self._sample if case.event.is_error]
        return grow([row for _, row in errors], [self._name(case) for case, _ in errors]) if errors else None

    @cached_property
    def _repeated(self) -> list[tuple[Case, Event, bool]]:
        """Calls that were made before in their episode: each with the one before, and whether the answer changed."""
        found = []
        for case in self._cases[:: max(1, -(-len(self._cases) // _MOST_REPEATED))]:
            again = case.scene.again
            if again is not None:
                changed = again.is_error != case.event.is_error or again.value != case.event.value
                found.append((case, again, changed))
        return found

    @cached_property
    def _harmless(self) -> frozenset[str]:
        pairs = ((_deeds(case.scene, again), changed) for case, again, changed in self._repeated)
        return harmless_deeds(((frozenset(deeds), changed) for deeds, changed in pairs), _doer)

    @cached_property
    def _repeating(self) -> dict[str, Tree]:
        """By tool, and under "" for all, how it depends on what was in between whether an answer is given again."""
        rows: dict[str, list[Features]] = {}
        labels: dict[str, list[str]] = {}
        for case, again, changed in self._repeated:
            row = self._between(case.scene, again)
            for name in ("", case.event.tool):
                rows.setdefault(name, []).append(row)
                labels.setdefault(name, []).append("other" if changed else "same")
        return {name: grow(rows[name], labels[name]) for name in rows}

    def _between(self, scene: Scene, again: Event) -> Features:
        """What may have changed something since the same call was made before."""
        deeds = [deed for deed in _deeds(scene, again)[1:] if not self._is_harmless(deed)]
        found: Features = {"before": "error" if again.is_error else "ok", "tool": scene.tool}
        if again.is_error or _ITSELF + scene.tool in self._harmless:
            found["own"] = "harmless"
        for deed in deeds:
            found[f"did:{deed}"] = "yes"
            if deed[0] in (_NAMED, _SHOWN):
                found["touched"] = "yes"
        found["count"] = str(min(len(deeds), 2))
        return found

    def _is_harmless(self, deed: str) -> bool:
        """What is harmless to the thing it is about is harmless to others."""
        return deed in self._harmless or _NAMED + deed in self._harmless


def _doer(deed: str) -> str:
    """Who did it: a tool, or for the same call made again, that call."""
    return deed.lstrip(_NAMED + _SHOWN)


def _deeds(scene: Scene, again: Event) -> list[str]:
    """The tools that succeeded since the same call was made before, itself the first; marked where they were given
    what this call is given, or what it was answered.
    """
    given = {text for _, text, value in scene.given if is_distinctive(value)}
    shown = {text for _, text, value in again.shown if is_distinctive(value)}
    paths = [text for text in (*given, *shown) if "/" in text]
    found = ["" if again.is_error else _ITSELF + scene.tool]
    for event in reversed(scene.past):
        if event is again:
            break
        if event.is_error:
            continue
        if not given.isdisjoint(event.given_texts):
            found.append(_NAMED + event.tool)
        elif not shown.isdisjoint(event.given_texts):
            found.append(_SHOWN + event.tool)
        elif any(is_under(other, text) for text in paths for other in event.given_texts):
            found.append(_NAMED + event.tool)
        else:
            found.append(event.tool)
    return found


def _general(row: Features, tool: str) -> Features:
    """What of the features can be compared between tools."""
    found = {name: value for name, value in row.items() if name.partition(":")[0] in _GENERAL}
    for name, value in row.items():
        if name.startswith("known:"):
            for level in value.split("+"):
                found[f"any:{level}"] = "yes"
    found["twin"] = row["twin"].partition(":")[0]
    found["tool"] = tool
    return found
