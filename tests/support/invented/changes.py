"""Tools that change one thing in a way of its own: status machines, sums, lists, and what passes between two."""

from __future__ import annotations

from .draft import Draft, Rule, quoted
from .kinds import Kind

__all__ = ["add_append", "add_changes", "add_grow", "add_shrink", "add_status", "add_take_off", "add_transfer"]


def add_changes(draft: Draft, kind: Kind) -> None:
    """All that the kind's fields allow."""
    for step in range(len(kind.states) - 1):
        if draft.chance(0.75):
            add_status(draft, kind, step)
    if kind.amount:
        add_grow(draft, kind)
        add_shrink(draft, kind)
        if draft.chance(0.5):
            add_transfer(draft, kind)
    if kind.items:
        add_append(draft, kind)
        add_take_off(draft, kind)


def _subject(draft: Draft, kind: Kind, argument: str) -> Rule:
    rule: Rule = {"effect": "update", "collection": kind.collection, "key": f"args.{argument}", "requires": []}
    return rule | draft.missing(kind, argument)


def add_status(draft: Draft, kind: Kind, step: int) -> None:
    """From one state to the next, refused in any other."""
    argument = draft.key_argument(kind)
    before, after = kind.states[step], kind.states[step + 1]
    rule = _subject(draft, kind, argument)
    said = {
        "noun": kind.noun,
        "key": f"{{args.{argument}}}",
        "state": f"{{entity.{kind.status}}}",
        "field": kind.status,
    }
    that = f"entity.{kind.status} == {quoted(before)}"
    if step > 0 and draft.chance(0.3):
        that = f"entity.{kind.status} != {quoted(after)}"
    rule["requires"].append({"that": that, "error": draft.refusal("status", **said), "status": "conflict"})
    rule["set"] = {kind.status: quoted(after)}
    features = {"update", "status"}
    if kind.tally and draft.chance(0.4):
        rule["set"][kind.tally] = f"entity.{kind.tally} + 1"
        features.add("counter")
    answer, forms = draft.entity_answer(kind)
    draft.add(
        "advance",
        kind.noun,
        rule | answer,
        features | forms,
        takes={argument: kind.key_schema},
        values={argument: kind.keys},
        gated=True,
    )


def add_grow(draft: Draft, kind: Kind) -> None:
    """More of an amount; nothing or less than nothing is refused."""
    argument, by = draft.key_argument(kind), draft.random.choice(["amount", "by", "quantity_given"])
    rule = _subject(draft, kind, argument)
    error = draft.refusal("positive", argument=by, asked=f"{{args.{by}}}")
    rule["requires"].append({"that": f"args.{by} > 0", "error": error})
    rule["set"] = {kind.amount: f"round(entity.{kind.amount} + args.{by}, 2)"}
    answer, forms = draft.entity_answer(kind)
    draft.add(
        "grow",
        kind.noun,
        rule | answer,
        {"update", "sum", "argument_check"} | forms,
        takes={argument: kind.key_schema, by: {"type": "number", "minimum": -10, "maximum": 120}},
        values={argument: kind.keys},
        gated=True,
    )


def add_shrink(draft: Draft, kind: Kind) -> None:
    """Less of an amount, as long as there is enough."""
    argument, by = draft.key_argument(kind), draft.random.choice(["amount", "by", "taken"])
    rule = _subject(draft, kind, argument)
    said = {
        "noun": kind.noun,
        "key": f"{{args.{argument}}}",
        "field": kind.amount,
        "have": f"{{entity.{kind.amount}}}",
        "asked": f"{{args.{by}}}",
    }
    enough = f"args.{by} <= entity.{kind.amount}"
    rule["requires"].append({"that": enough, "error": draft.refusal("short", **said), "status": "conflict"})
    rule["set"] = {kind.amount: f"round(entity.{kind.amount} - args.{by}, 2)"}
    answer, forms = draft.entity_answer(kind)
    draft.add(
        "shrink",
        kind.noun,
        rule | answer,
        {"update", "sum", "entity_check"} | forms,
        takes={argument: kind.key_schema, by: {"type": "number", "minimum": 0, "maximum": 150}},
        values={argument: kind.keys},
        gated=True,
    )


