"""Tools that look things up, make, change and remove them."""

from __future__ import annotations

from typing import Any

from envace_sdk.json import Json

from .draft import Draft, Rule, quoted
from .kinds import Kind
from .words import WORDS

__all__ = ["add_create", "add_delete", "add_read", "add_search", "add_update"]


def add_read(draft: Draft, kind: Kind) -> None:
    """One entity by its key; now and then with something computed, or from the kind it refers to."""
    argument = draft.key_argument(kind)
    extra: dict[str, str] = {}
    features = {"read"}
    if kind.items and draft.chance(0.3):
        extra["many"] = f"size(entity.{kind.items.name})"
        features.add("size")
    if kind.other is not None and draft.chance(0.4):
        shown = kind.other.plain_fields[0]
        extra[f"{kind.other.noun}_{shown}"] = (
            f"default(get('{kind.other.collection}', entity.{kind.refers}).{shown}, null)"
        )
        features.add("joined")
    answer, forms = draft.entity_answer(kind, extra)
    rule: Rule = {"effect": "read", "collection": kind.collection, "key": f"args.{argument}"}
    schema = None if extra else draft.output_schema(kind, forms)
    draft.add(
        "read",
        kind.noun,
        rule | draft.missing(kind, argument) | answer,
        features | forms,
        takes={argument: kind.key_schema},
        values={argument: kind.keys},
        answers=schema,
    )


def add_search(draft: Draft, kind: Kind) -> None:
    """A list, narrowed by some arguments."""
    random = draft.random
    filters: dict[str, dict[str, Any]] = {}
    optional: dict[str, dict[str, Any]] = {}
    values: dict[str, str | list[Json]] = {}
    features = {"search"}
    for one in random.sample(kind.fields, 2):
        if one.kind == "text":
            argument = random.choice(["query", "text", f"{one.name}_like"])
            filters[argument] = {"field": one.name, "op": random.choice(["contains", "contains", "prefix", "iequals"])}
            optional[argument] = {"type": "string"}
            values[argument] = _beginnings(kind, one.name)
            features.add("substring")
        elif one.kind in ("integer", "number"):
            op = random.choice(["gte", "lte", "gt"])
            argument = f"{'max' if op == 'lte' else 'min'}_{one.name}"
            filters[argument], optional[argument] = {"field": one.name, "op": op}, one.schema()
            features.add("range")
        elif one.kind in ("word", "flag"):
            filters[one.name], optional[one.name] = {"field": one.name}, one.schema()
            features.add("filter")
    if kind.status and draft.chance(0.6):
        filters[kind.status], optional[kind.status] = {"field": kind.status}, {"enum": list(kind.states)}
        features.add("filter")
    if kind.items and draft.chance(0.5):
        filters["with"], optional["with"] = {"field": kind.items.name, "op": "has"}, {"enum": list(kind.items.choices)}
        features.add("holds")
    if kind.refers and kind.other is not None and draft.chance(0.6):
        filters[kind.refers], optional[kind.refers] = {"field": kind.refers}, kind.other.key_schema
        values[kind.refers] = kind.other.keys
        features.add("filter")
    rule: Rule = {"effect": "search", "collection": kind.collection, "filters": filters}
    if draft.chance(0.6):
        rule["order_by"] = [random.choice(["", "-"]) + random.choice([kind.key, *kind.plain_fields[1:3]])]
        features.add("ordered")
    if draft.chance(0.3):
        rule["limit"] = "default(args.limit, 3)"
        optional["limit"] = {"type": "integer", "minimum": 1, "maximum": 6}
        features.add("limit")
    answer, forms = _list_answer(draft, kind)
    draft.add("search", kind.collection, rule | answer, features | forms, optional=optional, values=values)


def _beginnings(kind: Kind, field: str) -> str:
    """Pieces of the texts that are there."""
    texts = f"find('{kind.collection}', {{}}).map(x, default(x.{field}, 'el'))"
    return f"{texts}.map(t, substring(t, 0, min([4, size(t)])))"


