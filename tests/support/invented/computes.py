"""Tools that only compute: from their arguments, or over what there is."""

from __future__ import annotations

from typing import Any

from .draft import Draft, Rule, quoted
from .kinds import Kind

__all__ = ["add_pure", "add_total"]

_TEXT: dict[str, Any] = {"type": "string"}
_NUMBER: dict[str, Any] = {"type": "number", "minimum": -50, "maximum": 500}


def add_pure(draft: Draft) -> None:
    """A function of the arguments."""
    random = draft.random
    factor, offset = random.choice([1.8, 2, 0.25, 12, 1.21]), random.choice([0, 32, -5, 100])
    takes, objects = random.choice(
        [
            ({"x": _NUMBER}, {"result": f"round(args.x * {factor} + {offset}, 2)"}),
            ({"a": _NUMBER, "b": _NUMBER}, {"sum": "round(args.a + args.b, 2)", "larger": "args.a > args.b"}),
            ({"text": _TEXT}, {"upper": "upperAscii(args.text)", "length": "size(args.text)"}),
            ({"first": _TEXT, "last": _TEXT}, {"full": "args.first + ' ' + args.last"}),
            ({"text": _TEXT}, {"words": "size(split(args.text, ' '))", "slug": "replace(args.text, ' ', '-')"}),
            (
                {"amount": _NUMBER, "plan": {"enum": ["basic", "plus", "max"]}},
                {"fee": "args.plan == 'basic' ? 5 : args.plan == 'plus' ? 9.5 : 20", "amount": "args.amount"},
            ),
            (
                {"values": {"type": "array", "items": {"type": "integer", "maximum": 50}}},
                {"total": "sum(args.values)", "many": "size(args.values)"},
            ),
        ]
    )
    rule: Rule = {"effect": "compute", "returns": {"object": objects}}
    features = {"compute"}
    if "x" in takes and draft.chance(0.6):
        error = draft.refusal("positive", argument="x", asked="{args.x}")
        rule["requires"] = [{"that": "args.x > 0", "error": error}]
        features.add("argument_check")
    if "x" in takes and draft.chance(draft.text_rate * 2):
        rule["returns"] = {"text": f"Result: {{{objects['result']}}}"}
        features.add("text")
    draft.add("compute", random.choice(["", "value", "thing"]), rule, features, takes=takes)


def add_total(draft: Draft, kind: Kind) -> None:
    """Counted and summed over a kind, perhaps over a part of it."""
    optional: dict[str, Any] = {}
    source = f"find('{kind.collection}', {{}})"
    if kind.status:
        state = draft.random.choice([kind.status, "only"])
        optional[state] = {"enum": list(kind.states)}
        source = f"(has(args.{state}) ? find('{kind.collection}', {{{quoted(kind.status)}: args.{state}}}) : {source})"
    answers = {draft.random.choice(["count", "n", "many"]): "size(those)"}
    if kind.amount:
        answers[f"total_{kind.amount}"] = f"round(sum(those.map(x, x.{kind.amount})), 2)"
    rule: Rule = {"effect": "compute", "let": {"those": source}, "returns": {"object": answers}}
    if draft.chance(draft.text_rate):
        rule["returns"] = {"text": ", ".join(f"{name}={{{source}}}" for name, source in answers.items())}
    draft.add("total", kind.collection, rule, {"aggregate"}, optional=optional)
