"""Tools of rarer kinds: keys of two parts, entities that move to another collection, keys that change."""

from __future__ import annotations

from .draft import Draft, Rule, quoted
from .kinds import Kind

__all__ = ["add_archive", "add_pairs", "add_rename"]


def add_pairs(draft: Draft, kind: Kind) -> None:
    """What is known by an entity and a name together: set, read, cleared."""
    random = draft.random
    noun = random.choice(["rating", "quota", "reading", "notch"])
    collection, slot = f"{noun}s_of_{kind.collection}", random.choice(["slot", "aspect", "month"])
    names = random.sample(["first", "second", "third", "jan", "feb", "mar", "east", "west"], 4)
    level = random.choice(["value", "points"])
    draft.collections[collection] = {"key": [kind.refers_as, slot], "noun": noun}
    draft.world[collection] = [
        {kind.refers_as: document[kind.key], slot: name, level: random.randint(1, 60)}
        for document in kind.documents
        for name in names[: random.randint(0, 2)]
    ]
    key = [f"args.{kind.refers_as}", f"args.{slot}"]
    takes = {kind.refers_as: kind.key_schema, slot: {"type": "string"}}
    values: dict[str, str | list[str]] = {kind.refers_as: kind.keys, slot: names}
    subject: Rule = {"collection": collection, "key": key}
    said = {"noun": noun, "key": f"{{args.{kind.refers_as}}} {{args.{slot}}}"}
    missing: Rule = {"missing": draft.refusal("missing", **said)} if draft.chance(0.8) else {}
    draft.add("read", noun, {"effect": "read", **subject, **missing}, {"read", "composite"}, takes=takes, values=values)
    known = f"exists('{kind.collection}', args.{kind.refers_as})"
    unknown = draft.refusal("missing", noun=kind.noun, key=f"{{args.{kind.refers_as}}}")
    setting: Rule = {
        "effect": "update",
        **subject,
        "upsert": True,
        "requires": [{"that": known, "error": unknown, "status": "not_found"}],
        "set": {level: f"args.{level}"},
    }
    if draft.chance(0.5):
        setting["returns"] = {"object": {"ok": "true", level: f"entity.{level}"}}
    draft.add(
        "update",
        noun,
        setting,
        {"update", "composite", "upsert", "reference"},
        takes={**takes, level: {"type": "integer", "minimum": 0, "maximum": 60}},
        values=values,
        gated=True,
    )
    if draft.chance(0.6):
        clearing: Rule = {"effect": "delete", **subject, **missing, "returns": {"object": {"cleared": f"args.{slot}"}}}
        draft.add("delete", noun, clearing, {"delete", "composite"}, takes=takes, values=values, gated=True)


def add_archive(draft: Draft, kind: Kind) -> None:
    """Out of one collection into another, where it can be looked at but not found by what looks in the first."""
    argument, collection = draft.key_argument(kind), f"old_{kind.collection}"
    draft.collections[collection] = {"key": kind.key, "noun": kind.noun}
    draft.world[collection] = []
    kept = [kind.key, *kind.plain_fields[:2]]
    put: Rule = {
        "effect": "create",
        "collection": collection,
        "key": f"args.{argument}",
        "set": {**{name: f"entity.{name}" for name in kept}, "reason": "default(args.reason, null)"},
    }
    rule: Rule = {
        "effect": "delete",
        "collection": kind.collection,
        "key": f"args.{argument}",
        "requires": [],
        "also": [put],
        "returns": {"object": {"archived": f"args.{argument}"}},
    }
    if kind.status:
        closed = kind.states[-1]
        said = {
            "noun": kind.noun,
            "key": f"{{args.{argument}}}",
            "state": f"{{entity.{kind.status}}}",
            "field": kind.status,
        }
        that = f"entity.{kind.status} != {quoted(closed)}"
        rule["requires"] = [{"that": that, "error": draft.refusal("status", **said), "status": "conflict"}]
    draft.add(
        "archive",
        kind.noun,
        rule | draft.missing(kind, argument),
        {"delete", "moved"},
        takes={argument: kind.key_schema},
        optional={"reason": {"enum": ["old", "wrong", "sold"]}},
        values={argument: kind.keys},
        gated=True,
    )
    draft.weights[list(draft.tools)[-1]] = 0.6
    listing: Rule = {"effect": "search", "collection": collection, "returns": {"wrap": "items", "count": "total"}}
    draft.add("search", collection, listing, {"search", "moved", "envelope", "count"})


def add_rename(draft: Draft, kind: Kind) -> None:
    """Another key for an entity whose key is the caller's."""
    argument = draft.key_argument(kind)
    fresh = draft.random.choice(["new_name", "to", f"new_{kind.key}"])
    names = ["fresh one", "alpha", "beta-2", "gamma", str(kind.documents[0][kind.key])]
    rule: Rule = {
        "effect": "update",
        "collection": kind.collection,
        "key": f"args.{argument}",
        "set": {kind.key: f"args.{fresh}"},
        "exists": f"{{args.{fresh}}} is taken",
    }
    answer, forms = draft.entity_answer(kind)
    draft.add(
        "rename",
        kind.noun,
        rule | draft.missing(kind, argument) | answer,
        {"update", "moved_key"} | forms,
        takes={argument: {"type": "string"}, fresh: {"type": "string"}},
        values={argument: kind.keys, fresh: [*names]},
        gated=True,
    )
