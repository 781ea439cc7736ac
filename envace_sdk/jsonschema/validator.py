"""Compiled schemas: is a value valid, and if not, why."""

from __future__ import annotations

import marshal
import re
from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeAlias

import jsonschema_rs

from envace_sdk.errors import SchemaError
from envace_sdk.json import Json

from . import rust
from .bad_schema import BadSchemaError
from .describe import literal, type_name
from .dialect import Dialect, Path, dialect, reference_keywords, subschemas
from .pointer import join
from .violation import Failure, Violation, explained

if TYPE_CHECKING:
    from .fallback import Fallback

__all__ = ["Schema", "Validator", "compile_schema", "content", "from_content"]

Schema: TypeAlias = Mapping[str, Json] | bool
"""A JSON Schema: an object or a boolean."""

_LARGE: Final = 500_000
"""Bytes of a value beyond which violations are not all listed, because jsonschema-rs lists them before it returns."""
_COPIED: Final = 16_000_000
"""The same, of possible failures times bytes: each comes with a copy of its part of the value. Some 200 MB."""
_FAILURES: Final = 100
_TOLD: Final = 1000
"""Characters of a place, and of what is wrong there, in a message: names and patterns may be of any length."""
_LONG: Final = 10_000
"""Bytes of a schema; in a shorter one no pattern is too long."""
_MANY_REFERENCES: Final = 24
"""With fewer, there is no way to take forever."""


class Validator:
    """A compiled schema. Get one from `compile_schema`; it is immutable and shared.

    It judges as MCP clients do: by the keywords of the dialect that `$schema` names (2020-12 if none), with `format`
    an annotation. Any Python value gets an answer: NaN and infinities are judged as null, which is what they become on
    the wire; what has no JSON form at all, or is nested too deeply to judge, is not valid.
    """

    def __init__(
        self, schema: Json, of: Dialect, ready: Json, engine: jsonschema_rs.Validator | None, fallback: Fallback | None
    ) -> None:
        self.schema: Json = schema
        """The schema: a copy of what was compiled, not to be changed."""
        self.dialect = of
        self.ready = ready
        """The schema as the engine runs it; pointers into it are the same."""
        self.fallback = fallback
        """The slow engine, where jsonschema-rs cannot run the schema."""
        self._engine = engine
        self._test: Callable[[Json], bool] = (engine or fallback).is_valid  # type: ignore[union-attr]
        self.scrubs = ready is not schema and rust.scrubbed(schema) != schema
        """Whether the schema itself holds lone surrogates, so that values must always be scrubbed to be compared."""
        # Rust follows references on the stack, so a value that is deep enough would bring the process down.
        self._recursive = _refers(schema, of)

    def is_valid(self, value: Json) -> bool:
        """Whether the value fits the schema."""
        try:
            if self._recursive:
                marshal.dumps(value, 2)
            if self.scrubs:
                value = rust.scrubbed(value)
            return self._test(value)
        except (ValueError, RecursionError):
            return not self._judged_slowly(value)

    def violations(self, value: Json, *, limit: int = 20) -> list[Violation]:
        """What is wrong with the value, at most `limit` reasons; none if it fits."""
        if self.is_valid(value):
            return []
        return explained(self._judged_slowly(value), value, limit) or explained([Failure("json", (), (), None)], value)

    def _judged_slowly(self, value: Json) -> list[Failure]:
        """The failures; first of all those that keep an engine from judging."""
        try:
            clean = rust.scrubbed(value)
            size = len(marshal.dumps(clean, 2))
        except RecursionError:
            return [Failure("depth", (), (), None)]
        except ValueError:
            return [_not_json(value)]
        try:
            if self.fallback is not None:
                return list(islice(self.fallback.failures(value), _FAILURES))
            if self._engine is None or self._test(clean):
                return []
            return self._listed(self._engine, clean, size)
        except (ValueError, RecursionError) as error:
            return [_not_json(value, str(error))]

    def _listed(self, engine: jsonschema_rs.Validator, value: Json, size: int) -> list[Failure]:
        """The failures; the first one where there may be too many, and none in particular where even that is too much,
        because it holds why each of its alternatives does not fit.
        """
        from .bounds import depth, has_alternatives

        copied = self._most * size * depth(value)
        if size <= _LARGE and copied <= _COPIED:
            return [rust.failures(error, self.schema) for error in islice(engine.iter_errors(value), _FAILURES)]
        if copied > _COPIED and has_alternatives(self.schema):
            return [Failure("json", (), (), None, {"reason": "a value that does not fit, too large to say where"})]
        try:
            engine.validate(value)
        except jsonschema_rs.ValidationError as error:
            return [rust.failures(error, self.schema)]
        return []

    @cached_property
    def _most(self) -> int:
        from .bounds import most_failures

        return most_failures(self.schema)

    @cached_property
    def memo(self) -> dict[str, object]:
        """A place for what others derive from the schema and want to keep as long as it is kept."""
        return {}


def _not_json(value: Json, reason: str = "") -> Failure:
    """Where a value stops being JSON, or how it defeats the engine."""
    stack: list[tuple[Path, Json]] = [((), value)]
    while stack:
        path, item = stack.pop()
        if len(path) > 1500:
            return Failure("depth", (), (), None)
        if isinstance(item, dict):
            for key, inner in item.items():
                if not isinstance(key, str):
                    reason = f"object with the {type_name(key)} key {key!r:.40}"
                    return Failure("json", path, (), None, {"reason": reason})
                stack.append(((*path, key), inner))
        elif isinstance(item, list | tuple):
            stack.extend(((*path, index), inner) for index, inner in enumerate(item))
        elif not isinstance(item, str | int | float | None):
            return Failure("json", path, (), None, {"reason": f"a Python {type(item).__name__}"})
    if "ecursion" in reason:
        return Failure("depth", (), (), None)
    return Failure("json", (), (), None, {"reason": reason or "a value that cannot be judged"})


