"""Putting calls into words: names, values and arguments, as a person would say them to somebody who knows the tools."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Final

from envace_sdk.json import Json
from envace_sdk.tools.model import Tool
from envace_sdk.world.keys import number_text

__all__ = ["dates_said", "details", "listed", "request_of", "said_of", "sentence", "value_words", "words"]

_APART: Final = re.compile(r"[\W_]+")
_HUMPS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=[0-9])")
_PLAIN: Final = re.compile(r"[\w.@+:/#-]{1,64}")
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_ASKING: Final = frozenset({"who", "what", "which", "when", "where", "how", "whether"})
_ACRONYM: Final = re.compile(r"[A-Z]{2,}")


def words(name: str) -> str:
    """A name in code as words: `orderId`, `order_id` and `order-id` are "order id"."""
    found = [part for piece in _APART.split(name) for part in _HUMPS.split(piece) if part]
    return " ".join(part if _ACRONYM.fullmatch(part) else part.lower() for part in found) or json.dumps(name)


def request_of(tool: Tool) -> str:
    """What calling the tool does, as an imperative: "cancel an order"."""
    title = tool.annotations.get("title") or tool.definition.get("title")
    if isinstance(title, str) and 1 < len(title.split()) <= 8 and title.isprintable():
        title = title.strip().rstrip(".")
        title = title if _ACRONYM.match(title) else title[:1].lower() + title[1:]
    else:
        title = words(tool.name)
    return f"find out {title}" if title.split()[0] in _ASKING else title


def value_words(value: Json) -> str:
    """A value inside a sentence. Texts of several words are quoted, so that it is clear where they end."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "none"
    if isinstance(value, int | float):
        return number_text(value)
    if isinstance(value, str):
        return value if _PLAIN.fullmatch(value) else json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return "; ".join(value_words(item) for item in value) or "none"
    return ", ".join(f"{words(name)} {value_words(part)}" for name, part in value.items()) or "empty"


def details(arguments: Mapping[str, Json], told: Mapping[str, str]) -> str:
    """The arguments as a sentence, in their order: "The order id is TT-1 and the reason is changed_mind."

    Args:
        arguments: of the call.
        told: by name, the words for arguments that are not given by their value.
    """
    parts = [
        f"the {words(name)} {_is(name, value)} {told.get(name) or value_words(value)}"
        for name, value in arguments.items()
    ]
    return sentence(listed(parts)) if parts else ""


def _is(name: str, value: Json) -> str:
    plural = isinstance(value, list) or (name.endswith("s") and not name.endswith(("ss", "us", "is")))
    return "are" if plural else "is"


def listed(parts: Iterable[str]) -> str:
    """The parts as one enumeration."""
    *most, last = list(parts) or [""]
    return f"{', '.join(most)} and {last}" if most else last


def sentence(text: str) -> str:
    """With a capital letter and a full stop."""
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "?", "!")) else f"{text}."


def said_of(value: Json) -> list[str]:
    """The ways in which an answer may say a value; any of them will do."""
    if isinstance(value, str):
        return dates_said(value) if _DATE.fullmatch(value) else [value]
    return [number_text(value)]


def dates_said(text: str) -> list[str]:
    """The ways of writing a day; the first is the text itself."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return [text]
    month = _MONTHS[day.month - 1]
    return list(
        dict.fromkeys(
            form
            for name in (month, month[:3])
            for form in (text, f"{day.day} {name}", f"{day.day}. {name}", f"{name} {day.day}")
        )
    )


_MONTHS: Final = (
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)
