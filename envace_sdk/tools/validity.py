"""Whether a tool's schemas are JSON Schemas that can be evaluated: references, patterns, the meta-schema."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from envace_sdk.errors import SchemaError
from envace_sdk.json import Json

from .finding import Finding, error, warning
from .references import reference_findings
from .walk import Path, positions

__all__ = ["validity_findings"]

_LONGEST: Final = 160
_REASON: Final = re.compile(r"(?P<pointer>(?:/[^:]*)?): (?P<reason>.*) \((?P<rule>[^()]*)\)", re.DOTALL)


def validity_findings(definition: Mapping[str, Json]) -> Iterator[Finding]:
    """Why the input or output schema cannot be evaluated; the definition must have the right shape already."""
    for field in ("inputSchema", "outputSchema"):
        schema = definition.get(field)
        if isinstance(schema, dict):
            yield from _schema_findings(schema, field)


def _schema_findings(schema: Mapping[str, Json], field: str) -> Iterator[Finding]:
    found = [*reference_findings(schema, field), *_pattern_findings(schema, field)]
    yield from found
    if any(finding.severity == "error" for finding in found):
        return
    from envace_sdk.jsonschema import compile_schema

    try:
        compile_schema(schema, where=field)
    except SchemaError as reason:
        yield _explain(field, reason)


def _explain(field: str, reason: SchemaError) -> Finding:
    found = _REASON.fullmatch(str(reason).removeprefix(field))
    where = f"/{field}{found['pointer']}" if found else f"/{field}"
    said, rule = (found["reason"], found["rule"]) if found else (str(reason), "")
    keyword = f" ({rule})" if rule and not said.endswith(")") else ""
    blamed = error((), "schema", f"no valid JSON Schema: {_short(said)}{keyword}", "correct or remove this keyword")
    return replace(blamed, pointer=where)


def _pattern_findings(schema: Mapping[str, Json], field: str) -> Iterator[Finding]:
    for path, pattern in _patterns(schema):
        where = (field, *path)
        elsewhere, python = _portable_problem(pattern), _python_problem(pattern)
        if elsewhere and python:
            yield error(where, "pattern", f"no regular expression: {_short(python)}", "correct the pattern")
        elif elsewhere:
            yield warning(
                where,
                "pattern-portable",
                f"a regular expression of Python only, JavaScript clients cannot compile it: {_short(elsewhere)}",
                "use ECMA-262 syntax, for example $ instead of \\Z",
            )
        elif python:
            yield warning(
                where,
                "pattern-python",
                f"Python clients cannot compile this regular expression: {_short(python)}",
                "spell the character class out, for example [A-Za-z] instead of \\p{L}",
            )


def _patterns(schema: Mapping[str, Json]) -> Iterator[tuple[Path, str]]:
    for here in positions(schema):
        if not isinstance(here.schema, dict):
            continue
        if isinstance(pattern := here.schema.get("pattern"), str):
            yield (*here.path, "pattern"), pattern
        if isinstance(named := here.schema.get("patternProperties"), dict):
            for pattern in named:
                yield (*here.path, "patternProperties", pattern), pattern


def _python_problem(pattern: str) -> str | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError, MemoryError) as problem:
        return str(problem) or type(problem).__name__
    return None


def _portable_problem(pattern: str) -> str | None:
    import jsonschema_rs

    try:
        jsonschema_rs.Draft202012Validator({"pattern": pattern})
    except (jsonschema_rs.ValidationError, ValueError) as problem:
        return str(problem).split("\n", 1)[0]
    return None


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
