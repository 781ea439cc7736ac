"""What is wrong with recordings, as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from envace_sdk.recordings import Finding

__all__ = ["recording_findings_text"]

_PLACES = 5


def recording_findings_text(findings: Sequence[Finding], most: int | None) -> str:
    """The findings, errors first, those that say the same together; "" for none."""
    from envace_sdk.tools.finding import printable

    groups: dict[tuple[str, str, str], list[str]] = {}
    for finding in sorted(findings, key=lambda finding: finding.severity):
        place = f"line {finding.line}" if finding.line else ""
        groups.setdefault((finding.severity, finding.file, finding.message), []).append(
            ", ".join(filter(None, (place, finding.field)))
        )
    colours = {"error": "red", "warning": "yellow"}
    lines: list[str] = []
    for (severity, file, message), places in list(groups.items())[:most]:
        lines.append(f"{click.style(severity, fg=colours[severity])} {printable(file)}: {printable(message)}")
        lines += [f"    {printable(place)}" for place in places[:_PLACES] if place]
        if len(places) > _PLACES:
            lines.append(f"    and {len(places) - _PLACES} more")
    if most is not None and len(groups) > most:
        left = len(groups) - most
        more = f"{left} more finding{'' if left == 1 else 's'}"
        lines.append(f"and {more}: `envace-sdk recordings show --all`")
    return "".join(f"{line}\n" for line in lines)
