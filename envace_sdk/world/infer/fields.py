"""The fields of a group's things, as far as any of its tools speaks of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from envace_sdk.json import UNSET, Json, Unset

from .arguments import Argument
from .ids import STRONG, bare
from .trying import is_trial
from .words import bag, plural, singular, spell

__all__ = ["STATUS", "Field", "Fields", "is_control"]

CONTROL = bag(
    "dry_run dryrun confirm confirmed confirmation idempotency_key request_id client_token client_request_id "
    "correlation_id trace_id pretty return_format response_format output_format api_version"
)
"""Names of arguments that say how to do a call, not what the thing is."""

_SWITCHES = bag("force verbose wait async raw silent quiet notify recursive permanent hard soft validate_only")
"""The same, where they are yes or no."""

_VIEWS = bag(
    "expand include includes fields select embed view depth format verbose raw page timeout locale timezone time_zone "
    "tz detail_level verbosity"
)
"""The same, in a tool that only looks."""

STATUS = ("status", "state", "stage", "phase")
_WHEN = ("at", "date", "on", "time", "day", "datetime")
_LINKING = frozenset(["is", "has"])
_DATES = bag("date datetime time day when timestamp deadline due at on start end begin until since")


@dataclass(eq=False)
class Field:
    """A field of an entity, and the arguments and schemas that speak of it."""

    name: str
    words: tuple[str, ...]
    views: list[Argument] = field(default_factory=list)
    writable: bool = False
    """Whether a tool that makes or changes things gives it."""
    made: bool = False
    """Whether a tool that makes things gives it."""

    @property
    def enum(self) -> tuple[Json, ...]:
        """The values it may have, if any view limits them: the longest list."""
        return max((view.enum or _item_enum(view) for view in self.views), key=len, default=())

    @property
    def default(self) -> Json | Unset:
        """What the maker's schema says an absent one means."""
        return next((view.default for view in self.views if view.default is not UNSET), UNSET)

    @property
    def is_list(self) -> bool:
        """Whether it holds a list."""
        writing = [view for view in self.views if view.types]
        return bool(writing) and writing[0].is_list

    @property
    def is_flag(self) -> bool:
        """Whether it is true or false."""
        return any(view.is_flag for view in self.views)

    @property
    def is_number(self) -> bool:
        """Whether it is a number."""
        return any(view.is_number for view in self.views) and self.words[-1] not in STRONG

    @property
    def is_free(self) -> bool:
        """Whether it is an object of which no schema says what is in it."""
        return any(view.is_object and not view.schema.get("properties") for view in self.views)

    @property
    def is_text(self) -> bool:
        """Whether it is text that people write and search."""
        first = self.views[0] if self.views else None
        return first is not None and first.is_text and not self.is_date and not self.enum

    @property
    def is_date(self) -> bool:
        """Whether it is a date or a time."""
        formats = {view.schema.get("format") for view in self.views}
        if formats & {"date", "date-time", "time"}:
            return True
        textual = any(not view.types or "string" in view.types for view in self.views)
        return textual and bool(set(self.words) & _DATES) and not self.enum


def _item_enum(view: Argument) -> tuple[Json, ...]:
    values = view.item.get("enum")
    return tuple(values) if view.is_list and isinstance(values, list) else ()


class Fields:
    """Lookup of fields by name, forgiving about how a tool spells them."""

    def __init__(self, nouns: Iterable[tuple[str, ...]]) -> None:
        self._nouns = frozenset(nouns)
        self._found: dict[tuple[str, ...], Field] = {}

    def __iter__(self) -> Iterator[Field]:
        return iter(self._found.values())

    def bare(self, argument: Argument) -> tuple[str, ...]:
        """The argument's name without the thing's own noun before it."""
        return bare(argument.words, self._nouns)

    def add(self, argument: Argument, *, writable: bool = False, name: str | None = None, loose: bool = False) -> Field:
        """Note that the argument gives the field of its name; with `loose`, of one that is spelled much like it."""
        words = self.bare(argument) or argument.words or (argument.name,)
        found = self.find(words, exact=not loose)
        if found is not None and found.words != words and found.is_list != argument.is_list:
            found = None
        if found is None:
            found = Field(name or argument.name, words)
            self._found[words] = found
        found.views.append(argument)
        found.writable = found.writable or writable
        return found

    def put(self, words: tuple[str, ...], style: str, kind: str = "string") -> Field:
        """The field of this name, made when no tool speaks of it."""
        found = self.find(words)
        if found is None:
            name = spell(words, style)
            found = Field(name, words, [Argument((name,), {"type": kind}, False)])
            self._found[words] = found
        return found

    def find(self, words: tuple[str, ...], *, exact: bool = False) -> Field | None:
        """The field that these words name: as they are, or singular for plural, with or without "id", "is", "at"."""
        if words in self._found:
            return self._found[words]
        if exact or not words:
            return None
        *before, last = words
        rest = tuple(before)
        candidates = [(*rest, plural(last)), (*rest, singular(last))]
        if last in {"id", "ids", "name", "key"} and rest:
            candidates += [rest, (*rest[:-1], singular(rest[-1]))]
        candidates += [(*words, "id"), (*rest, singular(last), "id"), (*words, "ids"), (*rest, singular(last), "ids")]
        if words[0] in _LINKING and rest:
            candidates.append(words[1:])
        candidates += [("is", *words), ("has", *words), *((*words, word) for word in _WHEN)]
        candidates += [(*words, "name")] if last not in {"id", "ids"} else []
        if last in _WHEN and rest:
            candidates += [rest, *((*rest, word) for word in _WHEN)]
        return next((self._found[found] for found in candidates if found in self._found), None)

    @property
    def status(self) -> Field | None:
        """The field that says where in its life a thing is."""
        for word in STATUS:
            found = next((field for words, field in self._found.items() if words == (word,)), None)
            if found is not None and not found.is_list:
                return found
        return next((f for f in self._found.values() if f.words[-1] in STATUS and f.enum and not f.is_list), None)


def is_control(argument: Argument, *, looking: bool = False) -> bool:
    """Whether an argument says how to do the call rather than what the thing is; `looking`: the tool only shows."""
    joined = "_".join(argument.words)
    if argument.is_object:
        return False
    if (
        is_trial(argument)
        or joined in CONTROL
        or (argument.is_flag and joined in _SWITCHES)
        or (looking and joined in _VIEWS)
    ):
        return True
    return argument.is_flag and argument.words[:1] in {("include",), ("with",), ("notify",), ("send",), ("return",)}