def _refers(schema: Json, of: Dialect) -> bool:
    if not isinstance(schema, dict):
        return False
    of = dialect(schema, of)
    if any(keyword in schema for keyword in reference_keywords(of)):
        return True
    return any(_refers(inner, of) for _, inner in subschemas(schema, of))


def compile_schema(schema: Schema | Json, *, where: str = "schema") -> Validator:
    """Compile a schema. Equal schemas share one validator, so compiling again costs microseconds.

    Nothing is fetched: a reference must lead into the schema itself, or to a meta-schema.

    Raises:
        SchemaError: it is not a schema; the message starts with `where`, and names the place and the rule.
    """
    try:
        return from_content(content(schema))
    except BadSchemaError as problem:
        place = f"{where}{join(problem.path)}"
        raise SchemaError(f"{place[:_TOLD]}: {problem.reason[:_TOLD]} ({problem.rule})") from None


def content(schema: Schema | Json) -> bytes:
    """The schema as bytes, equal for equal schemas.

    Raises:
        BadSchemaError: it holds what is not JSON, or is nested too deeply.
    """
    try:
        plain: Json = schema
        return marshal.dumps(plain, 2)
    except ValueError:
        try:
            return marshal.dumps(_plain(schema), 2)
        except (ValueError, RecursionError):
            raise BadSchemaError((), "depth", "a schema is JSON, nested at most some hundred levels") from None


def _plain(value: Json) -> Json:
    """Mappings of other kinds, such as read-only ones, as dicts."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, str | int | float | None):
        return value
    raise ValueError(value)


@lru_cache(maxsize=1024)
def from_content(key: bytes) -> Validator:
    """The validator of what `content` gave.

    Raises:
        BadSchemaError: it is not a schema.
    """
    schema = marshal.loads(key)  # noqa: S302  these bytes never left the process
    if not isinstance(schema, dict | bool):
        raise BadSchemaError((), "type", f"a schema is an object or a boolean, not {type_name(schema)}")
    of = dialect(schema)
    try:
        if key.count(b"Ref") + key.count(b"$ref") >= _MANY_REFERENCES:
            from .bounds import check_bounds

            check_bounds(schema)
        if len(key) > _LONG and b"attern" in key:
            from .bounds import check_patterns

            check_patterns(schema, of)
        if of > Dialect.DRAFT_7 or b"content" not in key:
            try:
                return Validator(schema, of, schema, rust.validator(schema), None)
            except ValueError:
                pass  # perhaps only for a pattern, a surrogate, an unknown dialect or a reference to a meta-schema
        from .prepare import prepared

        portable = prepared(schema, of)
        ready = rust.scrubbed(portable)
        try:
            return Validator(schema, of, ready, rust.validator(ready, rust.registry()), None)
        except ValueError as error:
            return Validator(schema, of, portable, None, _fallback(portable, of, error))
    except RecursionError:
        raise BadSchemaError((), "depth", "the schema is nested too deeply") from None


def _fallback(schema: Json, of: Dialect, error: ValueError) -> Fallback:
    """The slow engine, if what jsonschema-rs refuses is a schema all the same.

    Raises:
        BadSchemaError: it is not.
    """
    if not isinstance(error, jsonschema_rs.ValidationError):
        if "ecursion" in str(error):
            raise BadSchemaError((), "depth", "the schema is nested too deeply")
        raise BadSchemaError((), "json", str(error).partition("\n")[0])
    if error.kind.name == "$ref":
        reference = _reference(error.message)
        raise BadSchemaError(_place(schema, of, reference), "$ref", _dangling(error.message, reference))
    from .fallback import Fallback, unmatchable

    if (problem := unmatchable(schema, of)) is not None:
        raise problem
    if error.kind.name == "format" or of is Dialect.DRAFT_3:
        return Fallback(schema, of)
    path, reason = tuple(error.instance_path), error.message.partition("\n")[0]
    if path[-1:] == ("type",):
        reason = f"{literal(error.instance)} is not a type"
    raise BadSchemaError(path, rust.failures(error, None).rule, reason)


def _reference(message: str) -> str:
    found = re.search(r"(?:Pointer|Anchor|Resource|anchor) '([^']*)'", message)
    return found[1] if found else ""


def _dangling(message: str, reference: str) -> str:
    if "retriev" in message.lower():
        return f"reference to {reference!r}, which is not part of the schema; references are never fetched"
    return f"reference to {reference!r}, which is not there" if reference else message.partition("\n")[0]


def _place(schema: Json, of: Dialect, reference: str, path: Path = ()) -> Path:
    """Where a schema refers to `reference`; the root if that is not found."""
    if isinstance(schema, dict):
        of = dialect(schema, of)
        for keyword in reference_keywords(of):
            target = schema.get(keyword)
            if isinstance(target, str) and reference and target.endswith(reference):
                return (*path, keyword)
        for place, inner in subschemas(schema, of):
            if found := _place(inner, of, reference, path + place):
                return found
    return ()
