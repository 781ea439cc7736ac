"""What the schema of a key field leaves for new keys: which it admits, where numbers begin, and what is still free."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from math import ceil, floor, isfinite
from random import Random
from typing import TypeGuard

from envace_sdk.errors import SchemaError, UnsatisfiableError
from envace_sdk.json import Json
from envace_sdk.jsonschema import Validator, compile_schema, generate

__all__ = ["admits", "first_number", "free_key", "without_formats"]

_CLOCK = datetime(2026, 1, 1, tzinfo=UTC)
_RANDOM_ATTEMPTS = 25
"""Keys made by chance before those that are taken are ruled out one and all."""
_MOST_EXCLUDED = 2_000
"""Taken keys that can be ruled out in a schema; beyond, a small space is not told from an unlucky hand."""
_OTHERS: list[Json] = ["integer", "number", "boolean"]


def admits(schema: Json, key: Json) -> bool:
    """Whether this is a key, and the schema of the key field allows it; one that is no schema allows everything."""
    if key is None or isinstance(key, dict | list):
        return False
    if schema is None or schema is True or schema == {}:
        return True
    validator = _validator(schema)
    return validator is None or validator.is_valid(key)


def _validator(schema: Json) -> Validator | None:
    try:
        return compile_schema(schema, where="key field")
    except SchemaError:
        return None


def first_number(schema: Json) -> int:
    """The least whole number that the bounds of a schema leave; 0 where they leave none open below."""
    if not isinstance(schema, dict):
        return 0
    least, above, parts = schema.get("minimum"), schema.get("exclusiveMinimum"), schema.get("allOf")
    inner = [first_number(part) for part in parts] if isinstance(parts, list) else []
    return max(
        0,
        ceil(least) if _is_number(least) else 0,
        floor(above) + 1 if _is_number(above) else 0,
        *inner,
    )


def _is_number(bound: Json) -> TypeGuard[float]:
    return (
        isinstance(bound, int | float) and not isinstance(bound, bool) and (isinstance(bound, int) or isfinite(bound))
    )


def free_key(schema: Json, random: Random, taken: Callable[[Json], bool], used: Callable[[], Iterable[Json]]) -> Json:
    """A key that the schema admits and nobody has: by chance, then by ruling out those that are used.

    Formats are kept where they can be; no validator asserts them.

    Raises:
        UnsatisfiableError: the schema admits none that is free, or none was found in bounded time.
        SchemaError: it is no schema.
    """
    try:
        return _free_key(schema, random, taken, used)
    except UnsatisfiableError:
        plain = without_formats(schema)
        if plain == schema:
            raise
        return _free_key(plain, random, taken, used)


def without_formats(schema: Json) -> Json:
    """The schema less its formats, as validators see it that do not assert them."""
    if isinstance(schema, list):
        return [without_formats(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        keyword: without_formats(part) if keyword in {"allOf", "anyOf", "oneOf"} else part
        for keyword, part in schema.items()
        if keyword != "format"
    }


def _free_key(schema: Json, random: Random, taken: Callable[[Json], bool], used: Callable[[], Iterable[Json]]) -> Json:
    wanted: Json = {"allOf": [schema, {"type": [*_OTHERS, "string"]}]}
    for _ in range(_RANDOM_ATTEMPTS):
        key = generate(wanted, random=random, clock=_CLOCK)
        if not taken(key):
            return key
    excluded = list({json.dumps(key): key for key in used() if not isinstance(key, dict | list)}.values())
    while len(excluded) < _MOST_EXCLUDED:
        key = _other(schema, excluded, random)
        if not taken(key):
            return key
        excluded.append(key)
    raise UnsatisfiableError("no key that is free was found")


def _other(schema: Json, excluded: Sequence[Json], random: Random) -> Json:
    """A key that the schema admits besides those."""
    texts = [re.sub(r"[\\^$.*+?()\[\]{}|/]", r"\\\g<0>", key) for key in excluded if isinstance(key, str)]
    text: dict[str, Json] = {"type": "string"}
    if texts:
        # As a pattern the generator can steer around them; of an enumeration it can only hope not to meet it.
        text["not"] = {"pattern": f"^(?:{'|'.join(texts)})$"}
    try:
        return generate({"allOf": [schema, text]}, random=random, clock=_CLOCK)
    except UnsatisfiableError:
        numbers: list[Json] = [key for key in excluded if not isinstance(key, str)]
        other: Json = {"type": _OTHERS, "not": {"enum": numbers}} if numbers else {"type": _OTHERS}
        return generate({"allOf": [schema, other]}, random=random, clock=_CLOCK)
