"""Search arguments that bound a field: `created_after`, `min_price`, `dueBefore`, `amount_lte`."""

from __future__ import annotations

from collections.abc import Sequence

from .arguments import Argument
from .fields import Field, Fields
from .terms import HIGH, LOW, STRICT
from .words import bag, singular

__all__ = ["bound_of"]

_FILLERS = bag("than at least most value date time equal or on range the bound limit")
_PHRASES = {
    ("at", "least"): "min",
    ("at", "most"): "max",
    ("no", "later"): "before",
    ("no", "earlier"): "after",
    ("newer", "than"): "newer",
    ("younger", "than"): "newer",
    ("older", "than"): "older",
    ("greater", "than"): "gt",
    ("more", "than"): "gt",
    ("less", "than"): "lt",
    ("up", "to"): "max",
}
_KINDS = ("date", "due", "start", "at", "scheduled", "when", "day", "time", "deadline")


def bound_of(argument: Argument, fields: Fields, siblings: Sequence[Argument]) -> tuple[Field, str] | None:
    """The field that an argument bounds, and on which side; None when it is no bound."""
    if argument.is_list or argument.is_flag or argument.enum or argument.is_object:
        return None
    words = _joined(fields.bare(argument))
    if not words:  # a name of signs only, or none
        return None
    for place in (len(words) - 1, 0):
        word = words[place]
        if word not in LOW and word not in HIGH:
            continue
        rest = words[:place] + words[place + 1 :]
        if not rest and not _paired(argument, siblings):
            return None
        field = _bounded(rest, word, argument, fields)
        if field is None or (field.words == words and not _paired(argument, siblings)):
            continue
        low = word in LOW
        if word in {"older", "newer"} and argument.is_number:
            low = word == "older"  # of an age
        return field, {(True, True): "gt", (True, False): "gte", (False, True): "lt"}.get((low, word in STRICT), "lte")
    return None


def _joined(words: tuple[str, ...]) -> tuple[str, ...]:
    out: list[str] = []
    at = 0
    while at < len(words):
        found = _PHRASES.get((words[at], words[at + 1])) if at + 1 < len(words) else None
        out.append(found or words[at])
        at += 2 if found else 1
    return tuple(out)


def _paired(argument: Argument, siblings: Sequence[Argument]) -> bool:
    """Whether another argument bounds the other side, or the name alone can mean nothing else."""
    words = set(argument.words)
    if words & (LOW - {"start", "from", "begin"}) or words & (HIGH - {"end", "to"}):
        return True
    opposite = HIGH if words & LOW else LOW
    return any(set(other.words) & opposite for other in siblings if other is not argument)


def _bounded(rest: tuple[str, ...], word: str, argument: Argument, fields: Fields) -> Field | None:
    stem = tuple(part for part in rest if part not in _FILLERS)
    for words in (rest, stem):
        found = fields.find(words) if words else None
        if found is not None and not found.is_list and not found.is_flag:
            return found
    if argument.is_number or (argument.schema.get("type") == "number"):
        numbers = [field for field in fields if field.is_number]
        return numbers[0] if not stem and len(numbers) == 1 else None
    if stem:
        named = {singular(part) for part in stem}
        return next((field for field in fields if field.is_date and named & set(field.words)), None)
    for own in ((word, "date"), (word, "time"), (word, "at"), (word,)):
        found = fields.find(own, exact=True)
        if found is not None and found.is_date:
            return found
    dates = [field for field in fields if field.is_date and field.writable]
    for kind in _KINDS:
        for field in dates:
            if kind in field.words:
                return field
    return dates[0] if dates else fields.find(("created", "at"))
