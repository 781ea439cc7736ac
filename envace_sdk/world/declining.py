"""Answers that say what is wrong with a call, and are no errors: they are told by the templates that make them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Final

from envace_sdk.json import Json

from .expressions import Template, equal

__all__ = ["Declining", "quoted_slots"]

_MARK: Final = "7391846205"
"""Stands for what an expression gives: within a text, and where a number may stand in JSON."""
_QUOTE: Final = re.compile(r'(?<!\\)(?:\\\\)*"')
"""A quote that is not escaped."""


class Declining:
    """Tells the answers that requirements with `status: success` give from all others.

    Args:
        templates: of what they say.
    """

    def __init__(self, templates: Iterable[Template]) -> None:
        forms = map(_form, templates)
        self._forms = [form for form in forms if str(form).replace(_MARK, "").strip()]

    def __call__(self, value: Json) -> bool:
        """Whether an answer is as one of the templates makes them, whatever stands in its slots."""
        return any(_fits(form, value) for form in self._forms)


def quoted_slots(template: Template) -> frozenset[int]:
    """Where the template makes JSON, the places of those among its parts that stand in texts of that."""
    if _json_form(template) is None:
        return frozenset()
    found, is_within = [], False
    for at, part in enumerate(template.parts):
        if isinstance(part, str):
            is_within ^= len(_QUOTE.findall(part)) % 2 == 1
        elif is_within:
            found.append(at)
    return frozenset(found)


def _json_form(template: Template) -> Json:
    """The object or list that a template makes if read as JSON, with `_MARK` in its slots; None: it makes none."""
    text = _marked(template)
    try:
        form = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return form if isinstance(form, dict | list) else None


def _form(template: Template) -> Json:
    form = _json_form(template)
    return _marked(template) if form is None else form


def _marked(template: Template) -> str:
    return "".join(part if isinstance(part, str) else _MARK for part in template.parts)


def _fits(form: Json, value: Json) -> bool:
    if isinstance(form, str):
        return isinstance(value, str) and _reads(form.split(_MARK), value)
    if isinstance(form, dict):
        same = isinstance(value, dict) and form.keys() == value.keys()
        return same and all(_fits(part, value[name]) for name, part in form.items())
    if isinstance(form, list):
        same = isinstance(value, list) and len(form) == len(value)
        return same and all(map(_fits, form, value))
    return form == int(_MARK) or equal(form, value)


def _reads(parts: Sequence[str], text: str) -> bool:
    """Whether a text begins with the first part and ends with the last, with the others between them in their order."""
    if len(parts) == 1:
        return text == parts[0]
    at, end = len(parts[0]), len(text) - len(parts[-1])
    if at > end or not text.startswith(parts[0]) or not text.endswith(parts[-1]):
        return False
    for part in parts[1:-1]:
        found = text.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True
