"""The world as it was before anybody changed it, put together from what the episodes show of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from envace_sdk.json import Json

from .structure import SESSION

__all__ = ["Beginning", "Beginnings"]

_AGREED = 0.9
"""Of what several episodes show, so much must be the same if they are to have one start."""
_SOME = 4
_ANEW = 0.35
"""Where fewer sightings are of what other episodes show as well, every episode has a start of its own."""

Documents = dict[str, dict[str, dict[str, Json]]]


@dataclass(slots=True)
class Beginning:
    """What one episode shows of its start: by kind and key the fields, and the keys that were not there."""

    shown: Mapping[str, Mapping[str, Mapping[str, Json]]]
    absent: Mapping[str, Iterable[str]] = field(default_factory=dict)


class Beginnings:
    """What all episodes show of their starts."""

    def __init__(self, beginnings: Iterable[Beginning]) -> None:
        self._values: dict[tuple[str, str, str], Counter[str]] = {}
        self._shown: Counter[tuple[str, str]] = Counter()
        self._absent: Counter[tuple[str, str]] = Counter()
        self._episodes: Counter[str] = Counter()
        for beginning in beginnings:
            self._episodes.update(kind for kind, documents in beginning.shown.items() if documents)
            for kind, documents in beginning.shown.items():
                for key, document in documents.items():
                    self._shown[kind, key] += 1
                    for name, value in document.items():
                        text = json.dumps(value, sort_keys=True, ensure_ascii=False)
                        self._values.setdefault((kind, key, name), Counter())[text] += 1
            for kind, keys in beginning.absent.items():
                self._absent.update((kind, key) for key in keys)

    def exist(self, kind: str) -> bool:
        """Whether things of a kind, of which nothing is known, are more likely there than not.

        What only one episode has shown was not known in any other.
        """
        there = sum(
            count == 1 for (of, key), count in self._shown.items() if of == kind and not self._absent[kind, key]
        )
        gone = sum(1 for (of, key) in self._absent if of == kind and self._absent[of, key] and not self._shown[of, key])
        return there > gone or not self.is_shared(kind)

    def is_shared(self, kind: str) -> bool:
        """Whether the episodes begin with the same things of a kind: else hardly one shows what another does."""
        counts = [count for (of, _), count in self._shown.items() if of == kind]
        return self._episodes[kind] < _SOME or sum(counts) - len(counts) >= _ANEW * sum(counts)

    def is_fixed(self, kind: str) -> bool:
        """Whether the episodes agree on what things of a kind are in the beginning: then they have one start."""
        told = [counts for (of, _, _), counts in self._values.items() if of == kind and sum(counts.values()) > 1]
        total = sum(sum(counts.values()) for counts in told)
        return sum(max(counts.values()) for counts in told) >= _AGREED * total

    def documents(self) -> Documents:
        """By kind and key, what was there in the beginning in most episodes, with the fields on which most agree."""
        found: Documents = {}
        looked: Counter[tuple[str, str]] = Counter()
        for (kind, key, _), counts in self._values.items():
            looked[kind, key] = max(looked[kind, key], sum(counts.values()))
        kinds = {of for of, _ in self._shown}
        fixed = {kind for kind in kinds if self.is_fixed(kind)}
        shared = {kind for kind in kinds if kind == SESSION or self.is_shared(kind)}
        for (kind, key), count in sorted(self._shown.items()):
            if self._absent[kind, key] < count and (kind in shared or 2 * count >= self._episodes[kind]):
                found.setdefault(kind, {})[key] = {}
        for (kind, key, name), counts in self._values.items():
            text, count = min(counts.items(), key=lambda item: (-item[1], item[0]))
            told = sum(counts.values())
            usual = kind in fixed or kind == SESSION or 2 * told > looked[kind, key]
            if key in found.get(kind, {}) and usual and (kind == SESSION or 2 * count > told):
                found[kind][key][name] = json.loads(text)
        return found
