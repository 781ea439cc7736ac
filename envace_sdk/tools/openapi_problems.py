"""What openapi-pydantic says is wrong with an OpenAPI document, sorted by the operation it concerns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from envace_sdk.json import Json

from .finding import Finding, error, warning

__all__ = ["Problems", "find_problems"]

_USED: Final = ("parameters", "requestBody", "responses")
_MOST: Final = 20


@dataclass(frozen=True, slots=True)
class Problems:
    """Findings by (path, method); the method is "" for what a path's operations share. `document`: all the rest."""

    operations: Mapping[tuple[str, str], tuple[Finding, ...]] = field(default_factory=dict)
    document: tuple[Finding, ...] = ()


def find_problems(document: Mapping[str, Json]) -> Problems:
    """Check the document against the OpenAPI models. Pointers lead into the document."""
    from openapi_pydantic import parse_obj
    from pydantic import ValidationError

    version = str(document.get("openapi"))
    # 3.2 only adds to 3.1, and the models end there; a patch number they have not heard of changes nothing either.
    known = {**document, "openapi": "3.0.3" if version.startswith("3.0") else "3.1.0"}
    try:
        parse_obj(known)
    except ValidationError as invalid:
        # From 3.1 on a schema may be true or false, which the models do not always know.
        known_gap = {"model_type"} if known["openapi"] == "3.1.0" else set()
        return _sort(
            [
                (tuple(one["loc"][1:]), one["msg"])
                for one in invalid.errors(include_url=False)
                if not (one["type"] in known_gap and isinstance(one["input"], bool))
            ]
        )
    except RecursionError:
        return Problems(document=(warning((), "openapi", "nested too deeply to be checked", "flatten it"),))
    return Problems()


def _sort(problems: list[tuple[tuple[str | int, ...], str]]) -> Problems:
    operations: dict[tuple[str, str], list[Finding]] = {}
    document: list[Finding] = []
    for location, message in problems:
        # Every object may also be a reference, and the models complain about that alternative each time.
        if location[-2:] == ("Reference", "$ref"):
            continue
        place = tuple(step for step in location if not _is_model(step))
        if len(place) >= 3 and place[0] == "paths":
            method = "" if place[2] == "parameters" else str(place[2])
            part = place[2:] if not method else place[3:]
            is_fatal = bool(part) and part[0] in _USED and not _is_failure(part)
            found = (error if is_fatal else warning)(place, "openapi", message, "correct the OpenAPI document")
            operations.setdefault((str(place[1]), method), []).append(found)
        else:
            document.append(warning(place, "openapi", message, "correct the OpenAPI document"))
    if len(document) > _MOST:
        rest = f"{len(document) - _MOST} more problems outside of operations"
        document[_MOST:] = [warning((), "openapi", rest, "validate the document with an OpenAPI linter")]
    return Problems({key: tuple(found[:_MOST]) for key, found in operations.items()}, tuple(document))


def _is_failure(part: tuple[str | int, ...]) -> bool:
    """Whether it is in a response that reports a failure: those say nothing about a tool's schemas."""
    return part[0] == "responses" and len(part) > 1 and not str(part[1]).startswith("2")


def _is_model(step: str | int) -> bool:
    # pydantic puts the alternatives of a union into the location: `Parameter`, `list[…]`, `str-enum[DataType]`.
    return isinstance(step, str) and (step in _MODELS or "[" in step or step in ("bool", "str", "int", "float"))


_MODELS: Final = frozenset(
    {"Callback", "Example", "Header", "Link", "Parameter", "Reference", "RequestBody", "Response", "Schema"}
    | {"SecurityScheme", "PathItem", "MediaType"}
)
