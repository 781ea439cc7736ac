"""The schema that a few sample values suggest: the least that admits them all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from envace_sdk.json import Json

__all__ = ["sample_schema"]

_SCALARS: tuple[tuple[type, str], ...] = ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"))


def sample_schema(samples: Iterable[Json]) -> dict[str, Json]:
    """A JSON Schema for values like these; `{}` when there are none.

    A property is required when every sampled object has it. Strings carry their samples as `examples`, from which
    new ones take their form.
    """
    values = list(samples)
    schemas = [
        _of_scalars(values),
        _of_objects([v for v in values if isinstance(v, dict)]),
        _of_arrays([v for v in values if isinstance(v, list)]),
    ]
    found = [schema for schema in schemas if schema]
    if len(found) > 1:
        return {"anyOf": found}
    return found[0] if found else {}


def _of_scalars(values: Sequence[Json]) -> dict[str, Json]:
    types = {_type_name(v) for v in values if not isinstance(v, dict | list)}
    if not types:
        return {}
    if "number" in types:
        types.discard("integer")
    schema: dict[str, Json] = {"type": next(iter(types)) if len(types) == 1 else sorted(types)}
    if "string" in types:
        schema["examples"] = list(dict.fromkeys(v for v in values if isinstance(v, str)))[:8]
    return schema


def _of_objects(values: Sequence[dict[str, Json]]) -> dict[str, Json]:
    if not values:
        return {}
    names = dict.fromkeys(name for value in values for name in value)
    return {
        "type": "object",
        "properties": {name: sample_schema(v[name] for v in values if name in v) for name in names},
        "required": [name for name in names if all(name in v for v in values)],
    }


def _of_arrays(values: Sequence[list[Json]]) -> dict[str, Json]:
    if not values:
        return {}
    return {"type": "array", "items": sample_schema(item for value in values for item in value)}


def _type_name(value: Json) -> str:
    if value is None:
        return "null"
    return next((name for kind, name in _SCALARS if isinstance(value, kind)), "string")
