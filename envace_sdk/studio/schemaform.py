"""A form for the arguments of a tool, made from their schema, and the arguments that somebody typed into it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from envace_sdk.json import Json

__all__ = ["PREFIX", "Field", "fields", "typed_arguments"]

PREFIX: Final = "arg."
"""Before the name of a property, the name of its field."""

_MOST_FIELDS: Final = 60
_MOST_CHOICES: Final = 200

Kind = Literal["text", "number", "choice", "json"]


@dataclass(frozen=True, slots=True)
class Field:
    """One property. What is left empty is not sent."""

    name: str
    kind: Kind
    label: str
    """What the schema calls its type."""
    description: str
    is_required: bool
    choices: tuple[tuple[str, str], ...] = ()
    """Each value there is to choose from: its JSON, and how it is shown."""
    example: str = ""


def fields(schema: Mapping[str, Any]) -> list[Field]:
    """The properties of an object's schema, the required ones first; of what is no such schema, none."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return []
    given = schema.get("required")
    required = {name for name in given if isinstance(name, str)} if isinstance(given, list) else set()
    found = [_field(name, one, name in required) for name, one in properties.items()]
    return sorted(found, key=lambda one: not one.is_required)[:_MOST_FIELDS]


def typed_arguments(schema: Mapping[str, Any], form: Mapping[str, str]) -> dict[str, Json]:
    """What was typed, as arguments. Whether they are valid is for the tool to say.

    Raises:
        ValueError: a field that takes JSON holds something else; the message names it.
    """
    made: dict[str, Json] = {}
    for one in fields(schema):
        text = form.get(PREFIX + one.name, "")
        if text.strip():
            made[one.name] = _value(one, text)
    return made


def _value(one: Field, text: str) -> Json:
    if one.kind == "text":
        return text
    try:
        return json.loads(text, parse_constant=_no_json)
    except RecursionError:
        raise ValueError(f"{one.name} is nested too deeply") from None
    except ValueError as error:
        if one.kind == "number":
            return text  # and the tool says what is wrong with it
        raise ValueError(f"{one.name} is not JSON: {error}") from None


def _no_json(text: str) -> None:
    raise ValueError(f"{text} is not a number of JSON")


def _field(name: str, schema: Any, is_required: bool) -> Field:
    schema = schema if isinstance(schema, Mapping) else {}
    kind = _type(schema)
    description = schema.get("description")
    examples = schema.get("examples")
    example = examples[0] if isinstance(examples, list) and examples else schema.get("default", "")
    return Field(
        name=name,
        kind=_kind(kind, schema),
        label=kind or "any",
        description=description if isinstance(description, str) else "",
        is_required=is_required,
        choices=_choices(kind, schema),
        example=example if isinstance(example, str) else json.dumps(example, default=str),
    )


def _type(schema: Mapping[str, Any]) -> str:
    """The one type beside null that the schema allows; "" where it is not as simple as that."""
    types = schema.get("type")
    if types is None:
        branches = schema.get("anyOf")
        types = (
            [one.get("type") if isinstance(one, Mapping) else "" for one in branches]
            if isinstance(branches, list)
            else []
        )
    named = [one for one in (types if isinstance(types, list) else [types]) if one != "null"]
    return named[0] if len(named) == 1 and isinstance(named[0], str) else ""


def _kind(kind: str, schema: Mapping[str, Any]) -> Kind:
    if _choices(kind, schema):
        return "choice"
    if kind == "string":
        return "text"
    return "number" if kind in {"integer", "number"} else "json"


def _choices(kind: str, schema: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    if kind == "boolean":
        return (("true", "true"), ("false", "false"))
    found = [schema["const"]] if "const" in schema else schema.get("enum")
    if not isinstance(found, list) or len(found) > _MOST_CHOICES:
        return ()
    texts = (json.dumps(one, ensure_ascii=False, default=str) for one in found)
    return tuple((text, one if isinstance(one, str) else text) for one, text in zip(found, texts, strict=True))
