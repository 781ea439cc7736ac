"""How calls fail: the kinds of error of each tool, told apart by their words."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from envace_sdk.json import Json

from .episodes import Episode, Step
from .positions import walk
from .texts import Rows, Slot, Template, TextCase, mine_texts

__all__ = ["Failure", "Failures", "error_text", "known_values"]

_ANY: Final = "*"
"""In place of the text, in the frame of an error."""
_LONGEST: Final = 4000
"""What an error says after that does not tell it from others."""
_PHRASES: Final = 6
"""A slot that holds more different ones holds values."""
_MARK: Final = "\x00"
"""In place of a value, in a phrase."""
_TELLING: Final = frozenset({"error", "message", "detail", "reason"})
"""Members of an error that hold its text."""

_Case = tuple[Step, str]
"""A failed call, and the text of its error."""


@dataclass(frozen=True, eq=False, slots=True)
class Failure:
    """One kind of error of a tool: its text, and what stands around it where errors are JSON."""

    tool: str
    number: int
    template: Template | None
    """None: a text that no template has."""
    text: str
    """An example."""
    frame: str = ""
    """The JSON of an error, with `*` for the text; "" where the error is the text alone."""

    @property
    def text_class(self) -> str:
        """The same for errors of different tools that say the same."""
        if self.template is None:
            return self.text
        return "".join(part if isinstance(part, str) else _MARK for part in self.template.parts)

    @property
    def label(self) -> str:
        """By which decisions name it."""
        return f"error {self.number}"


class Failures:
    """The kinds of errors of all tools."""

    def __init__(self, episodes: Sequence[Episode]) -> None:
        by_tool: dict[str, list[Step]] = {}
        for episode in episodes:
            for step in episode.steps:
                if not step.ok:
                    by_tool.setdefault(step.tool, []).append(step)
        self.of_tool: dict[str, list[Failure]] = {}
        self._of_step: dict[int, Failure] = {}
        for tool, steps in sorted(by_tool.items()):
            self.of_tool[tool] = list(self._sorted(tool, steps))

    def of(self, step: Step) -> Failure | None:
        """The kind of error that a step ended in."""
        return self._of_step.get(id(step))

    def _sorted(self, tool: str, steps: Sequence[Step]) -> Iterator[Failure]:
        framed: dict[str, list[_Case]] = {}
        for step in steps:
            frame, text = _message(step)
            framed.setdefault(frame, []).append((step, text[:_LONGEST]))
        number = 0
        for frame in sorted(framed):
            cases = framed[frame]
            templates = mine_texts([TextCase(text, known_values(step)) for step, text in cases])
            homes: dict[int, list[_Case]] = {}
            for step, text in cases:
                place = next((n for n, t in enumerate(templates) if t.parse(text) is not None), len(templates))
                homes.setdefault(place, []).append((step, text))
            for place in sorted(homes):
                template = templates[place] if place < len(templates) else None
                for phrases, held in _phrased(template, homes[place]):
                    failure = Failure(tool, number, _with_phrases(template, phrases), held[0][1], frame)
                    number += 1
                    for step, _ in held:
                        self._of_step[id(step)] = failure
                    yield failure


def _phrased(template: Template | None, cases: Sequence[_Case]) -> list[tuple[dict[str, str], list[_Case]]]:
    """The cases by the phrases in their slots: what is said in several words, more than once, is no mere value."""
    if template is None:
        return [({}, list(cases))]
    parsed = [template.parse(text) or {} for _, text in cases]
    phrasing: dict[str, list[str]] = {}
    for slot in [part.name for part in template.parts if isinstance(part, Slot)]:
        values = [_masked(str(parse.get(slot, "")), step) for parse, (step, _) in zip(parsed, cases, strict=True)]
        told = Counter(value for value in values if " " in value)
        if told and len(told) <= _PHRASES and min(told.values()) > 1 and all(map(_is_phrase, told)):
            phrasing[slot] = values
    groups: dict[tuple[str, ...], list[_Case]] = {}
    for place, case in enumerate(cases):
        groups.setdefault(tuple(values[place] for values in phrasing.values()), []).append(case)
    return [(dict(zip(phrasing, key, strict=True)), groups[key]) for key in sorted(groups)]


def _is_phrase(text: str) -> bool:
    """Whether a repeated text is more likely words of the message than a name of something."""
    return text[0] == _MARK or text[0].islower()


def _masked(text: str, step: Step) -> str:
    """The text with the arguments' values taken out."""
    told = {str(v) for v in known_values(step).values() if v is not None and v != "" and not isinstance(v, bool)}
    for value in sorted(told, key=lambda v: (-len(v), v)):
        text = re.sub(rf"(?<![^\W_]){re.escape(value)}(?![^\W_])", _MARK, text)
    return text


def _with_phrases(template: Template | None, phrases: Mapping[str, str]) -> Template | None:
    """The template with phrases in place of slots; what was masked in them stays a slot."""
    if template is None or not phrases:
        return template
    parts: list[str | Slot | Rows] = []
    for part in template.parts:
        if not isinstance(part, Slot) or part.name not in phrases:
            parts.append(part)
            continue
        for number, words in enumerate(phrases[part.name].split(_MARK)):
            if number:
                parts.append(Slot(f"{part.name}_{number}", "text"))
            if words:
                parts.append(words)
    return Template(tuple(_joined(parts)))


def _joined(parts: Sequence[str | Slot | Rows]) -> list[str | Slot | Rows]:
    """The parts of a template, texts beside each other as one."""
    joined: list[str | Slot | Rows] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, str) and isinstance(last, str):
            joined[-1] = last + part
        else:
            joined.append(part)
    return joined


def known_values(step: Step) -> Mapping[str, Json]:
    """The arguments' values, by their paths."""
    return {f"args.{path}": value for path, value in walk(dict(step.args)) if "[]" not in path}


def _message(step: Step) -> tuple[str, str]:
    """What frames an error's text, and the text."""
    value = step.value
    if isinstance(value, dict):
        texts = [name for name, member in value.items() if isinstance(member, str)]
        told = [name for name in texts if name.lower() in _TELLING] or texts
        if told:
            name = told[0]
            return json.dumps({**value, name: _ANY}, ensure_ascii=False), value[name]
    return "", step.text


def error_text(step: Step) -> str:
    """What the error of a failed call says, without what frames it."""
    return _message(step)[1][:_LONGEST]
