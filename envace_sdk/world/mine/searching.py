"""Lists of things: which are in them, in what order, and what is shown of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from envace_sdk.json import UNSET, Json
from envace_sdk.world.infer.cel import literal, member
from envace_sdk.world.keys import get_path, key_text

from .answering import Part
from .conditions import separate
from .evaluating import evaluate
from .explain import Example, explain
from .positions import walk
from .structure import Site, Structure, records
from .tracking import Moment
from .values import same

__all__ = ["Listing", "learn_listing"]

_ENOUGH: Final = 2
_MOST: Final = 400
_RIGHT: Final = 0.95
_REJECTS: Final = 0.3
_HELD: Final = 0.85
_STRAY: Final = 0.3

Document = Mapping[str, Json]
_Pair = tuple["_Case", Document]


@dataclass(slots=True)
class Listing:
    """A list of things as a rule."""

    kind: str
    site: Site
    filters: dict[str, dict[str, str]] = field(default_factory=dict)
    where: str = ""
    order_by: list[str] = field(default_factory=list)
    limit: str = ""
    shown: list[str] | None = None
    """The fields that are shown; None: all."""
    item: str = ""
    """Where something else is shown of each thing: the expression of it, over `item`."""
    inner: str = ""

    def fields(self) -> dict[str, Any]:
        """As members of a rule."""
        data: dict[str, Any] = {
            "filters": self.filters,
            "where": self.where,
            "order_by": self.order_by,
            "limit": self.limit,
        }
        return {name: value for name, value in data.items() if value}

    def expression(self) -> str:
        """The list as one expression, for an answer that holds several."""
        conditions = [
            f"(default(args.{path}, null) == null || {_condition(path, told)})" for path, told in self.filters.items()
        ]
        if self.where:
            conditions.append(f"({self.where})" if conditions else self.where)
        found = f"find('{self.kind}', {{}})"
        if conditions:
            found += f".filter(entity, {' && '.join(conditions)})"
        if self.order_by:
            found = f"sort({found}, '{self.order_by[0].lstrip('-')}')"
        if self.item:
            return f"{found}.map(item, {self.item})"
        shown = ", ".join(f"{literal(name)}: default({member('item', (name,))}, null)" for name in self.shown or ())
        return f"{found}.map(item, {{{shown}}})" if shown else found

    def listed(self) -> str:
        """The list, in a rule that searches for it."""
        if self.item:
            return f"items.map(item, {self.item})"
        shown = ", ".join(f"{literal(name)}: default({member('item', (name,))}, null)" for name in self.shown or ())
        return f"items.map(item, {{{shown}}})" if shown else "items"

    def returns(self, part: Part) -> dict[str, Any]:
        """The answer, as the member of a rule."""
        if self.item:
            listed = f"items.map(item, {self.item})"
            if part.listing is not None:
                return {"value": listed}
            return {"object": {name: self._inner(inner, listed) for name, inner in part.members.items()}}
        found: dict[str, Any] = {}
        if self.shown is not None:
            found["fields"] = self.shown
        if part.is_object:
            extra: dict[str, str] = {}
            for name, inner in part.members.items():
                if inner.listing is not None:
                    found["wrap"] = name
                elif inner.source == "total":
                    found["count"] = name
                else:
                    extra[name] = self._inner(inner, "items")
            if extra:
                found["extra"] = extra
        return found

    def _inner(self, part: Part, listed: str) -> str:
        if part.listing is not None:
            return listed
        if part.is_object:
            return "{" + ", ".join(f"{literal(n)}: {self._inner(p, listed)}" for n, p in part.members.items()) + "}"
        return part.source or (literal(part.samples[0]) if part.samples else "null")


def learn_listing(moments: Sequence[Moment], site: Site, structure: Structure) -> Listing | None:
    """How a tool lists things, from the calls that succeeded and what was known to be there."""
    listing = Listing(site.kind, site)
    cases = [_Case(moment, site) for moment in moments]
    yes = [(case, document) for case in cases for document in case.listed]
    no = [(case, document) for case in cases for document in case.others]
    if not yes:
        return None
    held = _holder(cases, yes, no) if structure.kinds[site.kind].label or _has_paths(yes, structure, site) else ""
    if held:
        listing.where = held
        no = [(case, document) for case, document in no if evaluate(held, case.scope(document)) is True]
    no = _filters(listing, cases, yes, no)
    if no and not held:
        found = separate(
            [case.scope(document) for case, document in yes[:_MOST]],
            [case.scope(document) for case, document in no[:_MOST]],
            tolerance=0.03,
        )
        if found:
            listing.where = (
                found[0].source.replace("parent", "dirname(entity.path)")
                if structure.kinds[site.kind].label
                else found[0].source
            )
        elif len(no) > len(yes):
            return None
    _order(listing, cases)
    _shown(listing, cases, structure)
    return listing


def _has_paths(yes: Sequence[tuple[_Case, Document]], structure: Structure, site: Site) -> bool:
    key = structure.kinds[site.kind].key
    return all("/" in str(document.get(key, "")) for _, document in yes)


def _holder(cases: Sequence[_Case], yes: Sequence[_Pair], no: Sequence[_Pair]) -> str:
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
            right = [evaluate(condition, case.scope(document)) is True for case, document in yes]
            wrong = [evaluate(condition, case.scope(document)) is True for case, document in no]
            score = sum(right) / len(right) - (sum(wrong) / len(wrong) if wrong else 0.0)
            if sum(right) >= _HELD * len(right) and sum(wrong) <= _STRAY * len(wrong) and score > best[1]:
                best = (condition, score)
    return best[0]


class _Case:
    """One call, the things it listed, and those it did not."""

    def __init__(self, moment: Moment, site: Site) -> None:
        self.moment = moment
        self.listed: list[Document] = []
        self.records: list[Mapping[str, Json]] = []
        keys: list[str] = []
        for key, record in records(site, moment.step):
            real = evaluate(site.join, {**moment.scope, "item": {site.key: key}}) if site.join else key
            if real is UNSET:
                continue
            keys.append(key_text(real))
            self.records.append(record)
            held = moment.things.get(site.kind, {}).get(key_text(real))
            if held is not None:
                self.listed.append(held)
        self.keys = keys
        self.others = [doc for key, doc in moment.things.get(site.kind, {}).items() if key not in set(keys)]
        self.known = [(key, doc) for key, doc in moment.things.get(site.kind, {}).items()]

    def scope(self, document: Document) -> dict[str, Json]:
        scope = {"args": self.moment.scope["args"], "session": self.moment.scope["session"], "entity": dict(document)}
        if isinstance(document.get("path"), str):
            scope["parent"] = str(document["path"]).rpartition("/")[0] or "/"
        return scope


_WRITTEN: Final = {
    "equals": "{field} == {given}",
    "iequals": "lowerAscii({field}) == lowerAscii({given})",
    "has": "{given} in {field}",
    "in": "{field} in {given}",
    "prefix": "lowerAscii({field}).startsWith(lowerAscii({given}))",
    "contains": "lowerAscii(string({field})).contains(lowerAscii({given}))",
    "gte": "{field} >= {given}",
    "lte": "{field} <= {given}",
    "gt": "{field} > {given}",
    "lt": "{field} < {given}",
}


def _condition(path: str, told: Mapping[str, str]) -> str:
    field_source = f"default({member('entity', told['field'].split('.'))}, null)"
    return _WRITTEN[told.get("op", "equals")].format(field=field_source, given=member("args", path.split(".")))


def _lower(value: Json) -> str:
    return str(value).lower()


_OPERATORS: dict[str, Callable[[Json, Json], bool]] = {
    "equals": lambda held, given: same(held, given),
    "iequals": lambda held, given: isinstance(held, str) and isinstance(given, str) and held.lower() == given.lower(),
    "has": lambda held, given: isinstance(held, list) and given in held,
    "prefix": lambda held, given: (
        isinstance(held, str) and isinstance(given, str) and _lower(held).startswith(_lower(given))
    ),
    "contains": lambda held, given: (
        isinstance(held, str | list) and isinstance(given, str) and _lower(given) in _lower(held)
    ),
    "in": lambda held, given: isinstance(given, list) and held in given,
    "gte": lambda held, given: _ordered(held, given) and held >= given,
    "lte": lambda held, given: _ordered(held, given) and held <= given,
    "gt": lambda held, given: _ordered(held, given) and held > given,
    "lt": lambda held, given: _ordered(held, given) and held < given,
}


def _ordered(held: Json, given: Json) -> bool:
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (held, given))
    return numbers or (isinstance(held, str) and isinstance(given, str))


def _filters(listing: Listing, cases: Sequence[_Case], yes: list[_Pair], no: list[_Pair]) -> list[_Pair]:
    """Learn what each argument narrows; what is still to be explained."""
    arguments = dict.fromkeys(
        path for case in cases for path, _ in walk(dict(case.moment.step.args)) if "[]" not in path
    )
    for argument in arguments:
        given = [(c, d, v) for c, d in yes if (v := get_path(c.moment.step.args, argument)) not in (UNSET, None)]
        others = [(c, d, v) for c, d in no if (v := get_path(c.moment.step.args, argument)) not in (UNSET, None)]
        if len(given) + len(others) < _ENOUGH:
            continue
        best: tuple[tuple[float, int], str, str] | None = None
        fields = dict.fromkeys(name for _, d, _ in [*given, *others] for name in d)
        for name in fields:
            for rank, (operator, test) in enumerate(_OPERATORS.items()):
                right = [test(d[name], v) for _, d, v in given if name in d]
                if not right or sum(right) < _RIGHT * len(right):
                    continue
                rejected = [not test(d[name], v) for _, d, v in others if name in d]
                share = sum(rejected) / len(others) if others else 0.0
                if share < _REJECTS:
                    continue
                if best is None or (-share, rank) < best[0]:
                    best = ((-share, rank), name, operator)
        if best is None:
            continue
        _, name, operator = best
        listing.filters[argument] = {"field": name} if operator == "equals" else {"field": name, "op": operator}
        test = _OPERATORS[operator]
        no = [
            (c, d)
            for c, d in no
            if (v := get_path(c.moment.step.args, argument)) in (UNSET, None) or name not in d or test(d[name], v)
        ]
    return no


def _guarded(source: str, examples: Sequence[Example]) -> str:
    """The expression with what is usual in place of fields that some things lack."""
    import re

    for path in sorted(set(re.findall(r"item\.\w+", source)), key=lambda p: (-len(p), p)):
        name = path.removeprefix("item.")
        held = [literal(e.scope["item"][name]) for e in examples if isinstance(e.scope["item"], dict) and name in e.scope["item"]]
        if len(held) > 0:
            usual = max(sorted(set(held)), key=held.count)
            source = re.sub(rf"(?<!default\(){re.escape(path)}\b(?!,)", f"default({path}, {usual})", source)
    return source


def _order(listing: Listing, cases: Sequence[_Case]) -> None:
    several = [case for case in cases if len(case.listed) > 1 and len(case.listed) == len(case.keys)]
    if not several:
        return
    created = sum(_is_in_order([key for key, _ in case.known], case.keys) for case in several)
    if created >= _RIGHT * len(several):
        return
    fields = dict.fromkeys(name for case in several for document in case.listed for name in document)
    for name in fields:
        for sign in ("", "-"):
            right = sum(
                _is_sorted([document.get(name) for document in case.listed], descending=bool(sign)) for case in several
            )
            if right >= _RIGHT * len(several):
                listing.order_by = [sign + name]
                return


def _is_in_order(known: Sequence[str], keys: Sequence[str]) -> bool:
    places = {key: place for place, key in enumerate(known)}
    found = [places[key] for key in keys if key in places]
    return found == sorted(found)


def _is_sorted(values: Sequence[Json], *, descending: bool) -> bool:
    try:
        return list(values) == sorted(values, reverse=descending)
    except TypeError:
        return False


def _shown(listing: Listing, cases: Sequence[_Case], structure: Structure) -> None:
    site = listing.site
    kind = structure.kinds[site.kind]
    if site.bare or site.join:
        examples = [
            Example({"item": dict(document)}, record[site.key] if site.bare else dict(record))
            for case in cases
            if len(case.listed) == len(case.records)
            for document, record in zip(case.listed, case.records, strict=True)
        ][:200]
        if kind.label and site.bare:
            named = f"basename(item.{kind.key})"
            if sum(evaluate(named, e.scope) == e.target for e in examples) >= _HELD * len(examples):
                listing.item = named
                return
        found = explain(examples, tolerance=0.02, limit=1) if examples else []
        listing.item = (
            found[0].source if found else (f"basename(item.{kind.key})" if kind.label else member("item", (kind.key,)))
        )
        return
    names = list(dict.fromkeys(name for case in cases for record in case.records for name in record))
    listing.shown = [kind.key if name == site.key else name for name in names]
    if kind.key != site.key:
        pairs = ", ".join(f"{literal(n)}: {member('item', (kind.key if n == site.key else n,))}" for n in names)
        listing.item, listing.shown = "{" + pairs + "}", None
