"""What MCP can carry at all: the shape a tool definition must have so that no client loses the whole list over it.

One off-shape tool makes `tools/list` fail for every tool, in servers that check what they send and in clients that
check what they get. These rules are at least as strict as the published MCP types of both eras, which a test proves;
where a lenient client would coerce (`"readOnlyHint": "true"`), a strict one would drop the list, so they are strict.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from envace_sdk.json import Json

from .finding import Finding, error, warning
from .headers import header_findings

__all__ = ["HINTS", "OPTIONAL", "carriage_findings"]

OPTIONAL: Final = ("title", "description", "outputSchema", "annotations", "icons", "execution", "_meta")
"""The optional fields of a definition."""

HINTS: Final = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
"""The annotations that are booleans."""

_TASK_SUPPORT: Final = ("forbidden", "optional", "required")
_THEMES: Final = ("dark", "light")


def carriage_findings(definition: Json) -> Iterator[Finding]:
    """Every reason why MCP cannot carry this definition, and what it carries only by dropping it.

    The definition must be JSON already (see `jsonness`); its schemas are judged elsewhere, only their shape here.
    """
    if not isinstance(definition, dict):
        yield error((), "not-an-object", f"a tool is a JSON object, not {_kind(definition)}", "make it an object")
        return
    yield from _name(definition)
    for field in OPTIONAL:
        if field in definition and definition[field] is None:
            yield _null((field,))
    for field in ("title", "description"):
        yield from _text(definition, (), field)
    yield from _input_schema(definition)
    yield from _output_schema(definition)
    yield from _annotations(definition)
    yield from _icons(definition)
    yield from _execution(definition)
    if not isinstance(definition.get("_meta"), dict | None):
        yield error(("_meta",), "meta", f"expected an object, got {_kind(definition['_meta'])}", "make it an object")


def _name(definition: Mapping[str, Json]) -> Iterator[Finding]:
    name = definition.get("name")
    if "name" not in definition:
        yield error((), "name", "the tool has no name", "give it a `name` unique in the list")
    elif not isinstance(name, str):
        yield error(("name",), "name", f"expected a string, got {_kind(name)}", "write the name as a string")


def _text(holder: Mapping[str, Json], where: tuple[str | int, ...], field: str) -> Iterator[Finding]:
    if not isinstance(holder.get(field), str | None):
        yield error((*where, field), field, f"expected a string, got {_kind(holder[field])}", "write it as a string")


def _input_schema(definition: Mapping[str, Json]) -> Iterator[Finding]:
    schema = definition.get("inputSchema")
    if not isinstance(schema, dict):
        got = f"got {_kind(schema)}" if "inputSchema" in definition else "there is none"
        where = ("inputSchema",) if "inputSchema" in definition else ()
        yield error(where, "input-schema", f"expected an object, {got}", 'give at least {"type": "object"}')
        return
    if "type" not in schema:
        yield error(
            ("inputSchema",),
            "input-type",
            'the root has no "type"; MCP demands "object" there, beside any other keyword',
            'add "type": "object" to the root ; a "$ref" or "oneOf" may stand beside it',
        )
    elif schema["type"] != "object":
        yield error(
            ("inputSchema", "type"),
            "input-type",
            f'the root type must be "object", got {_shown(schema["type"])}',
            'set it to "object": arguments are always a JSON object',
        )
    yield from _dialect(schema, "inputSchema")
    yield from header_findings(schema)


def _output_schema(definition: Mapping[str, Json]) -> Iterator[Finding]:
    schema = definition.get("outputSchema")
    if isinstance(schema, dict):
        yield from _dialect(schema, "outputSchema")
    elif schema is not None:
        yield error(
            ("outputSchema",),
            "output-schema",
            f"expected an object, got {_kind(schema)}",
            "write {} for a result of any form, or leave the field out",
        )


def _dialect(schema: Mapping[str, Json], field: str) -> Iterator[Finding]:
    if "$schema" in schema and schema["$schema"] is None:
        yield _null((field, "$schema"))
    elif not isinstance(schema.get("$schema"), str | None):
        got = _kind(schema["$schema"])
        yield error((field, "$schema"), "dialect", f"expected a URI, got {got}", "name the dialect by its URI")


def _annotations(definition: Mapping[str, Json]) -> Iterator[Finding]:
    annotations = definition.get("annotations")
    if annotations is None:
        return
    if not isinstance(annotations, dict):
        yield error(("annotations",), "annotations", f"expected an object, got {_kind(annotations)}", "use an object")
        return
    yield from _text(annotations, ("annotations",), "title")
    for hint in ("title", *HINTS):
        if hint in annotations and annotations[hint] is None:
            yield _null(("annotations", hint))
    for hint in HINTS:
        if not isinstance(annotations.get(hint), bool | None):
            yield error(
                ("annotations", hint),
                "annotations",
                f"expected true or false, got {_shown(annotations[hint])}",
                "write a JSON boolean",
            )


def _icons(definition: Mapping[str, Json]) -> Iterator[Finding]:
    icons = definition.get("icons")
    if icons is None:
        return
    if not isinstance(icons, list):
        yield error(("icons",), "icons", f"expected a list, got {_kind(icons)}", "put the icon into a list")
        return
    for index, icon in enumerate(icons):
        where = ("icons", index)
        if not isinstance(icon, dict) or not isinstance(icon.get("src"), str):
            yield error(where, "icons", "an icon is an object with a string `src`", "give it a `src`, or remove it")
            continue
        yield from _icon(icon, where)


def _icon(icon: Mapping[str, Json], where: tuple[str | int, ...]) -> Iterator[Finding]:
    for field in ("mimeType", "sizes", "theme"):
        if field in icon and icon[field] is None:
            yield _null((*where, field))
    yield from _text(icon, where, "mimeType")
    sizes, theme = icon.get("sizes"), icon.get("theme")
    if sizes is not None and not (isinstance(sizes, list) and all(isinstance(size, str) for size in sizes)):
        yield error((*where, "sizes"), "icons", f"expected a list of strings, got {_shown(sizes)}", 'as in ["48x48"]')
    if theme is not None and theme not in _THEMES:
        yield error((*where, "theme"), "icons", f'expected "light" or "dark", got {_shown(theme)}', "leave it out")


def _execution(definition: Mapping[str, Json]) -> Iterator[Finding]:
    execution = definition.get("execution")
    if execution is None:
        return
    if not isinstance(execution, dict):
        yield error(("execution",), "execution", f"expected an object, got {_kind(execution)}", "use an object")
        return
    support = execution.get("taskSupport")
    where = ("execution", "taskSupport")
    if support is None and "taskSupport" in execution:
        yield _null(where)
    elif support is not None and support not in _TASK_SUPPORT:
        yield error(where, "execution", f"expected one of {', '.join(_TASK_SUPPORT)}, got {_shown(support)}", "use one")


def _null(where: tuple[str | int, ...]) -> Finding:
    return warning(
        where,
        "null-field",
        "null stands where MCP knows only a value or nothing; TypeScript clients drop the list over it",
        "leave the field out (it is served without it)",
    )


def _kind(value: Json) -> str:
    names = {type(None): "null", bool: "a boolean", int: "a number", float: "a number", str: "a string"}
    return names.get(type(value), "a list" if isinstance(value, list) else "an object")


def _shown(value: Json) -> str:
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else text[:57] + "…"
