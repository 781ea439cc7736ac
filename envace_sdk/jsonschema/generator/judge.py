"""Judges any part of a schema: whether a value fits some of its nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from envace_sdk.json import Json

from .. import rust
from ..dialect import Dialect
from ..fallback import Fallback
from ..validator import Validator
from .graph import BASE, Graph
from .groups import Nodes

if TYPE_CHECKING:
    import jsonschema_rs

__all__ = ["Judge"]

_KEPT: Final = 1000


class Judge:
    """Compiles a validator for each set of nodes it is asked about, and keeps it."""

    def __init__(self, validator: Validator, graph: Graph) -> None:
        self._validator, self._graph = validator, graph
        self._registry: jsonschema_rs.Registry | None = None
        self._tests: dict[Nodes, Callable[[Json], bool]] = {}

    def accepts(self, nodes: Nodes, value: Json) -> bool:
        """Whether a value fits all the nodes."""
        test = self._tests.get(nodes)
        if test is None:
            if len(self._tests) > _KEPT:
                self._tests.clear()
            test = self._test(nodes)
            if all(node.lasting for node in nodes):
                self._tests[nodes] = test
        return test(value)

    def _test(self, nodes: Nodes) -> Callable[[Json], bool]:
        judged = [node.judged for node in nodes if node.judged is not True]
        if not judged:
            return lambda _value: True
        if nodes == (self._graph.root,):
            return self._validator.is_valid
        schema = {"$schema": Dialect.DRAFT_2020.uri, "allOf": judged}
        if self._validator.fallback is not None:
            return self._slow(schema)
        if self._registry is None:
            self._registry = rust.registry((BASE, self._validator.ready))
        test = rust.validator(rust.scrubbed(schema), self._registry).is_valid
        if self._validator.scrubs:
            return lambda value: test(rust.scrubbed(value))

        def judge(value: Json) -> bool:
            try:
                return test(value)
            except ValueError:
                return test(rust.scrubbed(value))

        return judge

    def _slow(self, schema: Json) -> Callable[[Json], bool]:
        import jsonschema_specifications
        from referencing import Resource
        from referencing.jsonschema import specification_with

        default = specification_with(self._validator.dialect.uri)
        document = Resource.from_contents(self._validator.ready, default_specification=default)
        registry = jsonschema_specifications.REGISTRY.with_resource(BASE, document)
        return Fallback(schema, Dialect.DRAFT_2020, registry).is_valid
