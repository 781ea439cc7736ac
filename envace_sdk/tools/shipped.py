"""The toolsets that come with the package."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

__all__ = ["shipped"]


def shipped() -> dict[str, Path]:
    """The ready toolsets of the installed package: name → folder, in alphabetical order."""
    found: dict[str, Path] = {}
    spec = find_spec("envace_sdk.schemas")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        found |= {file.parent.name: file.parent for file in Path(place).glob("*/tools.json")}
    return dict(sorted(found.items()))
