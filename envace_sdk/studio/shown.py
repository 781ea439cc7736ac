"""Values as a page shows them: bounded, and with characters that play tricks on the eye spelled out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote

from envace_sdk.json import Json
from envace_sdk.tools.finding import printable

__all__ = ["FILTERS", "MOST_CHANGES", "Change", "Field", "block", "changes", "line", "pretty"]

_LINE: Final = 240
_BLOCK: Final = 20_000
MOST_CHANGES: Final = 200
"""Changed entities that are shown."""

_MOST_FIELDS: Final = 60
_MARKS: Final = {"created": "+", "updated": "~", "deleted": "−"}


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a changed entity; None where it is absent on that side."""

    path: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """One changed entity."""

    kind: str
    """`created`, `updated` or `deleted`."""
    mark: str
    name: str
    fields: tuple[Field, ...]
    more: int = 0
    """Fields that are not shown."""


def changes(found: Any) -> list[Change]:
    """The changed entities of a diff in JSON, as the ledger and `world.diff` have it; what is none is left out."""
    if isinstance(found, Mapping):
        found = found.get("changes")
    if not isinstance(found, list):
        return []
    return [_change(one) for one in found[:MOST_CHANGES] if isinstance(one, Mapping)]


def _change(one: Mapping[str, Any]) -> Change:
    kind = str(one.get("kind", ""))
    fields = one.get("fields")
    members = list(fields.items()) if isinstance(fields, Mapping) else []
    shown = tuple(
        Field(line(path), _side(sides, "before"), _side(sides, "after"))
        for path, sides in members[:_MOST_FIELDS]
        if isinstance(sides, Mapping)
    )
    name = line(f"{one.get('collection', '')}/{one.get('key', '')}")
    return Change(
        kind if kind in _MARKS else "unknown", _MARKS.get(kind, "?"), name, shown, max(0, len(members) - _MOST_FIELDS)
    )


def _side(sides: Mapping[str, Any], name: str) -> str | None:
    return _compact(sides[name]) if name in sides else None


def line(value: Any) -> str:
    """Text on one line."""
    return printable(_cut(str(value), _LINE))


def block(value: Any) -> str:
    """Text that keeps its lines."""
    return "\n".join(map(printable, _cut(str(value), _BLOCK).split("\n")))


def pretty(value: Json) -> str:
    """JSON, indented; a text as it is."""
    return block(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2, default=str))


def _compact(value: Json) -> str:
    """JSON on one line."""
    return line(json.dumps(value, ensure_ascii=False, default=str))


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _clock(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%H:%M:%S")


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def _quoted(value: Any) -> str:
    """Part of an address. Jinja's own fails for what no UTF-8 can say."""
    return quote(str(value), safe="", errors="replace")


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


FILTERS: Final[dict[str, Callable[..., str]]] = {
    "line": line,
    "block": block,
    "pretty": pretty,
    "compact": _compact,
    "moment": _moment,
    "clock": _clock,
    "share": _share,
    "number": _number,
    "urlencode": _quoted,
}
"""By the names that templates use."""