def _list_answer(draft: Draft, kind: Kind) -> tuple[Rule, set[str]]:
    random = draft.random
    shown = [kind.key, *random.sample(kind.everything[1:], min(3, len(kind.everything) - 1))]
    if draft.chance(draft.text_rate):
        told = kind.plain_fields[0]
        lines = f"join(items.map(i, '- ' + string(i.{kind.key}) + ': ' + default(i.{told}, '?')), '\\n')"
        nothing = random.choice([f"No {kind.collection} found.", "Nothing.", "0 results"])
        return {"returns": {"text": f"{{size(items) == 0 ? '{nothing}' : {lines}}}"}}, {"text", "rows"}
    returns: Rule = {} if draft.chance(0.4) else {"fields": shown}
    forms = {"projection"} if returns else set()
    if draft.chance(0.65):
        returns["wrap"] = random.choice([kind.collection, "items", "results"])
        forms.add("envelope")
        if draft.chance(0.5):
            returns["count"] = random.choice(["total", "count", "n"])
            forms.add("count")
    return {"returns": returns}, forms


def add_create(draft: Draft, kind: Kind) -> None:
    """A new entity: a minted key or the caller's, defaults, nulls, perhaps a reference that must hold."""
    random = draft.random
    takes, optional = draft.given(kind, kind.fields)
    values: dict[str, str | list[Json]] = {}
    strange: dict[str, list[Json]] = {}
    copied = [*takes]
    rule: Rule = {"effect": "create", "collection": kind.collection, "take": copied, "requires": []}
    made: dict[str, str] = {}
    features = {"create"}
    for one in kind.fields:
        if one.name in optional:
            made[one.name] = f"default(args.{one.name}, {quoted(one.default)})"
            features.add("nullable" if one.default is None else "defaulted")
    if not kind.mint:
        argument = draft.key_argument(kind)
        takes = {argument: {"type": "string"}, **takes}
        values[argument] = [*WORDS[5:15], "two words", kind.documents[0][kind.key]]
        rule["key"] = f"args.{argument}"
        if draft.chance(0.7):
            rule["exists"] = f"{{args.{argument}}} {random.choice(['is taken', 'already exists', 'exists'])}"
        features.add("given_key")
    else:
        features.add("counted_key" if "{n" in kind.mint or "{int" in kind.mint else "minted_key")
    if kind.refers and kind.other is not None:
        takes[kind.refers], values[kind.refers] = kind.other.key_schema, kind.other.keys
        copied.append(kind.refers)
        missing = draft.refusal("missing", noun=kind.other.noun, key=f"{{args.{kind.refers}}}")
        known = f"exists('{kind.other.collection}', args.{kind.refers})"
        rule["requires"].append({"that": known, "error": missing, "status": "not_found"})
        features.add("reference")
    checked = [one for one in kind.fields if one.name in takes and one.kind in ("integer", "number", "word")]
    if checked and draft.chance(0.6):
        _check_argument(draft, checked[0], takes, values, strange, rule)
        features.add("argument_check")
    made |= _beginning(draft, kind)
    if kind.when:
        features.add("now")
    if kind.refers and kind.other is not None and kind.other.tally:
        rule["also"] = [_one_more(kind)]
        features.add("side_effect")
    answer, forms = draft.entity_answer(kind)
    schema = draft.output_schema(kind, forms)
    draft.add(
        "create",
        kind.noun,
        {**rule, "set": made} | answer,
        features | forms,
        takes=takes,
        optional=optional,
        values=values,
        strange=strange,
        gated=True,
        answers=schema,
    )


def _beginning(draft: Draft, kind: Kind) -> dict[str, str]:
    """What callers cannot choose."""
    made = {kind.status: quoted(kind.states[0])} if kind.status else {}
    made |= {name: "0" for name in (kind.amount, kind.tally) if name}
    if kind.items:
        made[kind.items.name] = "[]"
    if kind.when:
        made[kind.when] = draft.random.choice(["now", "now", "date(now)"])
    return made


