"""OpenAPI 3 descriptions as tools: one for each operation, with its parameters and JSON body as one input schema."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from envace_sdk.errors import SchemaError, ToolsetError
from envace_sdk.json import Json

from .finding import Finding, error
from .formats import SOURCE_META, Entry
from .openapi_input import input_schema, json_content
from .openapi_problems import find_problems
from .openapi_schemas import Schemas, resolve

__all__ = ["read_openapi"]

_METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_READS: Final = ("get", "head", "options", "trace")
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_.-]+")


def read_openapi(document: Mapping[str, Json], where: str) -> tuple[list[Entry], tuple[Finding, ...]]:
    """Every operation of a document as a tool, and what is wrong with the document beside its operations.

    An operation that cannot be read is quarantined with the reason. Nothing outside the document is fetched.

    Raises:
        ToolsetError: it is not OpenAPI 3, or has no paths.
    """
    version = document.get("openapi")
    if not isinstance(version, str) or not version.startswith("3."):
        raise ToolsetError(f'{where}: /openapi: expected a version such as "3.1.0", got {str(version)[:40]!r}')
    if not isinstance(document.get("paths"), dict):
        raise ToolsetError(f"{where}: /paths: expected an object of paths; only operations under paths become tools")
    try:
        problems = find_problems(document)
    except (TypeError, ValueError, AttributeError, KeyError) as confused:
        raise ToolsetError(f"{where}: not an OpenAPI document that can be read: {confused}") from confused
    names: set[str] = set()
    entries = []
    for operation in _operations(document):
        known = (*problems.operations.get((operation.path, ""), ()), *problems.operations.get(operation.key, ()))
        entry = _entry(document, operation, names, known)
        entries.append(entry)
    return entries, tuple(replace(finding, tool="*") for finding in problems.document)


@dataclass(frozen=True, slots=True)
class _Operation:
    path: str
    method: str
    item: Mapping[str, Json]
    body: Json

    @property
    def key(self) -> tuple[str, str]:
        return self.path, self.method

    @property
    def title(self) -> str:
        return f"{self.method.upper()} {self.path}"


def _operations(document: Mapping[str, Json]) -> Iterator[_Operation]:
    for path, item in document["paths"].items():
        if not str(path).startswith("/"):
            continue  # an extension
        try:
            item = resolve(document, item)
        except SchemaError:
            item = {"get": item}  # one entry, to carry the finding
        if isinstance(item, dict):
            for method in item:
                if str(method).lower() in _METHODS:
                    yield _Operation(str(path), str(method).lower(), item, item[method])


def _entry(document: Mapping[str, Json], operation: _Operation, names: set[str], known: tuple[Finding, ...]) -> Entry:
    found = tuple(replace(finding, tool=operation.title) for finding in known)
    if any(finding.severity == "error" for finding in found):
        return Entry(operation.body, found)
    try:
        return Entry(_definition(document, operation, names), found)
    except SchemaError as reason:
        rule = "remote-ref" if "outside this document" in str(reason) else "dangling-ref"
        mend = "bundle the document into one file first" if rule == "remote-ref" else "correct the reference"
        message = str(reason)
    except RecursionError:
        rule, message, mend = "too-deep", "nested too deeply", "flatten the schemas"
    where = ("paths", operation.path, operation.method)
    return Entry(operation.body, (*found, replace(error(where, rule, message, mend), tool=operation.title)))


def _definition(document: Mapping[str, Json], operation: _Operation, names: set[str]) -> Json:
    body = resolve(document, operation.body)
    if not isinstance(body, dict):
        raise SchemaError("an operation is an object")
    schema, places = input_schema(document, operation.path, operation.item, body)
    definition: dict[str, Json] = {"name": _name(operation, body, names)}
    if isinstance(body.get("summary"), str) and body["summary"]:
        definition["title"] = body["summary"]
    definition["description"] = _description(operation, body)
    definition["inputSchema"] = schema
    if (output := _output_schema(document, body)) is not None:
        definition["outputSchema"] = output
    definition["annotations"] = _annotations(operation.method)
    source = {"format": "openapi", "method": operation.method, "path": operation.path, "in": places}
    definition["_meta"] = {SOURCE_META: source}
    return definition


def _name(operation: _Operation, body: Mapping[str, Json], names: set[str]) -> str:
    given = body.get("operationId")
    if isinstance(given, str) and given.strip():
        name = _UNSAFE.sub("_", given.strip())[:128]
        names.add(name)
        return name  # a second one of that name is the document's mistake, and reported as such
    base = _UNSAFE.sub("_", f"{operation.method}_{operation.path.strip('/').replace('{', '').replace('}', '')}")
    base = base.strip("_")[:120]
    name, number = base, 2
    while name in names:
        name, number = f"{base}_{number}", number + 1
    names.add(name)
    return name


def _description(operation: _Operation, body: Mapping[str, Json]) -> str:
    said = [part for part in (body.get("summary"), body.get("description")) if isinstance(part, str) and part.strip()]
    text = "\n\n".join(dict.fromkeys(said)) or operation.title
    return f"{text}\n\nDeprecated." if body.get("deprecated") is True else text


def _annotations(method: str) -> dict[str, Json]:
    if method in _READS:
        return {"readOnlyHint": True}
    hints: dict[str, Json] = {"readOnlyHint": False}
    if method == "delete":
        hints["destructiveHint"] = True
    if method in ("put", "delete"):
        hints["idempotentHint"] = True
    return hints


def _output_schema(document: Mapping[str, Json], body: Mapping[str, Json]) -> Json | None:
    responses = body.get("responses")
    if not isinstance(responses, dict):
        return None
    for code in sorted(map(str, responses)):
        if not re.fullmatch(r"2(\d\d|XX)", code, re.IGNORECASE):
            continue
        response = resolve(document, responses.get(code, responses.get(int(code) if code.isdigit() else code)))
        media = json_content(response.get("content")) if isinstance(response, dict) else None
        if media is not None and isinstance(media.get("schema"), dict):
            schemas = Schemas(document, "output")
            schema = schemas.convert(media["schema"])
            definitions = schemas.definitions()
            return _self_contained(schema, definitions)
    return None


def _self_contained(schema: Mapping[str, Json], definitions: Mapping[str, Json]) -> Json:
    if not definitions:
        return schema
    target = str(schema.get("$ref", "")).removeprefix("#/$defs/")
    # Said again beside the reference, so that eras and clients that look only at the root see an object.
    kind = {"type": "object"} if _is_object(definitions.get(target)) and "type" not in schema else {}
    return {**kind, **schema, "$defs": {**schema.get("$defs", {}), **definitions}}


def _is_object(schema: Json) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "object"
