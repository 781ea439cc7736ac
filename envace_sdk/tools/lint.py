"""The linter: which tools of a catalogue cannot be served, and which will trip some client or protocol era."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from envace_sdk.json import Json

from .carriage import carriage_findings
from .clients import client_findings
from .eras import era_findings
from .finding import Finding, error, warning
from .jsonness import json_finding
from .validity import validity_findings

__all__ = ["catalogue_findings", "check", "has_error", "label", "lint", "lint_catalogue"]

_LARGE: Final = 1024 * 1024


def lint(definitions: Sequence[Json]) -> list[Finding]:
    """Every finding about a list of MCP tool definitions, in the order of the list. Raises nothing."""
    groups = lint_catalogue(definitions)
    served = [definition for definition, group in zip(definitions, groups, strict=True) if not has_error(group)]
    return [*(finding for group in groups for finding in group), *catalogue_findings(served)]


def lint_catalogue(definitions: Sequence[Json], read: Sequence[Sequence[Finding]] | None = None) -> list[list[Finding]]:
    """The findings about each definition; a name used a second time is an error of the later one.

    `read` are findings that reading the definitions already had; where one is an error, nothing more is looked for.
    """
    groups = []
    seen: dict[str, int] = {}
    for index, definition in enumerate(definitions):
        found = list(read[index]) if read else []
        if not has_error(found):
            found.extend(check(definition))
        if not has_error(found) and (first := seen.setdefault(definition["name"], index)) != index:
            found = [_duplicate(first)]
        name = label(definition, index)
        groups.append([replace(finding, tool=finding.tool or name) for finding in found])
    return groups


def check(definition: Json) -> list[Finding]:
    """The findings about one definition alone: errors if it cannot be served, else warnings. Raises nothing."""
    if (finding := json_finding(definition)) is not None:
        return [finding]
    found = list(carriage_findings(definition))
    if not has_error(found):
        found.extend(validity_findings(definition))
    elif isinstance(definition, dict):
        # Say all that is wrong at once, where the shape of a schema allows to go on.
        found.extend(finding for finding in validity_findings(definition) if finding.severity == "error")
    if not has_error(found):
        found.extend(era_findings(definition))
        found.extend(client_findings(definition))
    return found


def label(definition: Json, index: int) -> str:
    """How findings call a tool: by its name, or by its position in the list."""
    name = definition.get("name") if isinstance(definition, dict) else None
    return name if isinstance(name, str) and name else f"#{index}"


def has_error(found: Iterable[Finding]) -> bool:
    """Whether any of the findings quarantines."""
    return any(finding.severity == "error" for finding in found)


def _duplicate(first: int) -> Finding:
    return error(("name",), "duplicate", f"the name is taken by #{first}", "rename one, or remove it")


def catalogue_findings(served: Iterable[Json]) -> list[Finding]:
    """What is wrong with a catalogue as a whole, given the definitions that passed quarantine."""
    size = sum(len(json.dumps(definition, ensure_ascii=False, separators=(",", ":"))) for definition in served)
    if size <= _LARGE:
        return []
    found = warning(
        (),
        "catalogue-size",
        f"the whole list takes {size:,} bytes: MCP clients read no server-sent event of more than {_LARGE:,}",
        "serve fewer tools, or shorten descriptions",
    )
    return [replace(found, tool="*")]
