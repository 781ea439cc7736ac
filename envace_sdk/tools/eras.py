"""What an MCP protocol revision can carry of a definition, and what it loses.

Up to 2025-11-25 a result is a JSON object, so an output schema must describe one; from 2026-07-28 on it is any JSON
value, and tasks, with `execution`, are no longer part of the protocol. Keys that MCP does not know survive: every
client ignores them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from envace_sdk.json import Json

from .carriage import HINTS, OPTIONAL
from .finding import Finding, warning

__all__ = ["ERAS", "LATEST_HANDSHAKE", "MODERN", "era_findings", "is_modern", "project"]

ERAS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
"""The published protocol revisions, oldest first."""

LATEST_HANDSHAKE: Final = "2025-11-25"
"""The last revision that begins with `initialize`."""

MODERN: Final = "2026-07-28"
"""The first revision without sessions."""


def is_modern(era: str) -> bool:
    """Whether a protocol revision is 2026-07-28 or later (revisions are dates)."""
    return era >= MODERN


def project(definition: Mapping[str, Json], era: str) -> dict[str, Json]:
    """The definition as `era` can carry it: equal to what was loaded, less what would break its clients.

    The definition must have passed quarantine. It is not changed; parts that need no change are shared.
    """
    carried = _without_nulls(definition)
    if is_modern(era):
        carried.pop("execution", None)
        return carried
    if "outputSchema" in carried and not _describes_object(carried["outputSchema"]):
        del carried["outputSchema"]
    if not _is_list_of_names(carried["inputSchema"].get("required", [])):
        carried["inputSchema"] = {key: part for key, part in carried["inputSchema"].items() if key != "required"}
    return carried


def era_findings(definition: Mapping[str, Json]) -> Iterator[Finding]:
    """A warning for everything some revision cannot carry of a definition that passed quarantine."""
    output = definition.get("outputSchema")
    if output is not None and not _describes_object(output):
        yield warning(
            ("outputSchema",),
            "era-output-schema",
            f"revisions up to {LATEST_HANDSHAKE} know only results that are objects: served without it there",
            'give the root "type": "object", if results are objects',
        )
    if not _is_list_of_names(definition["inputSchema"].get("required", [])):
        yield warning(
            ("inputSchema", "required"),
            "era-required",
            f"revisions up to {LATEST_HANDSHAKE} know only a list of names: served without it there",
            "list the required properties",
        )
    if definition.get("execution") is not None:
        yield warning(
            ("execution",),
            "era-execution",
            f"tasks left the protocol with {MODERN}: served without it there",
            "nothing to mend; clients of that revision do not look for it",
        )


def _describes_object(schema: Json) -> bool:
    return (
        isinstance(schema, dict)
        and schema.get("type") == "object"
        and _is_list_of_names(schema.get("required", []))
        and _are_schemas(schema.get("properties", {}))
    )


def _are_schemas(properties: Json) -> bool:
    return isinstance(properties, dict) and all(isinstance(schema, dict | bool) for schema in properties.values())


def _is_list_of_names(required: Json) -> bool:
    return isinstance(required, list) and all(isinstance(name, str) for name in required)


def _without_nulls(definition: Mapping[str, Json]) -> dict[str, Json]:
    carried = {key: part for key, part in definition.items() if not (part is None and key in OPTIONAL)}
    for field in ("inputSchema", "outputSchema"):
        if field in carried:
            carried[field] = _less(carried[field], ("$schema",))
    if "annotations" in carried:
        carried["annotations"] = _less(carried["annotations"], ("title", *HINTS))
    if "execution" in carried:
        carried["execution"] = _less(carried["execution"], ("taskSupport",))
    if "icons" in carried:
        carried["icons"] = [_less(icon, ("mimeType", "sizes", "theme")) for icon in carried["icons"]]
    return carried


def _less(part: Mapping[str, Json], fields: tuple[str, ...]) -> Mapping[str, Json]:
    if not any(field in part and part[field] is None for field in fields):
        return part
    return {key: value for key, value in part.items() if not (value is None and key in fields)}