def add_transfer(draft: Draft, kind: Kind) -> None:
    """From one entity to another of the same kind."""
    giver, taker = draft.random.choice([("source", "target"), ("from_one", "to_one"), ("giver", "taker")])
    unknown = draft.refusal("missing", noun=kind.noun, key=f"{{args.{giver}}}")
    unknown_too = unknown.replace(f"args.{giver}", f"args.{taker}")
    said = {
        "noun": kind.noun,
        "key": f"{{args.{giver}}}",
        "field": kind.amount,
        "have": f"{{one.{kind.amount}}}",
        "asked": "{args.amount}",
    }
    change = {"effect": "update", "collection": kind.collection}
    rule: Rule = {
        "effect": "compute",
        "let": {"one": f"get('{kind.collection}', args.{giver})", "two": f"get('{kind.collection}', args.{taker})"},
        "requires": [
            {"that": "one != null", "error": unknown, "status": "not_found"},
            {"that": "two != null", "error": unknown_too, "status": "not_found"},
            {"that": f"args.{giver} != args.{taker}", "error": "Both are the same"},
            {
                "that": f"one.{kind.amount} >= args.amount",
                "error": draft.refusal("short", **said),
                "status": "conflict",
            },
        ],
        "also": [
            {**change, "key": f"args.{giver}", "set": {kind.amount: f"round(target.{kind.amount} - args.amount, 2)"}},
            {**change, "key": f"args.{taker}", "set": {kind.amount: f"round(target.{kind.amount} + args.amount, 2)"}},
        ],
        "returns": {"object": {"moved": "args.amount", "left": f"round(one.{kind.amount} - args.amount, 2)"}},
    }
    draft.add(
        "transfer",
        kind.collection,
        rule,
        {"transfer", "sum", "side_effect", "reference", "entity_check"},
        takes={
            giver: kind.key_schema,
            taker: kind.key_schema,
            "amount": {"type": "number", "minimum": 1, "maximum": 80},
        },
        values={
            giver: kind.keys,
            taker: f"find('{kind.collection}', {{}}).map(x, x.{kind.key}).filter(k, k != args.{giver})",
        },
        gated=True,
    )


def add_append(draft: Draft, kind: Kind) -> None:
    """One more in a list, if it is not there and there is room."""
    if kind.items is None:
        raise AssertionError("no list")
    argument, what = draft.key_argument(kind), draft.random.choice(["value", "entry", "item"])
    held = f"entity.{kind.items.name}"
    rule = _subject(draft, kind, argument)
    said = {"noun": kind.noun, "key": f"{{args.{argument}}}", "field": kind.items.name, "asked": f"{{args.{what}}}"}
    features = {"update", "append"}
    if draft.chance(0.6):
        twice = draft.refusal("twice", **said)
        rule["requires"].append({"that": f"!(args.{what} in {held})", "error": twice, "status": "conflict"})
        features.add("membership")
    if draft.chance(0.4):
        full = draft.refusal("full", **said, most="3")
        rule["requires"].append({"that": f"size({held}) < 3", "error": full, "status": "conflict"})
        features.add("room")
    rule["append"] = {kind.items.name: f"args.{what}"}
    extra = {"size": f"size({held})"} if draft.chance(0.4) else {}
    answer, forms = draft.entity_answer(kind, extra)
    draft.add(
        "append",
        kind.noun,
        rule | answer,
        features | forms,
        takes={argument: kind.key_schema, what: {"type": "string"}},
        values={argument: kind.keys, what: list(kind.items.choices)},
        gated=True,
    )


def add_take_off(draft: Draft, kind: Kind) -> None:
    """Out of a list what is in it."""
    if kind.items is None:
        raise AssertionError("no list")
    argument, what = draft.key_argument(kind), draft.random.choice(["value", "entry", "item"])
    held = f"entity.{kind.items.name}"
    rule = _subject(draft, kind, argument)
    said = {"noun": kind.noun, "key": f"{{args.{argument}}}", "field": kind.items.name, "asked": f"{{args.{what}}}"}
    absent = draft.refusal("absent", **said)
    rule["requires"].append({"that": f"args.{what} in {held}", "error": absent, "status": "conflict"})
    rule["remove"] = {kind.items.name: f"args.{what}"}
    answer, forms = draft.entity_answer(kind)
    there = f"flatten(find('{kind.collection}', {{'{kind.key}': args.{argument}}}).map(x, x.{kind.items.name}))"
    draft.add(
        "take_off",
        kind.noun,
        rule | answer,
        {"update", "take_off", "membership"} | forms,
        takes={argument: kind.key_schema, what: {"type": "string"}},
        values={argument: kind.keys, what: f"{there} + {quoted(list(kind.items.choices[:2]))}"},
        gated=True,
    )