def _one_more(kind: Kind) -> Rule:
    if kind.other is None:
        raise AssertionError("nothing is referred to")
    tally = kind.other.tally
    change = {"effect": "update", "collection": kind.other.collection, "key": f"args.{kind.refers}"}
    return {**change, "set": {tally: f"target.{tally} + 1"}}


def _check_argument(draft: Draft, one: Any, takes: Any, values: Any, strange: Any, rule: Rule) -> None:
    asked = f"{{args.{one.name}}}"
    if one.kind == "word":
        takes[one.name] = {"type": "string"}
        values[one.name], strange[one.name] = list(one.choices), ["wrong", "nothing"]
        that = f"args.{one.name} in {quoted(list(one.choices))}"
        error = draft.refusal("choice", argument=one.name, choices=", ".join(one.choices), asked=asked)
    else:
        takes[one.name] = {**one.schema(), "minimum": -20}
        that = f"args.{one.name} > 0"
        error = draft.refusal("positive", argument=one.name, asked=asked)
    rule["requires"].append({"that": that, "error": error})


def add_update(draft: Draft, kind: Kind) -> None:
    """Some fields, those that are given."""
    argument = draft.key_argument(kind)
    fields = draft.random.sample(kind.fields, draft.random.randint(1, 3))
    rule: Rule = {
        "effect": "update",
        "collection": kind.collection,
        "key": f"args.{argument}",
        "take": [one.name for one in fields],
    }
    features = {"update"}
    if kind.tally and draft.chance(0.6):
        rule["set"] = {kind.tally: f"entity.{kind.tally} + 1"}
        features.add("counter")
    if kind.status and draft.chance(0.3):
        closed = kind.states[-1]
        said = {
            "noun": kind.noun,
            "key": f"{{args.{argument}}}",
            "state": f"{{entity.{kind.status}}}",
            "field": kind.status,
        }
        that = f"entity.{kind.status} != {quoted(closed)}"
        rule["requires"] = [{"that": that, "error": draft.refusal("status", **said), "status": "conflict"}]
        features.add("status")
    answer, forms = draft.entity_answer(kind)
    draft.add(
        "update",
        kind.noun,
        rule | draft.missing(kind, argument) | answer,
        features | forms,
        takes={argument: kind.key_schema},
        optional={one.name: one.schema() for one in fields},
        values={argument: kind.keys},
        gated=True,
    )


def add_delete(draft: Draft, kind: Kind, referring: Kind | None) -> None:
    """An entity that nothing needs any more."""
    argument = draft.key_argument(kind)
    rule: Rule = {"effect": "delete", "collection": kind.collection, "key": f"args.{argument}"}
    features = {"delete"}
    if referring is not None:
        own = f"find('{referring.collection}', {{'{referring.refers}': args.{argument}}})"
        said = {
            "noun": kind.noun,
            "key": f"{{args.{argument}}}",
            "many": f"{{size({own})}}",
            "others": referring.collection,
        }
        rule["requires"] = [
            {"that": f"size({own}) == 0", "error": draft.refusal("in_use", **said), "status": "conflict"}
        ]
        features.add("in_use")
    answer = draft.random.choice(
        [
            {"text": f"Deleted {kind.noun} {{args.{argument}}}"},
            {"object": {"deleted": "true", kind.key: f"entity.{kind.key}"}},
            {"object": {"ok": "true"}},
            {},
        ]
    )
    forms = {"text"} if "text" in answer else set()
    draft.add(
        "delete",
        kind.noun,
        rule | draft.missing(kind, argument) | {"returns": answer},
        features | forms,
        takes={argument: kind.key_schema},
        values={argument: kind.keys},
        gated=True,
    )
    draft.weights[list(draft.tools)[-1]] = 0.5
