"""Values that are new with each call: numbers that count on, and keys made by chance."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from envace_sdk.json import Json
from envace_sdk.world.keys import key_text
from envace_sdk.world.keyshape import Numbered, Scattered, highest, shape_of

from .events import leaves
from .scene import Scene
from .stamps import time_of

__all__ = ["Fresh", "Maker", "find_fresh", "renamed", "tokens", "without_tokens"]

_NOVEL = 0.9
_LEAST = 3
_STEADY = 0.8
_ATTEMPTS = 50
_LONGEST = 20_000
_TOKEN = re.compile(r"(?<![0-9A-Za-z_-])(?=[A-Za-z_-]*[0-9])(?=[0-9_-]*[A-Za-z])[0-9A-Za-z_-]{7,}(?![0-9A-Za-z_-])")


@dataclass(frozen=True, slots=True)
class Fresh:
    """How new values at one place of an answer are made."""

    shape: Numbered | Scattered
    step: int = 1
    first: Json = None
    """What the first of an episode is, where that is always the same."""


def find_fresh(cases: Sequence[tuple[Scene, Json]]) -> dict[str, Fresh]:
    """The places in a tool's answers at which a value is new with every call, and how it comes about."""
    seen: dict[str, list[tuple[Scene, Json]]] = defaultdict(list)
    for scene, value in cases:
        for place, _, part in leaves(value):
            if "*" not in place and _may_be_a_key(part):
                seen[place].append((scene, part))
    found = {place: _fresh(place, values) for place, values in seen.items() if len(values) >= _LEAST}
    return {place: fresh for place, fresh in found.items() if fresh is not None}


class Maker:
    """Makes new values for one answer, none of which is known in its world."""

    def __init__(self, scene: Scene, seed: str) -> None:
        self._scene = scene
        self._seed = seed

    def make(self, place: str, fresh: Fresh, model: Json) -> Json:
        """A value like `model`, which stood at this place in the precedent."""
        if isinstance(fresh.shape, Numbered):
            earlier = _earlier(self._scene, place)
            number = highest(earlier, fresh.shape)
            if number >= 0:
                return fresh.shape.key(number + fresh.step)
            return model if fresh.first is None else fresh.first
        random = Random(f"{self._seed}/{place}/{key_text(model)}")
        for _ in range(_ATTEMPTS):
            made = fresh.shape.key(random)
            if not self._is_known(key_text(made)):
                return made
        return made

    def rename(self, word: str) -> str:
        """A new word in the place of one that was made by chance."""
        for attempt in range(_ATTEMPTS):
            made = renamed(word, self._seed, attempt)
            if not self._is_known(made):
                break
        return made

    def _is_known(self, text: str) -> bool:
        return any(text in event.shown_texts for event in self._scene.past)


def renamed(word: str, seed: str, attempt: int) -> str:
    """Another word of the same form: the same for the same word, seed and attempt."""
    random = Random(f"{seed}/{word}/{attempt}")
    is_hex = re.fullmatch(r"[0-9a-f-]+", word) is not None
    return "".join(_char(char, random, is_hex=is_hex) for char in word)


def tokens(text: str) -> list[str]:
    """The words in a text that look as if made by chance."""
    return _TOKEN.findall(text[:_LONGEST])


def without_tokens(text: str) -> str:
    """A text without those words."""
    return _TOKEN.sub("", text[:_LONGEST])


def _char(char: str, random: Random, *, is_hex: bool) -> str:
    if is_hex and char != "-":
        return random.choice("0123456789abcdef")
    if "0" <= char <= "9":
        return random.choice("0123456789")
    if char.isascii() and char.isalpha():
        letters = "abcdefghijklmnopqrstuvwxyz"
        return random.choice(letters.upper() if char.isupper() else letters)
    return char


def _may_be_a_key(value: Json) -> bool:
    if isinstance(value, str):
        return time_of(value) is None
    return isinstance(value, int) and not isinstance(value, bool)


def _fresh(place: str, values: Sequence[tuple[Scene, Json]]) -> Fresh | None:
    texts = [key_text(value) for _, value in values]
    if len(set(texts)) < 2:
        return None
    novel = sum(not _is_known(text, scene) for text, (scene, _) in zip(texts, values, strict=True))
    if novel < _NOVEL * len(values):
        return None
    integer = all(isinstance(value, int) for _, value in values)
    shape = Numbered("", 0, "", integer=True) if integer else _shape([v for _, v in values if isinstance(v, str)])
    if isinstance(shape, Numbered):
        return _counting(place, values, shape)
    if isinstance(shape, Scattered) and not integer and len(set(texts)) == len(texts):
        return Fresh(shape)
    return None


def _shape(texts: Sequence[str]) -> Numbered | Scattered | None:
    """What the texts have in common: how they begin is kept, even where it is part of the word that varies."""
    shape = shape_of(texts)
    if not isinstance(shape, Scattered):
        return shape
    begin = re.sub(r"[0-9]+$", "", _beginning(texts))
    rest = shape_of([text[len(begin) :] for text in texts]) if begin and len(texts) > _LEAST else None
    if not isinstance(rest, Scattered):
        return shape
    make = rest.key
    return Scattered(lambda random: f"{begin}{make(random)}")


def _beginning(texts: Sequence[str]) -> str:
    """What all of them begin with."""
    first, last = min(texts), max(texts)
    same = next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:same]


def _counting(place: str, values: Sequence[tuple[Scene, Json]], shape: Numbered) -> Fresh | None:
    """A number that goes on from the one before it in the same episode."""
    steps: Counter[int] = Counter()
    firsts: Counter[str] = Counter()
    for scene, value in values:
        number, before = highest([value], shape), highest(_earlier(scene, place), shape)
        if before >= 0:
            steps[number - before] += 1
        else:
            firsts[key_text(value)] += 1
    if not steps:
        return None
    step, times = max(steps.items(), key=lambda pair: (pair[1], -pair[0]))
    if step <= 0 or times < 2 or times < _STEADY * sum(steps.values()):
        return None
    first: Json = None
    if firsts and max(firsts.values()) > sum(firsts.values()) / 2:
        text = max(firsts, key=lambda t: firsts[t])
        first = int(text) if shape.integer else text
    return Fresh(shape, step, first)


def _earlier(scene: Scene, place: str) -> list[Json]:
    """What the same tool has shown at this place."""
    return [part for event in scene.done.get(scene.tool, ()) for at, _, part in event.shown if at == place]


def _is_known(text: str, scene: Scene) -> bool:
    return any(text == given for _, given, _ in scene.given) or any(text in event.shown_texts for event in scene.past)
