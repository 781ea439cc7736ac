"""Where one tool's answers show things, and by what these are named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from envace_sdk.json import UNSET, Json
from envace_sdk.world.keys import get_path, key_text

from .episodes import Step
from .links import can_name, is_idlike
from .phrasing import FORM
from .positions import Position
from .structure import SESSION, Site, parts_at

__all__ = ["Clues", "Draft", "draft_sites"]

_FRESH: Final = 0.8
"""Who makes things shows new keys at least so often."""
_ECHOED: Final = 0.9
"""A key that is also given is the same as the argument at least so often."""
_UNIQUE: Final = 0.98
"""So many lists must name each thing once."""
_LINKED: Final = 0.2
"""So many of the keys put together must be known from elsewhere."""
_KNOWN: Final = 3
"""Fewer known keys may be so by chance."""
_USUAL: Final = 0.5
"""So many records must have a field that can be their key."""
_LEAST: Final = 2
_CALLS: Final = 4
"""Calls after which a new key must have been another one at least once."""
_ELEMENTS: Final = 50
"""Of a longer list, these many say enough."""


@dataclass(slots=True)
class Draft:
    """A site whose kind is not known yet, only the domain of the keys, if they are of one."""

    site: Site
    domain: int | None


@dataclass(frozen=True, slots=True)
class Clues:
    """What is known of all tools before it is known where they show things."""

    domain_of: Mapping[Position, int]
    freshness: Mapping[Position, tuple[int, int]]
    """By position in answers: of how many values, how many had not been seen before in their episode."""
    held: Mapping[int, set[str]]
    """By domain, the paths among its values."""
    same: list[tuple[int, int]] = field(default_factory=list)
    """Domains that turn out to be one: of what holds things, and of what they are."""


def draft_sites(tool: str, steps: Sequence[Step], clues: Clues) -> list[Draft]:
    """The sites of one tool, from its successful calls."""
    if not steps:
        return []
    return _Drafting(tool, steps, clues).drafts()


class _Drafting:
    def __init__(self, tool: str, steps: Sequence[Step], clues: Clues) -> None:
        self._tool = tool
        self._steps = steps
        self._clues = clues
        self._arguments = {
            position.path: domain
            for position, domain in clues.domain_of.items()
            if position.tool == tool and position.side == "in" and "[]" not in position.path
        }
        """The arguments that name things, with the domains of their values."""

    def drafts(self) -> list[Draft]:
        """The sites, outer ones before inner ones; within a site that is no whole answer there are no others."""
        found: list[Draft] = []
        paths = _paths(self._steps)
        taken: set[str] = set()
        for path in sorted(paths, key=lambda p: (p.count("."), p)):
            if any(path != outer and path.startswith(f"{outer}.") for outer in taken):
                continue
            draft = self._draft(path, paths[path])
            if draft is not None:
                found.append(draft)
                if path:
                    taken.add(path)
        if not found and "object" in paths.get("", set()):
            whole = self._whole()
            return [] if whole is None else [whole]
        return found

    def _draft(self, path: str, held: set[str]) -> Draft | None:
        if held == {"scalar"}:
            domain = self._clues.domain_of.get(Position(self._tool, "out", path))
            return None if domain is None else Draft(Site(self._tool, path, "", bare=True), domain)
        if "object" not in held:
            return None
        if path.endswith("[]"):
            return self._joined(path) or self._many(path)
        return self._single(path)

    def _position(self, path: str, name: str) -> Position:
        return Position(self._tool, "out", f"{path}.{name}" if path else name)

    def _domain(self, path: str, name: str) -> int | None:
        return self._clues.domain_of.get(self._position(path, name))

    def _records(self, path: str) -> Iterator[tuple[Step, dict[str, Json]]]:
        for step in self._steps:
            for record in parts_at(step.value, path):
                if isinstance(record, dict):
                    yield step, record

    def _joined(self, path: str) -> Draft | None:
        """Things that are listed by the last part of a key that begins with what the call names."""
        for argument in self._arguments:
            pairs = [
                (base.rstrip("/"), record)
                for step, record in self._records(path)
                if isinstance(base := get_path(step.args, argument), str) and "/" in base
            ]
            for name in dict.fromkeys(name for _, record in pairs for name in record):
                whole = {f"{base}/{record[name]}" for base, record in pairs if isinstance(record.get(name), str)}
                for domain, known in sorted(self._clues.held.items()):
                    if len(whole & known) >= max(_KNOWN, _LINKED * min(len(whole), len(known))):
                        self._clues.same.append((self._arguments[argument], domain))
                        join = f"joinpath(args.{argument}, item.{name})"
                        return Draft(Site(self._tool, path, "", key=name, join=join), domain)
        return None

    def _many(self, path: str) -> Draft | None:
        """Things that are listed by their whole keys: what tells them apart, and is linked or called like a key."""
        lists = [[r for r in parts_at(step.value, path) if isinstance(r, dict)] for step in self._steps]
        names = Counter(name for listed in lists for record in listed for name in record)
        total = sum(map(len, lists))
        ranks = {
            name: (self._domain(path, name) is None, not is_idlike(name), place)
            for place, name in enumerate(names)
            if names[name] >= _USUAL * total
            and (self._domain(path, name) is not None or is_idlike(name))
            and _tells_apart(name, lists)
        }
        if not ranks or total < _LEAST:
            return None
        key = min(ranks, key=lambda name: ranks[name])
        return Draft(Site(self._tool, path, "", key=key), self._domain(path, key))

    def _single(self, path: str) -> Draft | None:
        """One thing: a new one, or one that the call names."""
        shown = list(self._records(path))
        if len(shown) < _LEAST:
            return None
        echoed: list[tuple[int, str, int]] = []
        for name in dict.fromkeys(name for _, record in shown for name in record):
            values = [(step, record[name]) for step, record in shown if name in record]
            if len(values) < _ECHOED * len(shown) or not all(can_name(value) for _, value in values):
                continue
            if self._is_fresh(path, name, [value for _, value in values]):
                return Draft(Site(self._tool, path, "", key=name, fresh=True), self._domain(path, name))
            echoed += self._echoes(path, name, values)
        if not echoed:
            return None
        _, name, domain = min(echoed)
        return Draft(Site(self._tool, path, "", key=name), domain)

    def _is_fresh(self, path: str, name: str, values: Sequence[Json]) -> bool:
        """Whether a field is the key of what the call makes."""
        if self._domain(path, name) is None and not is_idlike(name):
            return False
        total, fresh = self._clues.freshness.get(self._position(path, name), (0, 0))
        varied = len(values) < _CALLS or len(set(map(key_text, values))) > 1
        return total >= _LEAST and fresh >= _FRESH * total and varied

    def _echoes(self, path: str, name: str, values: Sequence[tuple[Step, Json]]) -> Iterator[tuple[int, str, int]]:
        """The arguments that a field repeats: their ranks, the field and their domains."""
        own = self._domain(path, name)
        for rank, (argument, domain) in enumerate(self._arguments.items()):
            if own is None or own == domain:
                same = sum(_same(get_path(step.args, argument), value) for step, value in values)
                if same >= _ECHOED * len(values):
                    yield rank, name, domain

    def _whole(self) -> Draft | None:
        """An answer that names nothing is about what the call names, or about the session."""
        path = _said_at(self._steps)
        if len(self._arguments) == 1:
            ((argument, domain),) = self._arguments.items()
            return Draft(Site(self._tool, path, "", argument=argument), domain)
        return None if self._arguments else Draft(Site(self._tool, path, SESSION), None)


def _paths(steps: Sequence[Step]) -> dict[str, set[str]]:
    """Where objects, and lists of scalars, stand in the answers, at most one list and two objects deep."""
    found: dict[str, set[str]] = {}

    def note(value: Json, path: str, depth: int, lists: int) -> None:
        if isinstance(value, dict):
            found.setdefault(path, set()).add("object")
            if depth < 2:
                for name, member in value.items():
                    if isinstance(member, dict | list):
                        note(member, f"{path}.{name}" if path else name, depth + 1, lists)
        elif isinstance(value, list) and not lists:
            inner = f"{path}.[]" if path else "[]"
            for element in value[:_ELEMENTS]:
                if isinstance(element, dict):
                    note(element, inner, depth + 1, 1)
                elif not isinstance(element, list):
                    found.setdefault(inner, set()).add("scalar")

    for step in steps:
        note(step.value, "", 0, 0)
    return found


def _tells_apart(name: str, lists: Sequence[Sequence[Mapping[str, Json]]]) -> bool:
    """Whether a field could be the key of what is listed: no list holds a value twice."""
    values = [[record[name] for record in listed if name in record] for listed in lists]
    if not all(can_name(value) for held in values for value in held):
        return False
    unique = sum(len(set(map(key_text, held))) == len(held) for held in values)
    return unique >= _UNIQUE * len(values)


def _said_at(steps: Sequence[Step]) -> str:
    """Where in an answer a text stands that was taken apart; "" for the whole answer."""
    for step in steps:
        if isinstance(step.value, dict) and FORM not in step.value and len(step.value) == 1:
            ((name, value),) = step.value.items()
            if isinstance(value, dict) and FORM in value:
                return str(name)
    return ""


def _same(one: Json, other: Json) -> bool:
    return one is not UNSET and one is not None and key_text(one) == key_text(other)
