"""What is wrong, or merely awkward, with one tool: where, by which rule, and what mends it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Literal

from envace_sdk.json import Json

__all__ = ["Finding", "Severity", "error", "pointer", "printable", "warning"]

Severity = Literal["error", "warning"]
"""`error`: the tool cannot be served and is quarantined. `warning`: served, but some client or era will trip on it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One remark about one tool of a catalogue.

    `tool` is its name, `#3` for the fourth tool when it has none, `*` for the catalogue as a whole. `pointer` is a
    JSON pointer into the definition ("" is all of it).
    """

    tool: str
    pointer: str
    rule: str
    message: str
    mend: str
    severity: Severity

    def __str__(self) -> str:
        where = f"{self.tool}{self.pointer}" if self.pointer else self.tool
        return printable(f"{self.severity}: {where}: {self.message} [{self.rule}] → {self.mend}")

    def to_json(self) -> dict[str, Json]:
        """The finding as a JSON object, one key per field."""
        return asdict(self)


def error(where: Iterable[str | int], rule: str, message: str, mend: str) -> Finding:
    """A finding that quarantines; the tool's name is filled in by the linter."""
    return Finding("", pointer(where), rule, message, mend, "error")


def warning(where: Iterable[str | int], rule: str, message: str, mend: str) -> Finding:
    """A finding that does not quarantine; the tool's name is filled in by the linter."""
    return Finding("", pointer(where), rule, message, mend, "warning")


def printable(text: str) -> str:
    """Text on one line that cannot play tricks on a terminal: what is not printable is spelled as an escape.

    Names, pointers and messages quote what strangers wrote.
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in text
    )


def pointer(tokens: Iterable[str | int]) -> str:
    """The JSON pointer (RFC 6901) made of these tokens."""
    return "".join("/" + str(token).replace("~", "~0").replace("/", "~1") for token in tokens)
