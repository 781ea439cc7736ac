"""Legal definitions on which known clients trip: each rule stands for a bug report against a client in wide use.

All of these are served. A rule speaks once a tool, at its first occurrence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from envace_sdk.json import Json

from .finding import Finding, warning
from .references import is_recursive, references
from .walk import Path, Position, positions

__all__ = ["client_findings"]

_MODEL_API_NAME: Final = re.compile(r"[A-Za-z0-9_-]+")
_MCP_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_COMPOSITION: Final = ("allOf", "anyOf", "oneOf", "not", "if")
_TYPED: Final = ("type", "$ref", "$dynamicRef", "enum", "const", *_COMPOSITION)


def client_findings(definition: Mapping[str, Json]) -> Iterator[Finding]:
    """Warnings about a definition that passed quarantine."""
    yield from _name(definition["name"])
    if not definition.get("description"):
        yield warning((), "no-description", "there is no description: models choose tools by it", "describe the tool")
    schema = definition["inputSchema"]
    yield from _input_root(schema)
    yield from _input_places(schema)
    for field in ("inputSchema", "outputSchema"):
        if isinstance(definition.get(field), dict):
            yield from _either(definition[field], field)
    if isinstance(definition.get("outputSchema"), dict):
        yield from _output(definition["outputSchema"])


def _name(name: str) -> Iterator[Finding]:
    if not _MCP_NAME.fullmatch(name):
        yield warning(
            ("name",),
            "name",
            "MCP asks for 1 to 128 letters, digits, _ - or . in a name; clients with a stricter check drop the tool",
            "rename the tool",
        )
    elif not _MODEL_API_NAME.fullmatch(name):
        yield warning(
            ("name",),
            "name-characters",
            "model APIs take only letters, digits, _ and - in a name: some clients fail on others (GitHub Copilot CLI)",
            "replace the dots",
        )
    if len(name) > 64:
        yield warning(
            ("name",),
            "name-length",
            "longer than 64 characters, with the prefix of a client or without: model APIs refuse it (VS Code)",
            "shorten the name",
        )


def _input_root(schema: Mapping[str, Json]) -> Iterator[Finding]:
    if "properties" not in schema:
        yield warning(
            ("inputSchema",),
            "no-properties",
            "an object without `properties`: some model APIs refuse it",
            'add "properties": {}',
        )
    if found := next((keyword for keyword in _COMPOSITION if keyword in schema), None):
        yield warning(
            ("inputSchema", found),
            "root-composition",
            f"{found} at the root: some clients drop the tool, or see no arguments (Claude Code, Anthropic's API)",
            "say it in the description, or one level deeper",
        )
    known, required = schema.get("properties"), schema.get("required")
    if isinstance(known, dict) and isinstance(required, list):
        missing = next((index for index, name in enumerate(required) if name not in known), None)
        if missing is not None:
            yield warning(
                ("inputSchema", "required", missing),
                "required-unknown",
                f"{required[missing]!r} is required but not among the properties: Gemini refuses such a tool",
                "define the property",
            )


def _input_places(schema: Mapping[str, Json]) -> Iterator[Finding]:
    required = schema.get("required")
    places = tuple(positions(schema))
    for here in places:
        if here.path[:-1] != ("properties",) or not isinstance(required, list) or here.path[-1] not in required:
            continue
        if isinstance(here.schema, dict) and "$ref" in here.schema and "type" not in here.schema:
            yield warning(
                ("inputSchema", *here.path),
                "ref-property",
                "a required property that is only a $ref: GitHub Copilot CLI sends nothing for it",
                "repeat its type beside the $ref",
            )
            break
    yield from _first(places, _is_untyped, _untyped)
    yield from _first(places, _is_union, _union)
    yield from _first(places, _is_bare_array, _bare_array)
    if any(path == () for path, _ in references(schema)):
        yield warning(
            ("inputSchema", "$ref"), "root-ref", "a $ref at the root: Gemini CLI cannot read it", "write the schema out"
        )


def _either(schema: Mapping[str, Json], field: str) -> Iterator[Finding]:
    yield from _first(positions(schema), _is_boolean, lambda path: _boolean(field, path))
    if is_recursive(schema):
        yield warning(
            (field,),
            "recursive",
            "a schema that refers to itself: clients that write references out recurse without end (OpenHands)",
            "bound the depth by writing some levels out",
        )
    if field == "inputSchema" and ("$defs" in schema or "definitions" in schema):
        yield warning(
            (field, "$defs" if "$defs" in schema else "definitions"),
            "definitions",
            "definitions with $ref: Gemini CLI has failed to discover such tools",
            "write small schemas out in place",
        )
    dialect = schema.get("$schema")
    if isinstance(dialect, str):
        yield from _dialect(field, dialect.rstrip("#"))


def _output(schema: Mapping[str, Json]) -> Iterator[Finding]:
    for here in positions(schema):
        if here.path and isinstance(here.schema, dict) and ("$defs" in here.schema or "definitions" in here.schema):
            yield warning(
                ("outputSchema", *here.path),
                "nested-definitions",
                "definitions below the root of an output schema: Claude Code has lost the whole list over them",
                "move them to the root",
            )
            return


def _dialect(field: str, dialect: str) -> Iterator[Finding]:
    modern = dialect == "https://json-schema.org/draft/2020-12/schema"
    if modern and field == "inputSchema":
        yield warning(
            (field, "$schema"),
            "dialect",
            "clients with a draft-07 validator do not know this dialect",
            "leave $schema out: 2020-12 is what MCP assumes",
        )
    elif not modern:
        yield warning(
            (field, "$schema"),
            "dialect",
            "not MCP's own dialect, 2020-12: clients need not know another",
            "write the schema in 2020-12 and leave $schema out",
        )


def _first(
    places: Iterable[Position], test: Callable[[Position], bool], make: Callable[[Path], Finding]
) -> Iterator[Finding]:
    found = next((here for here in places if test(here)), None)
    if found is not None:
        yield make(found.path)


def _is_property(here: Position) -> bool:
    return len(here.path) >= 2 and here.path[-2] == "properties"


def _is_boolean(here: Position) -> bool:
    return _is_property(here) and isinstance(here.schema, bool)


def _is_untyped(here: Position) -> bool:
    return _is_property(here) and isinstance(here.schema, dict) and not any(key in here.schema for key in _TYPED)


def _is_union(here: Position) -> bool:
    return isinstance(here.schema, dict) and isinstance(here.schema.get("type"), list)


def _is_bare_array(here: Position) -> bool:
    return (
        isinstance(here.schema, dict)
        and here.schema.get("type") == "array"
        and not ("items" in here.schema or "prefixItems" in here.schema)
    )


def _boolean(field: str, path: Path) -> Finding:
    return warning(
        (field, *path),
        "boolean-schema",
        "a property whose schema is true or false: TypeScript clients drop the whole list over it (Claude Code)",
        "write {} for true, and leave a property that is false out",
    )


def _untyped(path: Path) -> Finding:
    return warning(
        ("inputSchema", *path),
        "untyped-property",
        "a property without a type: clients send numbers and lists as strings",
        "give it a type",
    )


def _union(path: Path) -> Finding:
    return warning(
        ("inputSchema", *path, "type"),
        "type-union",
        "a list of types: Gemini's API refuses it, and Copilot CLI has failed on it",
        "use anyOf with one type each",
    )


def _bare_array(path: Path) -> Finding:
    return warning(
        ("inputSchema", *path),
        "array-items",
        "an array that does not say what its items are: OpenAI's API refuses it",
        'add "items": {}',
    )
