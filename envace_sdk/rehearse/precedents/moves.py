"""What calls do to the things that a text shows: which stay, which go where, and which are new."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from .events import Event
from .features import Features
from .sheet import Place
from .tree import Tree, grow

__all__ = ["Items", "Moves"]

_MOST_NAMED: Final = 40
_SHORT: Final = 40
_NOWHERE: Final = "nowhere"
_GONE: Final = "gone"
_STAYS: Final = "stays"
_IT, _ANOTHER, _NONE = "it", "another", "none"
_KIN: Final = 2
"""Characters at the beginning that what takes a thing's place has in common with it."""

Items: TypeAlias = Mapping[str, Place]
"""What is shown, and where, in the order in which it is."""


@dataclass(slots=True)
class Moves:
    """What one tool was seen to do: by where a thing stands and whether the call names it, and by all else."""

    seen: dict[tuple[str, str], tuple[list[Features], list[str]]] = field(default_factory=dict)
    heirs: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    """By thing, and where it was moved, what was shown there in its stead: of a folder, what is in it."""
    _trees: dict[tuple[str, str], Tree] = field(default_factory=dict, compare=False)

    def note(self, before: Items, event: Event, after: Items) -> None:
        """Take note of what a call has done."""
        situations = list(_situations(before, event))
        known = {name for name, _ in situations}
        for name, row in situations:
            place = after.get(name)
            if place == before.get(name):
                label = _STAYS
            elif place is not None:
                label = json.dumps(place)
            else:
                kin = {new: at for new, at in after.items() if new not in known and _are_kin(name, new)}
                label = json.dumps(min(kin.values())) if kin else _GONE
                if kin:
                    self.heirs[name, label] = tuple(kin)
            rows, labels = self.seen.setdefault((row["at"], row["by"]), ([], []))
            rows.append(row)
            labels.append(label)

    def after(self, items: Items, event: Event) -> Items:
        """What is shown after a call that succeeded."""
        found: dict[str, Place] = {}
        for name, row in _situations(items, event):
            label = self._label(row)
            if label == _STAYS:
                if name in items:
                    found.setdefault(name, items[name])
            elif label != _GONE:
                place = Place(*json.loads(label))
                for new in self.heirs.get((name, label), (name,)):
                    found.setdefault(new, place)
        return found

    def _label(self, row: Features) -> str:
        """What becomes of a thing. What was never named in this way goes where the same place always went."""
        at, by = row["at"], row["by"]
        if (at, by) in self.seen:
            shares = self._tree(at, by).shares(row)
            return min(shares, key=lambda one: (-shares[one], one))
        labels = {label for (place, _), (_, found) in self.seen.items() if place == at for label in found}
        return labels.pop() if by != _ANOTHER and len(labels) == 1 else _STAYS

    def _tree(self, at: str, by: str) -> Tree:
        if (at, by) not in self._trees:
            self._trees[at, by] = grow(*self.seen[at, by])
        return self._trees[at, by]


def _situations(items: Items, event: Event) -> Iterator[tuple[str, Features]]:
    """Each thing that a call may move, with what may decide whether it does."""
    call: Features = {}
    given: dict[str, list[str]] = {}
    for where, text, _ in event.given:
        given.setdefault(where, []).append(text)
    for where, texts in given.items():
        if len(texts) == 1:
            call[f"is:{where}"] = texts[0][:_SHORT]
    others = _NONE if event.given_texts.isdisjoint(items) else _ANOTHER
    for name, place in items.items():
        by = _IT if name in event.given_texts else others
        yield name, {**call, "at": json.dumps(place), "by": by, "it": name}
    for where, texts in given.items():
        for text in texts[:_MOST_NAMED]:
            if text and text not in items:
                yield text, {**call, "at": f"{_NOWHERE} {where}", "by": _IT, "it": text}


def _are_kin(name: str, new: str) -> bool:
    """Whether one of them begins with the other, as a folder and what is in it do."""
    return min(len(name), len(new)) >= _KIN and (name.startswith(new) or new.startswith(name))
