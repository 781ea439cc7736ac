"""What is wrong with a recording, or merely awkward: in which file, line and field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal

from envace_sdk.errors import FixtureError
from envace_sdk.json import Json

__all__ = ["FieldError", "Finding", "Findings", "Severity"]

Severity = Literal["error", "warning"]
"""`error`: what is named is left out. `warning`: it is kept, and may mislead."""

_MOST: Final = 500


@dataclass(frozen=True, slots=True)
class Finding:
    """One remark about one place of a recording."""

    file: str
    line: int
    """From 1; 0 is the file as a whole. Of JSON that goes over several lines, the one it begins on."""
    field: str
    """The path of a member in that line; "" is all of it."""
    message: str
    severity: Severity = "error"

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return ": ".join(filter(None, (place, self.field, self.message)))

    def to_json(self) -> dict[str, Json]:
        """The finding as a JSON object, one key per field."""
        return asdict(self)


class FieldError(FixtureError):
    """Of one field of a line; `field` is "" where it is all of the line."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field
        self.message = message


class Findings:
    """Collects the findings of one file; only so many are kept, the others are counted.

    Args:
        file: the file's name, for messages.
        strict: raise the first error instead of collecting it.
    """

    def __init__(self, file: Path | str, *, strict: bool = False) -> None:
        self.file = str(file)
        self._strict = strict
        self._kept: list[Finding] = []
        self._more: dict[Severity, int] = {"error": 0, "warning": 0}

    def error(self, line: int, field: str, message: str) -> None:
        """Something is left out. Raises: FixtureError, if strict."""
        finding = Finding(self.file, line, field, message)
        if self._strict:
            raise FixtureError(str(finding))
        self._add(finding)

    def warning(self, line: int, field: str, message: str) -> None:
        """Something is kept, and may mislead."""
        self._add(Finding(self.file, line, field, message, "warning"))

    def listed(self) -> tuple[Finding, ...]:
        """All that was found, in the order of the file, then how much more there is."""
        found = sorted(self._kept, key=lambda finding: finding.line)
        rest = [
            Finding(self.file, 0, "", f"{count} more like these", severity)
            for severity, count in _some(self._more).items()
        ]
        return (*found, *rest)

    def _add(self, finding: Finding) -> None:
        if len(self._kept) < _MOST:
            self._kept.append(finding)
        else:
            self._more[finding.severity] += 1


def _some(counts: Mapping[Severity, int]) -> Mapping[Severity, int]:
    return {severity: count for severity, count in counts.items() if count}
