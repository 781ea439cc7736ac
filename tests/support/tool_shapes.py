"""Tool definitions of awkward form: what lists of public servers hold, and what clients were reported to trip over.

`BROKEN` must be quarantined, with a finding at the pointer by the rule. `SERVED` must be served as they are, with
warnings by exactly these rules (besides those that every short example earns: see `COMMON`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

COMMON = frozenset({"no-description"})
OBJECT = {"type": "object", "properties": {}}
SELF = {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/node"}}}}
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"


class Broken(NamedTuple):
    id: str
    definition: Any
    pointer: str
    rule: str


class Served(NamedTuple):
    id: str
    definition: dict[str, Any]
    rules: frozenset[str] = frozenset()


def tool(schema: Any = OBJECT, **fields: Any) -> dict[str, Any]:
    return {"name": "t", "inputSchema": schema, **fields}


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"p": schema}}
    return schema


BROKEN = [
    # The whole list fails over each of these, in servers and clients of both eras.
    Broken("no input schema", {"name": "t"}, "", "input-schema"),
    Broken("null input schema", tool(None), "/inputSchema", "input-schema"),
    Broken("boolean input schema", tool(True), "/inputSchema", "input-schema"),
    Broken("empty input schema", tool({}), "/inputSchema", "input-type"),
    Broken("only $schema", tool({"$schema": DRAFT_7}), "/inputSchema", "input-type"),
    Broken("properties without type", tool({"properties": {}}), "/inputSchema", "input-type"),
    Broken("type list at the root", tool({"type": ["object", "null"]}), "/inputSchema/type", "input-type"),
    Broken("array at the root", tool({"type": "array"}), "/inputSchema/type", "input-type"),
    Broken("root $ref without type", tool({"$ref": "#/$defs/a", "$defs": {"a": OBJECT}}), "/inputSchema", "input-type"),
    Broken("root oneOf without type", tool({"oneOf": [OBJECT]}), "/inputSchema", "input-type"),
    Broken("bare three-way anyOf", tool({"anyOf": [OBJECT, OBJECT, OBJECT]}), "/inputSchema", "input-type"),
    Broken("output schema true", tool(outputSchema=True), "/outputSchema", "output-schema"),
    Broken("output schema false", tool(outputSchema=False), "/outputSchema", "output-schema"),
    Broken("output schema a string", tool(outputSchema="object"), "/outputSchema", "output-schema"),
    Broken("output schema a list", tool(outputSchema=[]), "/outputSchema", "output-schema"),
    Broken("number as dialect", tool({"type": "object", "$schema": 7}), "/inputSchema/$schema", "dialect"),
    Broken("number as output dialect", tool(outputSchema={"$schema": 7}), "/outputSchema/$schema", "dialect"),
    # Not a tool at all.
    Broken("null", None, "", "not-an-object"),
    Broken("list", [tool()], "", "not-an-object"),
    Broken("string", "t", "", "not-an-object"),
    Broken("no name", {"inputSchema": OBJECT}, "", "name"),
    Broken("null name", {"name": None, "inputSchema": OBJECT}, "/name", "name"),
    Broken("number as name", {"name": 5, "inputSchema": OBJECT}, "/name", "name"),
    Broken("number as title", tool(title=5), "/title", "title"),
    Broken("list as description", tool(description=["a"]), "/description", "description"),
    Broken("text as hint", tool(annotations={"readOnlyHint": "true"}), "/annotations/readOnlyHint", "annotations"),
    Broken("number as hint", tool(annotations={"idempotentHint": 1}), "/annotations/idempotentHint", "annotations"),
    Broken("number as annotated title", tool(annotations={"title": 1}), "/annotations/title", "title"),
    Broken("list as annotations", tool(annotations=[]), "/annotations", "annotations"),
    Broken("object as icons", tool(icons={}), "/icons", "icons"),
    Broken("icon without src", tool(icons=[{"mimeType": "image/png"}]), "/icons/0", "icons"),
    Broken("text as sizes", tool(icons=[{"src": "a", "sizes": "48x48"}]), "/icons/0/sizes", "icons"),
    Broken("unknown theme", tool(icons=[{"src": "a"}, {"src": "a", "theme": "pink"}]), "/icons/1/theme", "icons"),
    Broken("text as _meta", tool(_meta="x"), "/_meta", "meta"),
    Broken("text as execution", tool(execution="now"), "/execution", "execution"),
    Broken("unknown support", tool(execution={"taskSupport": "yes"}), "/execution/taskSupport", "execution"),
    # No JSON that could be sent, or read.
    Broken("infinity", tool({"type": "object", "default": float("inf")}), "/inputSchema/default", "number"),
    Broken("not a number", tool(_meta={"a": [float("nan")]}), "/_meta/a/0", "number"),
    Broken("integer of 5000 digits", tool(_meta={"a": 10**5000}), "/_meta/a", "number"),
    Broken("half a surrogate pair", tool(description="a\ud800"), "/description", "unicode"),
    Broken("half a surrogate pair in a key", tool({"type": "object", "\udfff": 1}), "/inputSchema", "unicode"),
    Broken("number as key", tool({"type": "object", "properties": {1: {}}}), "/inputSchema/properties", "not-json"),
    Broken("a set", tool(_meta={"a": {1}}), "/_meta/a", "not-json"),
    Broken("too deep", tool(nested(100)), "/inputSchema/properties/p/properties", "too-deep"),
    Broken("too large", tool(description="a" * 1024 * 1024), "", "too-large"),
    # No JSON Schema that could be evaluated.
    Broken(
        "dangling $ref",
        tool({"type": "object", "properties": {"a": {"$ref": "#/$defs/gone"}}}),
        "/inputSchema/properties/a/$ref",
        "dangling-ref",
    ),
    Broken(
        "dangling $ref beside a sound one",
        tool({"type": "object", "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#/$defs/Gone"}}}),
        "/inputSchema/properties/b/$ref",
        "dangling-ref",
    ),
    Broken("dangling anchor", tool(outputSchema={"$ref": "#gone"}), "/outputSchema/$ref", "dangling-ref"),
    Broken(
        "$ref to what is no schema",
        tool({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#/required/0"}}}),
        "/inputSchema/properties/a/$ref",
        "dangling-ref",
    ),
    Broken(
        "remote $ref",
        tool({"type": "object", "properties": {"a": {"$ref": "https://schemas.example.com/a.json"}}}),
        "/inputSchema/properties/a/$ref",
        "remote-ref",
    ),
    Broken("$ref to a file", tool(outputSchema={"$ref": "file:///etc/passwd"}), "/outputSchema/$ref", "remote-ref"),
    Broken("root required false", tool({"type": "object", "required": False}), "/inputSchema/required", "schema"),
    Broken("null properties", tool({"type": "object", "properties": None}), "/inputSchema/properties", "schema"),
    Broken("unknown type", tool({**OBJECT, "items": {"type": "text"}}), "/inputSchema/items/type", "schema"),
    Broken("required a string", tool(outputSchema={"required": "a"}), "/outputSchema/required", "schema"),
    Broken(
        "pattern that is none",
        tool({"type": "object", "properties": {"a": {"pattern": "("}}}),
        "/inputSchema/properties/a/pattern",
        "pattern",
    ),
    Broken(
        "property pattern that is none",
        tool({"type": "object", "patternProperties": {"[z-a]": {}}}),
        "/inputSchema/patternProperties/[z-a]",
        "pattern",
    ),
    # Clients of 2026-07-28 must drop a tool with an invalid header.
    Broken(
        "header on a number",
        tool({"type": "object", "properties": {"a": {"type": "number", "x-mcp-header": "A"}}}),
        "/inputSchema/properties/a/x-mcp-header",
        "mcp-header",
    ),
    Broken(
        "header that is no token",
        tool({"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "a b"}}}),
        "/inputSchema/properties/a/x-mcp-header",
        "mcp-header",
    ),
    Broken(
        "header off the properties",
        tool({"type": "object", "properties": {"a": {"type": "array", "items": {"x-mcp-header": "A"}}}}),
        "/inputSchema/properties/a/items/x-mcp-header",
        "mcp-header",
    ),
    Broken("header at the root", tool({**OBJECT, "x-mcp-header": "A"}), "/inputSchema/x-mcp-header", "mcp-header"),
    Broken(
        "header given twice",
        tool(
            {
                "type": "object",
                "properties": {
                    "a": {"type": "string", "x-mcp-header": "Tenant"},
                    "b": {"type": "string", "x-mcp-header": "tenant"},
                },
            }
        ),
        "/inputSchema/properties/b/x-mcp-header",
        "mcp-header",
    ),
]

SERVED = [
    Served("plain", tool()),
    # Carried by 2026-07-28; earlier eras are served without it.
    Served("output array", tool(outputSchema={"type": "array", "items": {}}), frozenset({"era-output-schema"})),
    Served("output of any form", tool(outputSchema={}), frozenset({"era-output-schema"})),
    Served(
        "output root $ref",
        tool(outputSchema={"$ref": "#/$defs/a", "$defs": {"a": OBJECT}}),
        frozenset({"era-output-schema"}),
    ),
    Served("output anyOf", tool(outputSchema={"anyOf": [OBJECT, {"type": "null"}]}), frozenset({"era-output-schema"})),
    Served(
        "output with $id and no type",
        tool(outputSchema={"$id": "https://example.com/out", "description": "what comes back"}),
        frozenset({"era-output-schema"}),
    ),
    Served("task support", tool(execution={"taskSupport": "optional"}), frozenset({"era-execution"})),
    Served(
        "draft 3 required",
        tool({**OBJECT, "$schema": "http://json-schema.org/draft-03/schema#", "required": False}),
        frozenset({"era-required", "dialect"}),
    ),
    # Carried by every era, null fields left out.
    Served("null description", tool(description=None), frozenset({"null-field"})),
    Served("null output schema", tool(outputSchema=None), frozenset({"null-field"})),
    Served("null annotations", tool(annotations=None), frozenset({"null-field"})),
    Served("null hint", tool(annotations={"readOnlyHint": None}), frozenset({"null-field"})),
    Served("null dialect", tool({**OBJECT, "$schema": None}), frozenset({"null-field"})),
    Served("null in an icon", tool(icons=[{"src": "a", "theme": None}]), frozenset({"null-field"})),
    # Legal, and nothing is lost.
    Served("root default null", tool({**OBJECT, "default": None})),
    Served("null in enum, const and default", tool({**OBJECT, "default": {"a": None}, "const": None, "enum": [None]})),
    Served("2^64", tool({"type": "object", "properties": {"a": {"type": "integer", "maximum": 2**64}}})),
    Served("exotic text", tool(description="żółć \U0001f6d2 \x00 \u2028", title="")),
    Served("vendor keys", tool(annotations={"x-vendor": 1}, **{"x-vendor": {"a": [None]}})),
    Served("icons", tool(icons=[{"src": "data:,", "mimeType": "image/png", "sizes": ["any"], "theme": "dark"}])),
    Served("meta", tool(_meta={"a": {"b": [1.0, None]}})),
    Served("draft 7 definitions unused", tool({**OBJECT, "items": {}})),
    Served("$ref to a meta-schema", tool({"type": "object", "properties": {"s": {"$ref": DRAFT_2020}}})),
    Served("header", tool({"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "Tenant"}}})),
    Served("integer enum of text", tool({"type": "object", "properties": {"a": {"enum": [1, "1", None]}}})),
    # Reported against clients in wide use.
    Served("no properties", tool({"type": "object"}), frozenset({"no-properties"})),
    Served("empty name", {**tool(), "name": ""}, frozenset({"name"})),
    Served("name of 200 characters", {**tool(), "name": "n" * 200}, frozenset({"name", "name-length"})),
    Served("name of 65 characters", {**tool(), "name": "n" * 65}, frozenset({"name-length"})),
    Served("dotted name", {**tool(), "name": "a.b.c"}, frozenset({"name-characters"})),
    Served("name with a space", {**tool(), "name": "get żółć"}, frozenset({"name"})),
    Served(
        "required property only a $ref",
        tool({"type": "object", "$defs": {"Q": OBJECT}, "properties": {"q": {"$ref": "#/$defs/Q"}}, "required": ["q"]}),
        frozenset({"ref-property", "definitions"}),
    ),
    Served(
        "draft 7 definitions",
        tool(
            {
                "$schema": DRAFT_7,
                "type": "object",
                "definitions": {"Q": OBJECT},
                "properties": {"q": {"$ref": "#/definitions/Q"}},
            }
        ),
        frozenset({"definitions", "dialect"}),
    ),
    Served(
        "definitions inside the output",
        tool(
            outputSchema={"type": "object", "properties": {"a": {"$defs": {"b": {}}, "$ref": "#/properties/a/$defs/b"}}}
        ),
        frozenset({"nested-definitions"}),
    ),
    Served("recursion", tool({**SELF, "$defs": {"node": SELF}}), frozenset({"recursive", "definitions"})),
    Served(
        "recursion to the root", tool({"type": "object", "properties": {"a": {"$ref": "#"}}}), frozenset({"recursive"})
    ),
    Served(
        "recursive alias in the output",
        tool(
            outputSchema={
                "type": "object",
                "properties": {"value": {"$ref": "#/$defs/Json"}},
                "$defs": {
                    "Json": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#/$defs/Json"}}]}
                },
            }
        ),
        frozenset({"recursive"}),
    ),
    Served(
        "root $ref with type",
        tool({"type": "object", "$ref": "#/$defs/a", "$defs": {"a": OBJECT}, "properties": {}}),
        frozenset({"root-ref", "definitions"}),
    ),
    Served("property true", tool({"type": "object", "properties": {"x": True}}), frozenset({"boolean-schema"})),
    Served(
        "output property false",
        tool(outputSchema={"type": "object", "properties": {"x": False}}),
        frozenset({"boolean-schema"}),
    ),
    Served(
        "root allOf with if",
        tool({**OBJECT, "allOf": [{"if": {"required": ["a"]}, "then": {"required": ["b"]}}]}),
        frozenset({"root-composition"}),
    ),
    Served(
        "required and root anyOf of required",
        tool(
            {
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                "required": ["a"],
                "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
            }
        ),
        frozenset({"root-composition"}),
    ),
    Served("untyped property", tool({"type": "object", "properties": {"limit": {}}}), frozenset({"untyped-property"})),
    Served("explicit 2020-12", tool({**OBJECT, "$schema": DRAFT_2020}), frozenset({"dialect"})),
    Served("explicit draft 7", tool({**OBJECT, "$schema": DRAFT_7}), frozenset({"dialect"})),
    Served("draft 7 output", tool(outputSchema={**OBJECT, "$schema": DRAFT_7}), frozenset({"dialect"})),
    Served("2020-12 output", tool(outputSchema={**OBJECT, "$schema": DRAFT_2020})),
    Served("dialect of one's own", tool({**OBJECT, "$schema": "https://example.com/dialect"}), frozenset({"dialect"})),
    Served(
        "type unions",
        tool(
            {
                "type": "object",
                "properties": {"a": {"type": ["array", "null"], "items": {"type": ["object", "null"]}}},
            }
        ),
        frozenset({"type-union"}),
    ),
    Served(
        "array without items",
        tool({"type": "object", "properties": {"a": {"type": "array"}}}),
        frozenset({"array-items"}),
    ),
    Served("required but unknown", tool({**OBJECT, "required": ["a"]}), frozenset({"required-unknown"})),
    Served(
        "reused $ref",
        tool(
            {
                "type": "object",
                "properties": {"a": {"$ref": "#/$defs/S"}, "b": {"$ref": "#/$defs/S"}},
                "$defs": {"S": {"type": "string"}},
            }
        ),
        frozenset({"definitions"}),
    ),
    Served(
        "oneOf of required",
        tool({"type": "object", "properties": {"a": {"type": "object", "oneOf": [{"required": ["x"]}]}}}),
    ),
    Served(
        "allOf with a single $ref",
        tool(
            {
                "type": "object",
                "properties": {"a": {"allOf": [{"$ref": "#/$defs/S"}]}},
                "$defs": {"S": {"type": "string"}},
            }
        ),
        frozenset({"definitions"}),
    ),
    Served(
        "pattern of Python",
        tool({"type": "object", "properties": {"a": {"type": "string", "pattern": "a\\Z"}}}),
        frozenset({"pattern-portable"}),
    ),
    Served(
        "pattern of JavaScript",
        tool({"type": "object", "properties": {"a": {"type": "string", "pattern": "^\\p{L}+$"}}}),
        frozenset({"pattern-python"}),
    ),
]
