"""What an answer, or an entity, looks like where no rule and no recording says it in full.

In order of trust: the tool's own output schema; what was recorded of it; what its siblings show; what its description
says it returns; and last an acknowledgement that carries the arguments.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from envace_sdk.json import UNSET, Json, Unset
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import Tool
from envace_sdk.world.dynamics import Dynamics, ToolRule

from .samples import sample_schema

__all__ = ["TRUST", "answer_schema", "carried", "entity_schema", "follow", "properties", "shown_entity"]

TRUST = {"read": 0, "create": 1, "update": 2, "search": 3}
"""Whose output schema shows an entity best: a read shows it whole, a search may cut it."""

_RETURNS = re.compile(r"\breturns?\b(?:\s+(?:an?|the|its|their|each|all))*\s+([^.;:\n(]{3,120})", re.IGNORECASE)
_SEPARATOR = re.compile(r"\s*,\s*(?:and\s+)?|\s+and\s+")
_ARTICLE = re.compile(r"^(?:an?|the|its|their|any)\s+", re.IGNORECASE)


def entity_schema(
    collection: str, tools: Iterable[Tool], dynamics: Dynamics, known: Sequence[Mapping[str, Json]]
) -> dict[str, Json]:
    """The schema of one entity of `collection`; `known` are entities that the world already holds."""
    rules = [
        (tool, rule) for tool in tools if (rule := dynamics.tools.get(tool.name)) and rule.collection == collection
    ]
    keys = dynamics.collections[collection].key_fields
    for tool, rule in sorted(rules, key=lambda pair: TRUST.get(pair[1].effect, 9)):
        shown = shown_entity(tool, rule)
        if shown is not None:
            return shown
    if known:
        return sample_schema(known)
    return _from_arguments(rules, keys)


def answer_schema(tool: Tool, fixtures: Iterable[Fixture]) -> Json:
    """The schema of what `tool` answers; True when nothing at all is known of it."""
    if tool.output_schema is not None:
        return tool.output_schema
    seen = [f.result.value() for f in fixtures if f.call.name == tool.name and not f.result.is_error]
    if seen:
        return sample_schema(seen)
    echoed = {name: schema for name, schema in properties(tool.input_schema).items() if _is_scalar(schema)}
    told: dict[str, Json] = {name: {} for name in _described_fields(tool.description)}
    told = told or {"status": {"const": "ok"}}
    return {"type": "object", "properties": {**echoed, **told}, "required": list(told)}


def carried(schema: Json, arguments: Mapping[str, Json]) -> Json | Unset:
    """The arguments that an answer of this schema carries, as objects and lists under the same names; UNSET if none.

    Single values are carried by name wherever they stand, as the generator's hints.
    """
    fields = properties(follow(schema, schema)) if isinstance(schema, dict) else {}
    found = {name: value for name, value in arguments.items() if name in fields and isinstance(value, dict | list)}
    return found or UNSET


def shown_entity(tool: Tool, rule: ToolRule) -> dict[str, Json] | None:
    """The part of the tool's output schema that describes one entity, with the definitions it refers to."""
    root = tool.output_schema
    if not isinstance(root, dict) or rule.effect not in TRUST or rule.returns.object or rule.returns.text:
        return None
    part: Json = root
    if rule.returns.wrap is not None:
        part = properties(follow(part, root)).get(rule.returns.wrap)
    if rule.effect == "search":
        part = follow(part, root)
        part = part.get("items") if isinstance(part, dict) else None
    if not isinstance(part, dict) or not properties(follow(part, root)):
        return None
    definitions = {name: root[name] for name in ("$defs", "definitions", "$schema") if name in root}
    return {**definitions, **part}


def follow(schema: Json, root: Mapping[str, Json]) -> Json:
    """The schema that a local `$ref` names; the schema itself where it has none, or a chain of them is too long."""
    for _ in range(8):
        if not isinstance(schema, dict) or not isinstance(ref := schema.get("$ref"), str) or not ref.startswith("#/"):
            break
        target: Json = root
        for step in ref[2:].split("/"):
            target = target.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(target, dict) else None
        schema = target
    return schema


def _from_arguments(rules: Sequence[tuple[Tool, ToolRule]], keys: Sequence[str]) -> dict[str, Json]:
    fields: dict[str, Json] = {key: {} for key in keys}
    for tool, rule in rules:
        arguments = properties(tool.input_schema)
        if rule.effect in {"create", "update"}:
            taken = rule.take if isinstance(rule.take, dict) else {name: name for name in _taken(rule, arguments)}
            for field, source in taken.items():
                if isinstance(schema := arguments.get(source), dict):
                    fields[field] = fields.get(field) or schema
        elif rule.effect == "search":
            for argument, narrowing in rule.filters.items():
                if narrowing.op == "equals" and isinstance(schema := arguments.get(argument), dict):
                    fields[narrowing.field] = fields.get(narrowing.field) or schema
        else:
            for key in keys:
                if isinstance(schema := arguments.get(key), dict):
                    fields[key] = fields.get(key) or schema
    fields = {name: schema for name, schema in fields.items() if "." not in name}
    if len(fields) == len(keys):
        fields |= {"name": {"type": "string"}, "status": {"type": "string"}}
    return {"type": "object", "properties": fields, "required": list(fields)}


def _taken(rule: ToolRule, arguments: Mapping[str, Json]) -> Iterable[str]:
    return arguments if rule.take == "*" else rule.take


def _described_fields(description: str) -> list[str]:
    """Field names out of a phrase such as "Returns the order id, total price and status"."""
    match = _RETURNS.search(description)
    if match is None:
        return []
    names = []
    for phrase in _SEPARATOR.split(match.group(1).strip()):
        words = re.findall(r"[A-Za-z][A-Za-z0-9_]*", _ARTICLE.sub("", phrase))
        if not 1 <= len(words) <= 3:
            return []
        names.append("_".join(words).lower())
    return list(dict.fromkeys(names))


def properties(schema: Json) -> Mapping[str, Json]:
    """The properties that an object schema names itself."""
    found = schema.get("properties") if isinstance(schema, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _is_scalar(schema: Json) -> bool:
    return isinstance(schema, Mapping) and schema.get("type") in ("string", "integer", "number", "boolean")
