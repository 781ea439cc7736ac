"""The arguments of an OpenAPI operation: its parameters and its body as the properties of one object."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from envace_sdk.errors import SchemaError
from envace_sdk.json import Json

from .openapi_schemas import Schemas, resolve

__all__ = ["input_schema", "json_content"]

_ORDER: Final = ("path", "query", "header", "cookie")
_NOT_ARGUMENTS: Final = ("accept", "authorization", "content-type")
_FORMS: Final = ("application/x-www-form-urlencoded", "multipart/form-data")
_FLAT: Final = frozenset(
    {"additionalProperties", "deprecated", "description", "example", "examples", "externalDocs", "properties"}
    | {"required", "title", "type", "xml"}
)


def input_schema(
    document: Mapping[str, Json], path: str, item: Mapping[str, Json], operation: Mapping[str, Json]
) -> tuple[dict[str, Json], dict[str, str]]:
    """One object schema for all that an operation takes, and where in the request each property goes.

    The fields of a JSON or form body stand beside the parameters where that loses nothing: the body is a plain
    object, required as a whole if any of its fields is, and none of its names is a parameter's. Else it is the
    property `body`.

    Raises:
        SchemaError: a reference leads nowhere, or a parameter is not one.
    """
    schemas = Schemas(document, "input")
    arguments = _Arguments()
    for parameter in _parameters(document, path, item, operation):
        arguments.add_parameter(parameter, schemas)
    if "requestBody" in operation:
        arguments.add_body(document, resolve(document, operation["requestBody"]), schemas)
    schema: dict[str, Json] = {"type": "object", "properties": arguments.properties}
    if arguments.required:
        schema["required"] = arguments.required
    schema |= arguments.beside
    if definitions := schemas.definitions():
        schema["$defs"] = definitions
    return schema, arguments.places


def json_content(content: Json) -> Mapping[str, Json] | None:
    """The JSON among the media types of a request or response, if there is one."""
    found = _media(content, lambda kind: kind == "application/json")
    if found is None:
        found = _media(content, lambda kind: kind.endswith("+json") or kind in ("text/json", "*/*", "application/*"))
    return found


class _Arguments:
    def __init__(self) -> None:
        self.properties: dict[str, Json] = {}
        self.required: list[str] = []
        self.places: dict[str, str] = {}
        self.beside: dict[str, Json] = {}

    def add_parameter(self, parameter: Mapping[str, Json], schemas: Schemas) -> None:
        name, place = parameter["name"], parameter["in"]
        if name in self.properties:
            name = f"{place}_{name}"
        media: Json = (
            next(iter(parameter["content"].values()), {}) if isinstance(parameter.get("content"), dict) else {}
        )
        given = parameter.get("schema", media.get("schema", {}) if isinstance(media, dict) else {})
        schema = schemas.convert(given)
        self._add(name, _described(schema, parameter), place, required=parameter.get("required") is True)

    def add_body(self, document: Mapping[str, Json], body: Json, schemas: Schemas) -> None:
        content = body.get("content") if isinstance(body, dict) else None
        media = json_content(content) or _media(content, lambda kind: kind in _FORMS)
        if media is None:
            if isinstance(content, dict) and content:
                text = {"type": "string", "description": f"The request body ({', '.join(map(str, content))})."}
                self._add(self._free("body"), text, "body", required=body.get("required") is True)
            return
        required = body.get("required") is True
        given = media.get("schema", {})
        fields = self._fields(document, given, required=required)
        if fields is None:
            schema = _described(schemas.convert(given), body)
            self._add(self._free("body"), schema, "body", required=required)
            return
        flat = schemas.convert(fields)
        for name, schema in flat["properties"].items():
            self._add(name, schema, "body", required=name in flat.get("required", ()))
        if flat.get("additionalProperties") is False:
            self.beside["additionalProperties"] = False

    def _fields(self, document: Mapping[str, Json], schema: Json, *, required: bool) -> Mapping[str, Json] | None:
        schema = resolve(document, schema)
        if not isinstance(schema, dict) or not isinstance(schema.get("properties"), dict) or not schema["properties"]:
            return None
        if schema.get("type", "object") != "object" or schema.get("nullable") is True:
            return None
        if any(key not in _FLAT and not str(key).startswith("x-") for key in schema):
            return None
        if not isinstance(schema.get("additionalProperties", False), bool):
            return None
        if (schema.get("required") and not required) or schema["properties"].keys() & self.properties.keys():
            return None
        names = schema.get("required", [])
        known = list(schema["properties"])
        return schema if isinstance(names, list) and all(name in known for name in names) else None

    def _free(self, name: str) -> str:
        return name if name not in self.properties else f"request_{name}"

    def _add(self, name: str, schema: Json, place: str, *, required: bool) -> None:
        self.properties[name] = schema
        self.places[name] = place
        if required:
            self.required.append(name)


def _parameters(
    document: Mapping[str, Json], path: str, item: Mapping[str, Json], operation: Mapping[str, Json]
) -> list[Mapping[str, Json]]:
    found: dict[tuple[str, str], Mapping[str, Json]] = {}
    for holder in (item, operation):
        listed = holder.get("parameters", [])
        if not isinstance(listed, list):
            raise SchemaError("parameters: expected a list")
        for parameter in listed:
            one = resolve(document, parameter)
            if not isinstance(one, dict) or not isinstance(one.get("name"), str) or one.get("in") not in _ORDER:
                raise SchemaError("parameters: each has a `name` and is `in` path, query, header or cookie")
            if not (one["in"] == "header" and one["name"].lower() in _NOT_ARGUMENTS):
                found[one["in"], one["name"]] = one
    for name in re.findall(r"\{([^}]+)\}", path):
        # A place in the path that nobody declared is an argument all the same.
        found.setdefault(("path", name), {"name": name, "in": "path", "required": True, "schema": {"type": "string"}})
    return sorted(found.values(), key=lambda one: _ORDER.index(one["in"]))


def _described(schema: Json, holder: Mapping[str, Json]) -> Json:
    """The schema with what its parameter or body says of it."""
    if not isinstance(schema, dict):
        return schema
    says: dict[str, Json] = {}
    if isinstance(holder.get("description"), str) and holder["description"]:
        says["description"] = holder["description"]
    if holder.get("deprecated") is True:
        says["deprecated"] = True
    if "example" in holder and "examples" not in schema:
        says["examples"] = [holder["example"]]
    return {**schema, **says}


def _media(content: Json, wanted: Callable[[str], bool]) -> Mapping[str, Json] | None:
    for kind, media in _items(content):
        if wanted(kind.partition(";")[0].strip().lower()) and isinstance(media, dict):
            return media
    return None


def _items(content: Json) -> Iterator[tuple[str, Json]]:
    return iter((str(kind), media) for kind, media in content.items()) if isinstance(content, dict) else iter(())
