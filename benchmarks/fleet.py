"""The toolset and the world that benchmarks serve: 100 tools over 20 collections, 100,000 entities."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

COLLECTIONS = [
    "asset",
    "badge",
    "budget",
    "claim",
    "contract",
    "customer",
    "depot",
    "device",
    "driver",
    "invoice",
    "lease",
    "order",
    "parcel",
    "permit",
    "route",
    "sensor",
    "shipment",
    "ticket",
    "vehicle",
    "visit",
]
STATES = ("new", "open", "held", "done")
OWNERS = 500


def tools() -> list[dict[str, Any]]:
    """Five tools for each collection, with input and output schemas."""
    return [tool for noun in COLLECTIONS for tool in _tools(noun)]


def _tools(noun: str) -> Iterator[dict[str, Any]]:
    text = {"type": "string"}
    key = f"{noun}_id"
    fields = {
        "title": {"type": "string", "minLength": 1},
        "owner": text,
        "state": {"enum": list(STATES)},
        "amount": {"type": "number"},
        "tags": {"type": "array", "items": text},
        "place": {"type": "object", "properties": {"city": text, "zone": {"type": "integer"}}},
    }
    entity = {
        "type": "object",
        "properties": {key: text, **fields, "created_at": {"type": "string", "format": "date-time"}},
        "required": [key, *fields],
    }
    found = {
        "type": "object",
        "properties": {f"{noun}s": {"type": "array", "items": entity}, "total": {"type": "integer"}},
        "required": [f"{noun}s", "total"],
    }
    limit = {"type": "integer", "minimum": 1, "maximum": 100}
    yield _tool(f"get_{noun}", f"Get one {noun}.", {key: text}, [key], entity)
    yield _tool(f"create_{noun}", f"Create a {noun}.", fields, ["title", "owner"], entity)
    yield _tool(f"update_{noun}", f"Update a {noun}.", {key: text, **fields}, [key], entity)
    yield _tool(f"list_{noun}s", f"List {noun}s.", {"owner": text, "state": text, "limit": limit}, [], found)
    yield _tool(f"delete_{noun}", f"Delete a {noun}.", {key: text}, [key], {"type": "object"})


def _tool(name: str, says: str, properties: dict[str, Any], required: list[str], output: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"name": name, "description": says, "inputSchema": schema, "outputSchema": output}


def dynamics() -> str:
    """The rules, as YAML (of which JSON is a part)."""
    collections = {
        f"{noun}s": {"key": f"{noun}_id", "noun": noun, "mint": f"{noun[:2].upper()}-{{n}}"} for noun in COLLECTIONS
    }
    rules: dict[str, Any] = {}
    for noun in COLLECTIONS:
        about = {"collection": f"{noun}s", "key": f"args.{noun}_id"}
        rules[f"get_{noun}"] = {"effect": "read", **about}
        rules[f"create_{noun}"] = {
            "effect": "create",
            "collection": f"{noun}s",
            "set": {
                "state": "default(args.state, 'new')",
                "amount": "default(args.amount, 0)",
                "tags": "default(args.tags, [])",
                "place": "default(args.place, {})",
                "created_at": "now",
            },
            "take": ["title", "owner"],
        }
        rules[f"update_{noun}"] = {"effect": "update", **about, "take": "*"}
        rules[f"list_{noun}s"] = {
            "effect": "search",
            "collection": f"{noun}s",
            "filters": {"owner": {"field": "owner"}, "state": {"field": "state"}},
            "limit": "default(args.limit, 20)",
            "returns": {"wrap": f"{noun}s", "count": "total"},
        }
        rules[f"delete_{noun}"] = {"effect": "delete", **about, "returns": {"object": {"deleted": "true"}}}
    return json.dumps({"format": 1, "collections": collections, "tools": rules})


def entities(count: int) -> dict[str, list[dict[str, Any]]]:
    """Start data: `count` entities, evenly over the collections."""
    random = Random(0)
    return {
        f"{noun}s": [_entity(noun, n, random) for n in range(1, count // len(COLLECTIONS) + 1)] for noun in COLLECTIONS
    }


def _entity(noun: str, number: int, random: Random) -> dict[str, Any]:
    return {
        f"{noun}_id": f"{noun[:2].upper()}-{number}",
        "title": f"{noun} {number} {random.getrandbits(64):x}",
        "owner": f"user-{random.randrange(OWNERS)}",
        "state": random.choice(STATES),
        "amount": round(random.uniform(1, 5000), 2),
        "tags": [random.choice(("a", "b", "c")) for _ in range(random.randrange(4))],
        "place": {"city": random.choice(("Oslo", "Lagos", "Lima")), "zone": random.randrange(9)},
        "created_at": f"2025-{random.randrange(1, 13):02}-{random.randrange(1, 29):02}T08:00:00Z",
    }


def calls(count: int, per_collection: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """A mix of calls: 40 % reads, 20 % each of updates, creations and filtered lists."""
    random = Random(1)
    for number in range(count):
        noun = random.choice(COLLECTIONS)
        key = {f"{noun}_id": f"{noun[:2].upper()}-{random.randrange(3, per_collection + 1)}"}
        owner = f"user-{random.randrange(OWNERS)}"
        match random.choices(("get", "update", "create", "list"), (40, 20, 20, 20))[0]:
            case "get":
                yield f"get_{noun}", key
            case "update":
                yield f"update_{noun}", {**key, "state": random.choice(STATES), "amount": number}
            case "create":
                yield f"create_{noun}", {"title": f"made {number}", "owner": owner, "tags": ["x"]}
            case _:
                yield f"list_{noun}s", {"owner": owner}


def each_tool() -> Iterator[tuple[str, dict[str, Any]]]:
    """One call of every tool."""
    for noun in COLLECTIONS:
        first, last = ({f"{noun}_id": f"{noun[:2].upper()}-{number}"} for number in (1, 2))
        yield f"get_{noun}", first
        yield f"create_{noun}", {"title": "made", "owner": "user-1", "tags": ["x"]}
        yield f"update_{noun}", {**first, "state": "held"}
        yield f"list_{noun}s", {"owner": "user-1"}
        yield f"delete_{noun}", last


def write(folder: Path, count: int) -> None:
    """Write the toolset's folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tools.json").write_text(json.dumps({"tools": tools()}))
    (folder / "dynamics.yaml").write_text(dynamics())
    (folder / "world.json").write_text(json.dumps({"clock": "2026-01-01T09:00:00Z", "collections": entities(count)}))
