"""Answers that are texts, taken apart: what is said in the same words each time is data in a form."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from envace_sdk.json import Json

from .episodes import Episode, Step
from .failures import known_values
from .texts import Rows, Slot, Template, TextCase, mine_texts

__all__ = ["FORM", "Phrases", "is_generic", "take_apart"]

FORM: Final = "#"
"""The member of a text that was taken apart which says what form it has."""
_MOST: Final = 8
"""More forms than this are no forms."""
_COVERED: Final = 0.8
_CASES: Final = 600

Phrases = Mapping[tuple[str, int], Template]
"""By tool and number, the forms of its texts."""


def take_apart(episodes: Sequence[Episode]) -> Phrases:
    """Find the forms of the tools' texts, and put what they hold in the texts' places in the steps."""
    by_tool: dict[str, list[Step]] = {}
    for episode in episodes:
        for step in episode.steps:
            if step.ok:
                by_tool.setdefault(step.tool, []).append(step)
    found: dict[tuple[str, int], Template] = {}
    for tool, steps in sorted(by_tool.items()):
        path = _path(steps)
        if path is None:
            continue
        texts = [_text(step, path) for step in steps]
        if sum(map(_is_json, texts)) * 2 > len(texts):
            continue
        spread = range(0, len(texts), max(1, len(texts) // _CASES))
        templates = mine_texts([TextCase(texts[n], known_values(steps[n])) for n in spread])
        forms = [_named(template, tool) for template in templates if _is_form(template)][:_MOST]
        parsed = [_parsed(text, forms) for text in texts]
        plain = sum(any(t.parse(text) is not None for t in templates if not _is_form(t)) for text in texts)
        if not forms or sum(p is not None for p in parsed) + plain < _COVERED * len(texts):
            continue
        found.update({(tool, number): template for number, template in enumerate(forms)})
        for step, value in zip(steps, parsed, strict=True):
            if value is not None:
                step.value = {path: value} if path else value
    return found


def _named(template: Template, tool: str) -> Template:
    """With names for what has none, which those of other tools do not have."""
    parts: list[str | Slot | Rows] = []
    for part in template.parts:
        if isinstance(part, Rows):
            parts.append(replace(part, name=_own(part.name, tool), item=_named(part.item, tool)))
        elif isinstance(part, Slot):
            parts.append(replace(part, name=_own(part.name, tool)))
        else:
            parts.append(part)
    return Template(tuple(parts))


def _own(name: str, tool: str) -> str:
    return f"{re.sub(r'[^A-Za-z0-9_]', '_', tool)}_{name}" if is_generic(name) else name


def is_generic(name: str) -> bool:
    """Whether a name only counts."""
    return re.search(r"(?:^|_)(?:slot|rows)[0-9]*$", name) is not None


def _path(steps: Sequence[Step]) -> str | None:
    """Where the tool's text stands: "" for the whole answer, or the only member of an object."""
    if all(isinstance(step.value, str) for step in steps):
        return ""
    names = {name for step in steps if isinstance(step.value, dict) for name in step.value}
    if len(names) != 1 or not all(isinstance(step.value, dict) for step in steps):
        return None
    (name,) = names
    return (
        name if all(isinstance(step.value, dict) and isinstance(step.value.get(name), str) for step in steps) else None
    )


def _text(step: Step, path: str) -> str:
    value = step.value[path] if path and isinstance(step.value, dict) else step.value
    return str(value)


def _is_json(text: str) -> bool:
    if text[:1] not in "{[":
        return False
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False


def _is_form(template: Template) -> bool:
    """Whether a template says more than that anything may be said."""
    if any(isinstance(part, Rows) for part in template.parts):
        return True
    slots = [part for part in template.parts if isinstance(part, Slot)]
    said = sum(len(part.strip()) for part in template.parts if isinstance(part, str))
    return bool(slots) and said > 2 and len(slots) > 1


def _parsed(text: str, forms: Sequence[Template]) -> dict[str, Json] | None:
    for number, template in enumerate(forms):
        values = template.parse(text)
        if values is not None:
            return {FORM: number, **values}
    return None
