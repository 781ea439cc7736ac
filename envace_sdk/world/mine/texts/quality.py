"""What is known of templates by looking at them: how much they say, and how much they leave open."""

from __future__ import annotations

import re
from typing import Final

from .template import Template

__all__ = ["letters", "reads", "vague", "words", "words_in"]

_WORD: Final = re.compile(r"[^\W\d_]+")


def words_in(text: str) -> int:
    """How many words a text has."""
    return len(_WORD.findall(text))


def reads(template: Template, text: str) -> bool:
    """Whether the template parses the text, and writes it back as it was."""
    values = template.parse(text)
    return values is not None and template.render(values) == text


def words(template: Template) -> int:
    """How many words the template always has."""
    return sum(map(words_in, _literals(template)))


def letters(template: Template) -> int:
    """How many letters these words have."""
    return sum(len(word) for text in _literals(template) for word in _WORD.findall(text))


def _literals(template: Template) -> list[str]:
    texts = [part for part in template.parts if isinstance(part, str)]
    return [*texts, *(text for rows in template.rows for text in _literals(rows.item))]


def vague(template: Template) -> bool:
    """Whether the template takes any lines somewhere."""
    return any(slot.kind == "lines" for slot in template.slots) or any(
        vague(rows.item) or (_anything(rows.item) and "\n" in (*_literals(rows.item), rows.separator))
        for rows in template.rows
    )


def _anything(item: Template) -> bool:
    free = bool(item.slots) and all(slot.kind == "text" for slot in item.slots)
    return free and not "".join(_literals(item)).strip("\n")
