"""The slow path: the reference implementation, for what jsonschema-rs cannot compile."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from envace_sdk.json import Json

from .bad_schema import BadSchemaError
from .dialect import Dialect, Path, dialect, subschemas
from .regex import PatternError, matcher
from .regex.syntax import parse
from .regex.write import backtracks
from .violation import Failure

if TYPE_CHECKING:
    import jsonschema
    import referencing

__all__ = ["Fallback", "unmatchable"]


def unmatchable(schema: Json, of: Dialect, path: Path = ()) -> BadSchemaError | None:
    """The first pattern that no engine can match in bounded time, if there is one."""
    if not isinstance(schema, dict):
        return None
    of = dialect(schema, of)
    patterns: list[tuple[Path, Json]] = [(("pattern",), schema.get("pattern"))]
    if isinstance(schema.get("patternProperties"), dict):
        patterns += [(("patternProperties", name), name) for name in schema["patternProperties"]]
    for place, pattern in patterns:
        if isinstance(pattern, str):
            try:
                matcher(pattern)
            except PatternError as error:
                return BadSchemaError(path + place, str(place[0]), f"pattern {pattern!r}: {error}")
    for place, inner in subschemas(schema, of):
        if (problem := unmatchable(inner, of, path + place)) is not None:
            return problem
    return None


class Fallback:
    """A schema judged by the `jsonschema` package: same answers, a hundred times slower.

    Raises:
        BadSchemaError: it refuses the schema too.
    """

    def __init__(self, schema: Json, of: Dialect, registry: referencing.Registry[Any] | None = None) -> None:
        self._schema, self._of, self._registry = schema, of, registry
        problem = unmatchable(schema, of) or _runaway(schema, of)
        if problem is not None:
            raise problem
        import jsonschema

        try:
            # Patterns were looked at above, by the engines that will run them.
            no_formats = jsonschema.FormatChecker(formats=())
            judge: Any = jsonschema.validators.validator_for({"$schema": of.uri})
            judge.check_schema(schema, format_checker=no_formats)
        except jsonschema.SchemaError as error:
            raise BadSchemaError(tuple(error.absolute_path), str(error.validator), error.message) from None

    @cached_property
    def _validator(self) -> jsonschema.protocols.Validator:
        import jsonschema
        import jsonschema_specifications

        base = jsonschema.validators.validator_for({"$schema": self._of.uri})
        extended: Any = jsonschema.validators.extend(base, {"pattern": _pattern})  # type: ignore[no-untyped-call]
        registry = self._registry if self._registry is not None else jsonschema_specifications.REGISTRY
        made: jsonschema.protocols.Validator = extended(self._schema, registry=registry)
        return made

    def is_valid(self, value: Json) -> bool:
        """Whether the value fits. A schema that refers to itself without end allows nothing that reaches it."""
        try:
            return self._validator.is_valid(value)
        except RecursionError:
            return False

    def failures(self, value: Json) -> Iterator[Failure]:
        """What is wrong with the value."""
        try:
            for error in self._validator.iter_errors(value):
                yield _failure(error)
        except RecursionError:
            yield Failure("depth", (), (), None)


def _runaway(schema: Json, of: Dialect, path: Path = ()) -> BadSchemaError | None:
    """The first property pattern on which `jsonschema`, which runs those by `re` itself, might take forever."""
    if not isinstance(schema, dict):
        return None
    of = dialect(schema, of)
    by_pattern = schema.get("patternProperties")
    for pattern in by_pattern if isinstance(by_pattern, dict) else ():
        if not _is_safe(pattern):
            reason = f"pattern {pattern!r} could take exponential time beside others that only Python can run"
            return BadSchemaError((*path, "patternProperties", pattern), "patternProperties", reason)
    for place, inner in subschemas(schema, of):
        if (problem := _runaway(inner, of, path + place)) is not None:
            return problem
    return None


def _is_safe(pattern: str) -> bool:
    try:
        re.compile(pattern)
        return not backtracks(parse(pattern))
    except (PatternError, re.error):
        return False


def _pattern(_validator: Any, pattern: str, instance: Json, _schema: Json) -> Iterator[jsonschema.ValidationError]:
    import jsonschema

    if isinstance(instance, str) and not matcher(pattern)(instance):
        yield jsonschema.ValidationError(f"{instance!r} does not match {pattern!r}")


def _failure(error: jsonschema.ValidationError) -> Failure:
    rule = "false" if error.validator is None else str(error.validator)
    asked: Json = error.validator_value
    instance: Json = error.instance
    branches: dict[int, list[Failure]] = {}
    for inner in error.context or ():
        branches.setdefault(int(inner.schema_path[0]), []).append(_failure(inner))
    count = len(asked) if rule in {"anyOf", "oneOf"} else 0
    about: Mapping[str, Json] = {}
    if rule == "required" and isinstance(asked, list):
        missing = [name for name in asked if name not in instance]
        named = next((name for name in missing if error.message.startswith(repr(name))), None)
        about = {"property": named}
    elif rule == "required":  # draft-03 says it in the property's own schema
        about = {"property": error.path[-1] if error.path else None}
    elif rule in {"const", "enum"}:
        about = {"options": [asked] if rule == "const" else asked}
    elif rule == "additionalProperties" and isinstance(error.schema, dict):
        known = error.schema.get("properties", {})
        tests = [matcher(pattern) for pattern in error.schema.get("patternProperties", {})]
        extra = [name for name in instance if name not in known and not any(test(name) for test in tests)]
        about = {"unexpected": extra}
    return Failure(
        rule,
        tuple(error.absolute_path),
        tuple(error.absolute_schema_path),
        error.schema,
        about,
        [branches.get(index, []) for index in range(count)],
    )
