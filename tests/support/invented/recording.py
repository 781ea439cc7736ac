"""Recordings as plain lines of JSON: what people keep who have no recorder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from envace_sdk.tools.fixture import Fixture

from .environment import Invented

__all__ = ["as_lines", "write_case"]


def as_lines(fixtures: Sequence[Fixture]) -> str:
    """`{"episode", "tool", "arguments", "result", "is_error"}` a line, in order."""
    return "".join(json.dumps(_line(fixture), ensure_ascii=False) + "\n" for fixture in fixtures)


def write_case(invented: Invented, folder: Path, recorded: Sequence[Fixture], heldout: Sequence[Fixture]) -> None:
    """`tools.json`, `recorded.jsonl` and `heldout.jsonl`, with the truth beside them to look at."""
    folder.mkdir(parents=True, exist_ok=True)
    tools = json.dumps({"tools": list(invented.tools)}, ensure_ascii=False, indent=1)
    (folder / "tools.json").write_text(tools, encoding="utf-8")
    (folder / "recorded.jsonl").write_text(as_lines(recorded), encoding="utf-8")
    (folder / "heldout.jsonl").write_text(as_lines(heldout), encoding="utf-8")
    (folder / "truth.yaml").write_text(invented.dynamics.dump(), encoding="utf-8")
    world = json.dumps({"collections": dict(invented.collections)}, ensure_ascii=False, indent=1)
    (folder / "truth_world.json").write_text(world, encoding="utf-8")


def _line(fixture: Fixture) -> dict[str, object]:
    result = fixture.result
    value = result.value()
    if isinstance(value, dict) and isinstance(value.get("content"), list):  # would be taken for a result on the wire
        value = {"content": list(map(dict, result.content))}
    return {
        "episode": fixture.episode,
        "tool": fixture.call.name,
        "arguments": dict(fixture.call.arguments),
        "result": value,
        "is_error": result.is_error,
    }
