"""A recorded answer told again for another call: with its values in the place of the recorded ones."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Final

from envace_sdk.json import UNSET, Json
from envace_sdk.tools.model import ToolResult

from .board import text_in
from .cases import Case
from .events import Event
from .explained import Explained, bounded, part_text
from .fresh import Fresh, Maker, tokens
from .origins import equal, value_of
from .scene import Scene
from .stamps import stamped, stamps, time_of
from .vocabulary import Vocabulary

__all__ = ["Retelling", "retold_result", "with_text", "with_value"]

_DEPTH = 60
_MOST_TEXT = 200_000
_STYLES: Final[tuple[dict[str, Json], ...]] = (
    {"ensure_ascii": False},
    {"ensure_ascii": False, "indent": 2},
    {"ensure_ascii": False, "separators": (",", ":")},
    {"ensure_ascii": False, "indent": 4},
    {},
    {"indent": 2},
    {"separators": (",", ":")},
    {"indent": 4},
)
"""How servers write JSON."""


class Retelling:
    """One precedent, told for one call. Notes which values it changed.

    Args:
        case: the precedent.
        explained: which values of such answers come from the situation.
        fresh: which are made anew.
        now: the call in its situation.
        maker: makes them.
        vocabulary: tells which words are one episode's own.
    """

    def __init__(
        self,
        case: Case,
        explained: Explained,
        fresh: Mapping[str, Fresh],
        now: Scene,
        maker: Maker,
        vocabulary: Vocabulary,
    ) -> None:
        self._case = case
        self._then = case.scene
        self._explained = explained
        self._fresh = fresh
        self._now = now
        self._maker = maker
        self._vocabulary = vocabulary
        self.changed: dict[str, str] = {}
        """Recorded texts, and what stands in their place."""

    def value(self, value: Json, place: str = "", depth: int = 0) -> Json:
        """The answer, or a part of it, as this call would have it."""
        new = self._whole(value, place)
        if new is UNSET:
            if isinstance(value, dict) and depth < _DEPTH:
                return {name: self.value(part, f"{place}/{name}", depth + 1) for name, part in value.items()}
            if isinstance(value, list) and depth < _DEPTH:
                return [self.value(part, f"{place}/*", depth + 1) for part in value]
            new = self.text(value, place) if isinstance(value, str) else value
        old_text, new_text = part_text(value), part_text(new)
        if old_text is not None and new_text is not None and old_text != new_text:
            self.changed[old_text] = new_text
        return new

    def _whole(self, value: Json, place: str) -> Json:
        for origin in self._explained.wholes.get(place, ()):
            then, now = value_of(origin, self._then), value_of(origin, self._now)
            if then is UNSET:
                if origin.kind == "argument" and now is not UNSET:
                    return deepcopy(now)  # it was left out there, and is given here
            elif equal(then, value):
                if now is not UNSET:
                    return deepcopy(now)
                if place in self._explained.defaults:
                    return self._explained.defaults[place]
        if place in self._fresh and isinstance(value, str | int) and not self._speaks_of_earlier(value):
            return self._maker.make(place, self._fresh[place], value)
        return UNSET

    def text(self, text: str, place: str) -> str:
        """A text with those of its parts replaced that came from the call or from what was before it."""
        if len(text) > _MOST_TEXT:
            return text
        pairs: dict[str, str] = {}
        for origin in self._explained.parts.get(place, ()):
            then, now = part_text(value_of(origin, self._then)), part_text(value_of(origin, self._now))
            if then is not None and now is not None and then in text:
                pairs.setdefault(then, now)
        for word in tokens(text):
            if word in pairs:
                continue
            if (own := self._counterpart(word)) is not None:
                pairs[word] = own
            elif self._is_new(word):
                pairs[word] = self._maker.rename(word)
        for stamp in stamps(text):
            if stamp in self._times:
                pairs[stamp] = self._times[stamp]
        return substituted(text, pairs)

    @cached_property
    def _times(self) -> Mapping[str, str]:
        """The points in time that came up with the recorded answer, as far before the present as they were then."""
        clock = None if self._now.state is None else self._now.state.clock
        texts = (text for _, text, value in self._case.event.shown if isinstance(value, str))
        new = {
            stamp: when for text in texts for stamp in stamps(text) if self._is_new(stamp) and (when := time_of(stamp))
        }
        if clock is None or not new:
            return {}
        shift = clock - max(new.values())
        return {stamp: stamped(when + shift, stamp) for stamp, when in new.items()}

    def _speaks_of_earlier(self, value: Json) -> bool:
        """Whether a text has words in it that an earlier call made: then it is not as new as it looks."""
        return isinstance(value, str) and any(self._counterpart(word) is not None for word in tokens(value))

    def _counterpart(self, word: str) -> str | None:
        """Of a word that an earlier call of the recorded episode made by chance, what the like call made here.

        The like call is the success of the same tool that lies as many of its successes back.
        """
        if not self._vocabulary.is_private(word):
            return None
        source = next((event for event in self._then.past if not event.is_error and word in made_by(event)), None)
        if source is None:
            return None
        back = self._then.done[source.tool].index(source)
        here = self._now.done.get(source.tool, ())
        made = made_by(here[back]) if back < len(here) else []
        at = made_by(source).index(word)
        return made[at] if at < len(made) else None

    def _is_new(self, word: str) -> bool:
        """Whether a word was first seen in the answer of the precedent."""
        return self._vocabulary.is_private(word) and not any(
            word in event.shown_texts or word in event.given_texts for event in self._then.past
        )


def made_by(event: Event) -> list[str]:
    """The words in the answer of a call that look as if made by chance."""
    return [word for _, text, value in event.shown if isinstance(value, str) for word in tokens(text)]


def substituted(text: str, pairs: Mapping[str, str]) -> str:
    """The text with every pair replaced at once, the longest first."""
    changes = {old: new for old, new in pairs.items() if old != new and old in text}
    if not changes:
        return text
    pattern = "|".join(bounded(old).pattern for old in sorted(changes, key=lambda old: (-len(old), old)))
    return re.sub(pattern, lambda match: changes[match.group()], text)


def retold_result(result: ToolResult, retelling: Retelling) -> ToolResult:
    """The whole result of the precedent, told again: data, and the same data or words in its texts."""
    structured = UNSET if result.structured is UNSET else retelling.value(result.structured)
    content = []
    for at, block in enumerate(result.content):
        text = block.get("text")
        if block.get("type") != "text" or not isinstance(text, str):
            content.append(block)
            continue
        content.append({**block, "text": _retold_text(text, result, structured, retelling, first=at == 0)})
    fault = result.fault
    if fault is not None and isinstance(fault.get("message"), str):
        fault = {**fault, "message": str(content[0]["text"]) if content else fault["message"]}
    return replace(result, content=tuple(content), structured=structured, fault=fault, wire=None, meta={})


def with_value(result: ToolResult, value: Json) -> ToolResult:
    """The result with other data, written as its own is."""
    before = result.value()
    content = [
        {**block, "text": _written(value, str(block["text"]))}
        if block.get("type") == "text" and _parsed(str(block.get("text"))) == before
        else block
        for block in result.content
    ]
    return replace(result, content=tuple(content), structured=UNSET if result.structured is UNSET else value)


def with_text(result: ToolResult, text: str) -> ToolResult:
    """The result with another text in the place of the only one that it holds, as data and in its content."""
    before = text_in(result.value())
    content = [{**block, "text": text} if block.get("text") == before else block for block in result.content]
    structured = result.structured
    if isinstance(structured, dict):
        structured = {name: text if part == before else part for name, part in structured.items()}
    elif structured is not UNSET and structured == before:
        structured = text
    return replace(result, content=tuple(content), structured=structured, wire=None, meta={})


def _retold_text(text: str, result: ToolResult, structured: Json, retelling: Retelling, *, first: bool) -> str:
    data = _parsed(text)
    if structured is not UNSET:
        if data is not UNSET and equal(data, result.structured):
            return _written(structured, text)
        return substituted(text, retelling.changed)
    if first and data is not UNSET:
        return _written(retelling.value(data), text)
    return str(retelling.value(text)) if first else substituted(text, retelling.changed)


def _parsed(text: str) -> Json:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return UNSET


def _written(value: Json, like: str) -> str:
    """The value as JSON, in the style of another JSON text."""
    return json.dumps(value, **_STYLES[_style(like)])


@lru_cache(maxsize=512)
def _style(text: str) -> int:
    """Which style a JSON text is written in; the first where it is none of them."""
    if len(text) > _MOST_TEXT:
        return 0
    data = json.loads(text)
    return next((at for at, style in enumerate(_STYLES) if json.dumps(data, **style) == text), 0)
