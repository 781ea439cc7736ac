"""Writing a pulled catalogue: the definitions in the server's own bytes, and what changed since the last time."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from envace_sdk.errors import ToolsetError
from envace_sdk.files import write_whole
from envace_sdk.tools.exact import one_line
from envace_sdk.tools.upstream import Catalogue, Target

__all__ = ["catalogue_text", "folder_name", "write_catalogue"]


def catalogue_text(catalogue: Catalogue, *, indent: bool) -> str:
    """The content of `tools.json`: a `tools/list` result, one definition on a line, each as it came."""
    told = {key: catalogue.server[key] for key in ("name", "version", "title") if key in catalogue.server}
    meta = {"dev.envace/pulled": {"server": told, "protocolVersion": catalogue.era}}
    if indent:
        document = {"_meta": meta, "tools": list(catalogue.definitions)}
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    definitions = ",\n".join(map(one_line, catalogue.texts))
    return f'{{"_meta": {json.dumps(meta, ensure_ascii=False)},\n"tools": [\n{definitions}\n]}}\n'


def folder_name(catalogue: Catalogue, target: Target) -> str:
    """A name for the toolset and its folder: what the server calls itself, else a word of its address."""
    told = catalogue.server.get("name")
    if not isinstance(told, str) or not told:
        words = re.split(r"[/\s]+", target.url.partition("://")[2] if target.url else target.command[-1])
        told = next((word for word in words if word), "server")
    return re.sub(r"[^A-Za-z0-9._-]+", "-", told).strip("-.")[:80] or "server"


def write_catalogue(folder: Path, text: str, catalogue: Catalogue) -> str:
    """Write `tools.json` into a folder, at one stroke; returns what changed, to be shown.

    Raises:
        ToolsetError: it cannot be written.
    """
    file = folder / "tools.json"
    before = _previous(file)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(file, text)
    except OSError as error:
        raise ToolsetError(f"{file}: cannot be written: {error.strerror or error}") from error
    if before is None:
        return ""
    after = _by_name(catalogue.definitions)
    added, removed = len(after.keys() - before.keys()), len(before.keys() - after.keys())
    changed = sum(before[name] != after[name] for name in before.keys() & after.keys())
    return f" ({added} added, {removed} removed, {changed} changed)"


def _previous(file: Path) -> dict[str, Any] | None:
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        return _by_name(document["tools"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _by_name(definitions: Any) -> dict[str, Any]:
    return {tool["name"]: tool for tool in definitions if isinstance(tool, dict) and isinstance(tool.get("name"), str)}
