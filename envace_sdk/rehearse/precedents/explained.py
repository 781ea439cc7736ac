"""Which parts of a tool's answers are no news: learned from its recorded answers, place by place."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from envace_sdk.json import UNSET, Json
from envace_sdk.world.keys import key_text

from .origins import Origin, equal, is_distinctive, origins, value_of
from .scene import Scene

__all__ = ["Explained", "bounded", "explain", "nodes", "part_text"]

_SURE = 0.8
_LIKELY = 0.5
_MOST_NODES = 400
_MOST_TRIED = 8
_MOST_HOPEFUL = 16
_DEPTH = 12
_MOST_TEXT = 20_000
_LONGEST_PART = 500
_ORDER = {"tool": 0, "argument": 0, "about": 1, "linked": 2, "last": 3}
_UNWORDED = frozenset({"size", "first", "number"})
"""Forms that are not looked for inside texts."""


@dataclass(frozen=True, slots=True)
class Explained:
    """By place in the answer, the origins of whole values and of parts of texts, the best first."""

    wholes: Mapping[str, Sequence[Origin]] = field(default_factory=dict)
    parts: Mapping[str, Sequence[Origin]] = field(default_factory=dict)
    defaults: Mapping[str, Json] = field(default_factory=dict)
    """By place, what most often stands there when its first origin is not there."""

    def has_whole(self, place: str, value: Json, scene: Scene) -> bool:
        """Whether a recorded value at this place came from its situation."""
        return any(
            (found := value_of(origin, scene)) is not UNSET and equal(found, value)
            for origin in self.wholes.get(place, ())
        )


def nodes(value: Json, place: str = "", depth: int = 0) -> Iterator[tuple[str, Json]]:
    """Every value in an answer with its place (list positions as `*`), containers before what they hold."""
    yield place, value
    if depth < _DEPTH:
        if isinstance(value, dict):
            for name, part in value.items():
                yield from nodes(part, f"{place}/{name}", depth + 1)
        elif isinstance(value, list):
            for part in value:
                yield from nodes(part, f"{place}/*", depth + 1)


def explain(cases: Sequence[tuple[Scene, Json]]) -> Explained:
    """Learn from recorded answers in their situations."""
    wholes: dict[str, Counter[Origin]] = defaultdict(Counter)
    parts: dict[str, Counter[Origin]] = defaultdict(Counter)
    for scene, value in cases:
        _suggest(scene, value, wholes, parts)
    proven = _proven(cases, wholes, equal)
    return Explained(proven, _proven(cases, parts, _contains), _defaults(cases, proven))


def part_text(value: Json) -> str | None:
    """How a value stands in a text; None where it could not be told from others there."""
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return key_text(value)
    return None


@lru_cache(maxsize=1024)
def bounded(text: str) -> re.Pattern[str]:
    """Finds a text where it is not part of a longer word or number."""
    before = r"(?<![0-9A-Za-z_])" if text[:1].isalnum() else ""
    after = r"(?![0-9A-Za-z_])" if text[-1:].isalnum() else ""
    return re.compile(before + re.escape(text) + after)


def _contains(found: Json, part: Json) -> bool:
    text = part_text(found)
    return (
        text is not None
        and isinstance(part, str)
        and text != part
        and text in part
        and bounded(text).search(part) is not None
    )


def _suggest(scene: Scene, value: Json, wholes: dict[str, Counter[Origin]], parts: dict[str, Counter[Origin]]) -> None:
    """Note every origin that agrees with a value of this answer."""
    single: dict[tuple[bool, Json], list[Origin]] = defaultdict(list)
    manifold: list[tuple[Origin, Json]] = []
    texts: dict[str, list[Origin]] = defaultdict(list)
    for origin, found in origins(scene):
        if isinstance(found, dict | list):
            manifold.append((origin, found))
        else:
            single[isinstance(found, bool), found].append(origin)
        if origin.how not in _UNWORDED and (text := part_text(found)) is not None and len(text) <= _LONGEST_PART:
            texts[text].append(origin)
    for place, part in _some(value):
        if isinstance(part, dict | list):
            wholes[place].update(origin for origin, found in manifold if found == part)
            continue
        wholes[place].update(single.get((isinstance(part, bool), part), ())[:_MOST_TRIED])
        if isinstance(part, str) and len(part) <= _MOST_TEXT:
            for text, found_at in texts.items():
                if text in part and _contains(text, part):
                    parts[place].update(found_at[:_MOST_TRIED])


def _proven(
    cases: Sequence[tuple[Scene, Json]],
    suggested: Mapping[str, Counter[Origin]],
    agrees: Callable[[Json, Json], bool],
) -> dict[str, Sequence[Origin]]:
    """Those that hold in most answers, by how often they do; values that many share must hold nearly always."""
    hopeful = {place: [o for o, _ in counts.most_common(_MOST_HOPEFUL)] for place, counts in suggested.items()}
    met: Counter[tuple[str, Origin]] = Counter()
    held: Counter[tuple[str, Origin]] = Counter()
    striking: Counter[tuple[str, Origin]] = Counter()
    distinct: dict[tuple[str, Origin], set[str]] = defaultdict(set)
    for scene, value in cases:
        values: dict[Origin, Json] = {}
        for place, part in _some(value):
            for origin in hopeful.get(place, ()):
                if origin not in values:
                    values[origin] = value_of(origin, scene)
                found = values[origin]
                if found is UNSET:
                    continue
                met[place, origin] += 1
                if agrees(found, part):
                    held[place, origin] += 1
                    distinct[place, origin].add(str(found))
                    striking[place, origin] += is_distinctive(found)
    proven: dict[str, Sequence[Origin]] = {}
    for place, candidates in hopeful.items():
        kept = []
        for rank, origin in enumerate(candidates):
            test = (place, origin)
            share = held[test] / met[test] if met[test] else 0.0
            varied = len(distinct[test]) >= 2
            if (varied and share >= _SURE) or (striking[test] and share >= (_LIKELY if varied else _SURE)):
                kept.append(((-share, _ORDER[origin.kind], -len(distinct[test]), rank), origin))
        if kept:
            proven[place] = tuple(origin for _, origin in sorted(kept, key=lambda pair: pair[0])[:_MOST_TRIED])
    return proven


def _defaults(cases: Sequence[tuple[Scene, Json]], proven: Mapping[str, Sequence[Origin]]) -> dict[str, Json]:
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    values: dict[tuple[str, str], Json] = {}
    for scene, value in cases:
        for place, part in _some(value):
            if place in proven and value_of(proven[place][0], scene) is UNSET:
                text = json.dumps(part, sort_keys=True)
                seen[place][text] += 1
                values[place, text] = part
    return {place: values[place, max(counts, key=lambda text: (counts[text], text))] for place, counts in seen.items()}


def _some(value: Json) -> Iterator[tuple[str, Json]]:
    for count, node in enumerate(nodes(value)):
        if count >= _MOST_NODES:
            break
        yield node
