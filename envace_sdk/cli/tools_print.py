"""Catalogues and findings as text for a terminal."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from envace_sdk.tools.finding import Finding
    from envace_sdk.tools.model import Tool
    from envace_sdk.tools.toolset import Toolset

__all__ = ["findings_text", "shipped_rows", "summary", "table", "tool_rows"]

_PLACES = 5


def findings_text(findings: Iterable[Finding]) -> str:
    """The findings, errors first, those that say the same of several tools together; "" for none."""
    from envace_sdk.tools.finding import printable

    groups: dict[tuple[str, str, str, str], list[str]] = {}
    for finding in findings:
        key = (finding.severity, finding.rule, finding.message, finding.mend)
        groups.setdefault(key, []).append(f"{finding.tool}{finding.pointer}")
    lines = []
    for (severity, rule, message, mend), places in sorted(groups.items(), key=lambda group: group[0][0]):
        colour = "red" if severity == "error" else "yellow"
        lines.append(f"{click.style(severity, fg=colour)} {rule}: {printable(message)}")
        lines.extend(f"    {printable(place)}" for place in places[:_PLACES])
        if len(places) > _PLACES:
            lines.append(f"    and {len(places) - _PLACES} more")
        lines.append(f"  → {printable(mend)}")
    return "".join(f"{line}\n" for line in lines)


def summary(toolset: Toolset) -> str:
    """One line of counts."""
    errors = sum(finding.severity == "error" for finding in toolset.findings)
    warnings = len(toolset.findings) - errors
    return (
        f"{toolset.name}: {_count(len(toolset.definitions), 'tool')}, {len(toolset)} served, "
        f"{len(toolset.quarantined)} quarantined; {_count(errors, 'error')}, {_count(warnings, 'warning')}"
    )


def shipped_rows() -> list[dict[str, Any]]:
    """The toolsets that come with the package."""
    from envace_sdk.tools.shipped import shipped
    from envace_sdk.tools.toolset import Toolset

    return [
        {
            "name": name,
            "tools": len(Toolset.load(folder)),
            "tasks": _lines(folder / "tasks.jsonl"),
            "description": _about(folder / "README.md"),
        }
        for name, folder in shipped().items()
    ]


def tool_rows(toolset: Toolset) -> list[dict[str, Any]]:
    """The tools of one toolset, those in quarantine too."""
    rows = [_tool_row(tool) for tool in toolset]
    for definition in toolset.quarantined:
        name = definition.get("name") if isinstance(definition, dict) else None
        shown = name if isinstance(name, str) else "(no name)"
        rows.append({"name": shown, "effect": "quarantined", "arguments": "", "output": "", "description": ""})
    return rows


def table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """Aligned columns, the last one cut to the width of the terminal."""
    if not rows:
        return "nothing to list"
    cells = [[column.upper() for column in columns], *([_plain(row[column]) for column in columns] for row in rows)]
    widths = [min(max(len(line[index]) for line in cells), 60) for index in range(len(columns))]
    room = shutil.get_terminal_size((120, 24)).columns - sum(widths[:-1]) - 2 * (len(columns) - 1)
    widths[-1] = max(room, 20)
    return "\n".join(
        "  ".join(_fit(cell, width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells
    )


def _tool_row(tool: Tool) -> dict[str, Any]:
    hints = tool.annotations
    effect = "read" if hints.get("readOnlyHint") is True else "destroy" if hints.get("destructiveHint") is True else ""
    properties, required = tool.input_schema.get("properties"), tool.input_schema.get("required")
    names = [
        name if isinstance(required, list) and name in required else f"[{name}]"
        for name in (properties if isinstance(properties, dict) else ())
    ]
    return {
        "name": tool.name,
        "effect": effect,
        "arguments": " ".join(names),
        "output": "schema" if tool.output_schema is not None else "",
        "description": tool.description,
    }


def _about(readme: Path) -> str:
    try:
        text = readme.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
    paragraphs = [part.strip() for part in text.split("\n\n") if part.strip() and not part.lstrip().startswith("#")]
    return " ".join(paragraphs[0].split()) if paragraphs else ""


def _lines(path: Path) -> int:
    try:
        return sum(bool(line.strip()) for line in path.read_text(encoding="utf-8").split("\n"))
    except (OSError, UnicodeDecodeError):
        return 0


def _plain(value: Any) -> str:
    from envace_sdk.tools.finding import printable

    return printable(" ".join(str(value).split()))


def _fit(text: str, width: int) -> str:
    return (text if len(text) <= width else text[: width - 1] + "…").ljust(width)


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
