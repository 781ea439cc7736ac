"""Folders that hold toolsets, each in a folder of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Final

__all__ = ["CATALOGUES", "toolsets_in"]

CATALOGUES: Final = ("tools.json", "openapi.json", "openapi.yaml", "openapi.yml")
"""The files that make a folder a toolset, the first that is there."""


def toolsets_in(folder: Path) -> list[Path]:
    """The folders in `folder` that have a `tools.json`, by name; none where it is a toolset itself, or no folder."""
    if any((folder / name).is_file() for name in CATALOGUES):
        return []
    return sorted(file.parent for file in folder.glob("*/tools.json"))
