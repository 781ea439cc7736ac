"""Lists of things: which are in them, in what order, and what is shown of each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from envace_sdk.json import Json
from envace_sdk.world.infer.cel import literal, member

from .answering import Part
from .conditions import separate
from .evaluating import evaluate, holds
from .explain import Example, explain
from .filtering import learn_filters
from .listed import Case, Document, Pair
from .moments import Moment
from .positions import walk
from .sources import object_source
from .structure import Kind, Site, Structure

__all__ = ["Listing", "learn_listing"]

_MOST: Final = 400
_RIGHT: Final = 0.95
_HELD: Final = 0.85
_STRAY: Final = 0.3
_LENIENT: Final = 0.03
_TOLERANCE: Final = 0.02
_SHOWN: Final = 200
_SOME: Final = 3


@dataclass(slots=True)
class Listing:
    """A list of things as a rule."""

    kind: str
    site: Site
    filters: dict[str, dict[str, str]] = field(default_factory=dict)
    where: str = ""
    order_by: list[str] = field(default_factory=list)
    shown: list[str] | None = None
    """The fields that are shown; None: all."""
    item: str = ""
    """Where something else is shown of each thing: the expression of it, over `item`."""

    def fields(self) -> dict[str, Any]:
        """Which things and in what order, as members of a rule."""
        data = {"filters": self.filters, "where": self.where, "order_by": self.order_by}
        return {name: value for name, value in data.items() if value}

    def _item_key(self) -> str:
        """The key of the thing that an item of the list stands for, over `item`; "": the item has it as it is."""
        shown = member("item", (self.site.key,))
        join = self.site.join or shown
        return re.sub(rf"{re.escape(shown)}(?!\w)", "item", join) if self.site.bare else join

    def listed(self) -> str:
        """The list, as an expression in a rule that searches for it."""
        if self.item:
            return f"items.map(item, {self.item})"
        shown = {name: f"default({member('item', (name,))}, null)" for name in self.shown or ()}
        return f"items.map(item, {object_source(shown)})" if shown else "items"

    def returns(self, part: Part) -> dict[str, Any]:
        """The answer, as the member of a rule."""
        if self.item:
            stands_for = {"item_key": self._item_key()} if self._item_key() else {}
            if part.listing is not None:
                return {"value": self.listed(), **stands_for}
            told = {name: _source(inner, self.listed()) for name, inner in part.members.items()}
            return {"object": told, **stands_for}
        found: dict[str, Any] = {} if self.shown is None else {"fields": self.shown}
        extra: dict[str, str] = {}
        for name, inner in part.members.items():
            if inner.listing is not None:
                found["wrap"] = name
            elif inner.source == "total":
                found["count"] = name
            else:
                extra[name] = _source(inner, "items")
        return {**found, "extra": extra} if extra else found


def _source(part: Part, listed: str) -> str:
    """A part of the answer beside the list, or with the list in it."""
    if part.listing is not None:
        return listed
    if part.is_object:
        return object_source({name: _source(inner, listed) for name, inner in part.members.items()})
    return part.source or (literal(part.samples[0]) if part.samples else "null")


def learn_listing(moments: Sequence[Moment], site: Site, structure: Structure) -> Listing | None:
    """How a tool lists things, from the calls that succeeded and what was known to be there; None: that is not clear.

    Args:
        moments: those calls.
        site: where their answers show the things.
        structure: the kinds of things.
    """
    kind = structure.kinds[site.kind]
    listing = Listing(site.kind, site)
    cases = [Case(moment, site) for moment in moments]
    yes = [(case, document) for case in cases for document in case.listed]
    no: list[Pair] = [(case, document) for case in cases for document in case.others]
    if not yes:
        return None
    held = _holder(cases, yes, no) if kind.label or _are_paths(yes, kind.key) else ""
    if held:
        listing.where = held
        no = [(case, document) for case, document in no if holds(held, case.scope(document))]
    listing.filters, no = learn_filters(cases, yes, no)
    if no and not held:
        listing.where = _owned(yes, no) or _condition(yes, no)
        if not listing.where and len(no) > len(yes):
            return None
    listing.order_by = _order(cases)
    if site.bare or site.join:
        listing.item = _item(cases, site, kind)
        return listing
    names = list(dict.fromkeys(name for case in cases for record in case.records for name in record))
    if kind.key == site.key:
        listing.shown = names
    else:
        # The key is shown under another name than it is kept under: that cannot be said with field names alone.
        listing.item = object_source({n: member("item", (kind.key if n == site.key else n,)) for n in names})
    return listing


def _owned(yes: Sequence[Pair], no: Sequence[Pair]) -> str:
    """The condition that a field of a thing is what the session holds, judged by things of which that is known."""
    names = {
        (name, held)
        for case, document in yes[:_MOST]
        for name, value in document.items()
        for held, other in case.session.items()
        if isinstance(value, str) and value and value == other
    }
    best = ("", 0)
    for name, held in sorted(names):
        own = [[_is_owned(case, document, name, held) for case, document in pairs] for pairs in (yes, no)]
        mine, others = ([told for told in pairs if told is not None] for pairs in own)
        if len(others) < _SOME or sum(mine) < _RIGHT * len(mine) or sum(others) > (1 - _RIGHT) * len(others):
            continue
        if len(mine) >= _SOME and len(mine) > best[1]:
            source, place = member("entity", (name,)), member("session", (held,))
            unknown = (len(yes) - len(mine), len(no) - len(others))
            told = f"default({source}, {place})" if unknown[0] > unknown[1] else f"default({source}, null)"
            best = (f"{told} == {place}", len(mine))
    return best[0]


def _is_owned(case: Case, document: Document, name: str, held: str) -> bool | None:
    """Whether a field of a thing is what the session holds; None: not known."""
    if name not in document or case.session.get(held) is None:
        return None
    return bool(document[name] == case.session[held])


def _condition(yes: Sequence[Pair], no: Sequence[Pair]) -> str:
    """What tells things that are listed from others; "": nothing does."""
    found = separate(
        [case.scope(document) for case, document in yes[:_MOST]],
        [case.scope(document) for case, document in no[:_MOST]],
        tolerance=_LENIENT,
    )
    # The scope of a case offers the parent of a path by name: for that alone is what conditions can be made of.
    return re.sub(r"(?<![\w.\"'])parent\b", "dirname(entity.path)", found[0].source) if found else ""


def _are_paths(yes: Sequence[Pair], key: str) -> bool:
    return all("/" in str(document.get(key, "")) for _, document in yes)


def _holder(cases: Sequence[Case], yes: Sequence[Pair], no: Sequence[Pair]) -> str:
    """The condition that things lie directly, or anywhere, in the place that the call or the session is about."""
    paths: dict[str, None] = {}
    for case in cases:
        for name in ("args", "session"):
            held = case.moment.scope.get(name)
            for path, value in walk(held if isinstance(held, dict) else {}):
                if isinstance(value, str) and "/" in value and "[]" not in path:
                    paths[member(name, path.split("."))] = None
    best = ("", 0.0)
    for path in paths:
        for condition in (f"dirname(entity.path) == {path}", f"entity.path.startsWith({path} + '/')"):
            right = sum(holds(condition, case.scope(document)) for case, document in yes) / len(yes)
            wrong = sum(holds(condition, case.scope(document)) for case, document in no) / len(no) if no else 0.0
            if right >= _HELD and wrong <= _STRAY and right - wrong > best[1]:
                best = (condition, right - wrong)
    return best[0]


def _order(cases: Sequence[Case]) -> list[str]:
    """The field that the lists are sorted by, with `-` for downwards; none: the order in which things were made."""
    several = [case for case in cases if len(case.listed) > 1 and len(case.listed) == len(case.keys)]
    enough = _RIGHT * len(several)
    if sum(_is_in_order([key for key, _ in case.known], case.keys) for case in several) >= enough:
        return []
    for name in dict.fromkeys(name for case in several for document in case.listed for name in document):
        shown = [[document.get(name) for document in case.listed] for case in several]
        for sign in ("", "-"):
            if sum(_is_sorted(values, descending=bool(sign)) for values in shown) >= enough:
                return [sign + name]
    return []


def _is_in_order(known: Sequence[str], keys: Sequence[str]) -> bool:
    places = {key: place for place, key in enumerate(known)}
    found = [places[key] for key in keys if key in places]
    return found == sorted(found)


def _is_sorted(values: Sequence[Json], *, descending: bool) -> bool:
    try:
        return list(values) == sorted(values, reverse=descending)
    except TypeError:
        return False


def _item(cases: Sequence[Case], site: Site, kind: Kind) -> str:
    """What is shown of each thing, where that is not its fields."""
    examples = [
        Example({"item": dict(document)}, record[site.key] if site.bare else dict(record))
        for case in cases
        if len(case.listed) == len(case.records)
        for document, record in zip(case.listed, case.records, strict=True)
    ][:_SHOWN]
    base = f"basename(item.{kind.key})"
    if kind.label and site.bare:
        right = sum(evaluate(base, example.scope) == example.target for example in examples)
        if right >= _HELD * len(examples):
            return base
    if site.join and not site.bare:
        return _row(f"basename(item.{kind.key})", site, examples)
    found = explain(examples, tolerance=_TOLERANCE, limit=1) if examples else []
    if found:
        return _guarded(found[0].source, examples)
    return base if kind.label else member("item", (kind.key,))


def _row(base: str, site: Site, examples: Sequence[Example]) -> str:
    """Several fields of which one is the last part of the path."""
    shown = [example.target for example in examples if isinstance(example.target, dict)]
    names = dict.fromkeys(name for target in shown for name in target)
    fields = {n: base if n == site.key else _guarded(member("item", (n,)), examples) for n in names}
    return object_source(fields)


def _guarded(source: str, examples: Sequence[Example]) -> str:
    """The expression with what is usual in the place of fields that some things lack: one must not spoil the list."""
    for path in sorted(set(re.findall(r"item\.\w+", source)), key=lambda p: (-len(p), p)):
        name = path.removeprefix("item.")
        items = [example.scope["item"] for example in examples]
        held = [literal(item[name]) for item in items if isinstance(item, dict) and name in item]
        if held:
            usual = max(sorted(set(held)), key=held.count)
            source = re.sub(rf"(?<!default\(){re.escape(path)}\b", f"default({path}, {usual})", source)
    return source
