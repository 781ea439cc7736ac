"""Where `$ref`s lead: within the document, to a published meta-schema, or nowhere we may go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import unquote, urlsplit

from envace_sdk.json import Json

from .finding import Finding, error, pointer
from .walk import Path, positions

if TYPE_CHECKING:
    from referencing import Resource, Specification
    from referencing._core import Resolver

__all__ = ["is_recursive", "reference_findings", "references"]

_KEYWORDS: Final = ("$ref", "$dynamicRef", "$recursiveRef")


def reference_findings(schema: Json, field: str) -> Iterator[Finding]:
    """An error for every reference that cannot be followed without the network, or that leads nowhere."""
    if not any(True for _ in references(schema)):
        return
    scopes: dict[Path, _Scope] = {}
    for here in positions(schema):
        scope = _Scope.of_root(schema) if here.parent is None else scopes[here.parent].within(here.schema)
        scopes[here.path] = scope
        if isinstance(here.schema, dict):
            for keyword in _KEYWORDS:
                target = here.schema.get(keyword)
                if isinstance(target, str) and (problem := _problem(scope, target)):
                    yield error((field, *here.path, keyword), *problem)


def references(schema: Json) -> Iterator[tuple[Path, str]]:
    """Every reference in the schema: the path of the schema that holds it, and the reference."""
    for here in positions(schema):
        if isinstance(here.schema, dict):
            for keyword in _KEYWORDS:
                if isinstance(target := here.schema.get(keyword), str):
                    yield here.path, target


def is_recursive(schema: Json) -> bool:
    """Whether following the schema's own references (`#…`) can go on for ever."""
    found = list(references(schema))
    if not found:
        return False
    places = {"#" + pointer(here.path): here.path for here in positions(schema)}
    aims = [(path, places[unquote(target)]) for path, target in found if unquote(target) in places]
    # From a schema that is referred to, one comes to whatever lies beneath it refers to.
    ahead: dict[Path, set[Path]] = {aim: set() for _, aim in aims}
    for path, aim in aims:
        for end in range(len(path) + 1):
            if (above := path[:end]) in ahead:
                ahead[above].add(aim)
    return _has_cycle(ahead)


def _has_cycle(graph: dict[Path, set[Path]]) -> bool:
    # Taking away what leads nowhere further, again and again, leaves nothing but cycles and what leads to them.
    behind: dict[Path, set[Path]] = {node: set() for node in graph}
    for node, targets in graph.items():
        for target in targets:
            behind[target].add(node)
    remaining = {node: len(targets) for node, targets in graph.items()}
    ends = [node for node, count in remaining.items() if not count]
    while ends:
        end = ends.pop()
        del remaining[end]
        for node in behind[end]:
            remaining[node] -= 1
            if not remaining[node]:
                ends.append(node)
    return bool(remaining)


class _Scope:
    """What a reference is resolved against at one place: the resources known, and the base URI there."""

    def __init__(self, resolver: Resolver[Json], specification: Specification[Json]) -> None:
        self._resolver = resolver
        self._specification = specification

    @classmethod
    def of_root(cls, schema: Json) -> Self:
        from jsonschema_specifications import REGISTRY
        from referencing.jsonschema import DRAFT202012, UnknownDialect, specification_with

        dialect = schema.get("$schema") if isinstance(schema, dict) else None
        try:
            specification = specification_with(dialect) if isinstance(dialect, str) else DRAFT202012
        except UnknownDialect:
            specification = DRAFT202012
        resource = specification.create_resource(schema)
        uri = _identifier(resource) or ""
        return cls(REGISTRY.with_resource(uri, resource).resolver(base_uri=uri), specification)

    def within(self, schema: Json) -> _Scope:
        """The scope inside `schema`, which may set a new base URI."""
        resource = self._specification.create_resource(schema)
        if _identifier(resource) is None:
            return self
        return _Scope(self._resolver.in_subresource(resource), self._specification)

    def lookup(self, target: str) -> Json:
        return self._resolver.lookup(target).contents


def _identifier(resource: Resource[Json]) -> str | None:
    # A broken `$id` (a number, an impossible address) is the meta-schema's to report; here it names nothing.
    try:
        found = resource.id()
        urlsplit(found or "")
    except (AttributeError, TypeError, ValueError):
        return None
    return found


def _problem(scope: _Scope, target: str) -> tuple[str, str, str] | None:
    from referencing.exceptions import Unresolvable

    try:
        found = scope.lookup(target)
    except Unresolvable:
        if target.startswith("#"):
            return ("dangling-ref", f"{target} leads to nothing", "define it under $defs, or correct the pointer")
        return (
            "remote-ref",
            f"{target} is outside this document, and no schema is ever fetched from elsewhere",
            "bundle the schema into $defs and refer to it there",
        )
    except (ValueError, TypeError, AttributeError, RecursionError):
        # Broken identifiers and pointers through values that hold nothing: the library means no verdict by these.
        return ("dangling-ref", f"{target} cannot be followed", "define it under $defs, or correct the pointer")
    if not isinstance(found, dict | bool):
        return ("dangling-ref", f"{target} leads to something that is no schema", "refer to an object or a boolean")
    return None
