"""Learn from the recorded half of each environment, score on the held-out half, print the table of docs/fidelity.md.

    python -m benchmarks.fidelity.run --data DIR [--out DIR] [--env NAME ...] [--no-learn]

DIR is what `python -m benchmarks.fidelity.record` wrote. The learned toolsets and a score.json each stay in --out.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .record import ENVIRONMENTS

__all__ = ["score", "table"]

ENVACE = (sys.executable, "-c", "from envace_sdk.cli.main import main; main()")
OURS = "envace"
AXES = (
    "balanced_status",
    "structure",
    "entailed",
    "free",
    "repeated_reads",
    "read_after_write",
    "created",
    "gone",
    "valid",
    "right",
)
BESIDE = frozenset({"sqlite"})
"""Reported, but not in the mean: its queries are a language of their own."""

Reports = Sequence[Mapping[str, Any]]
"""What `envace-sdk eval fidelity --json` prints of the closed loop: one report of each player."""


def score(data: Path, out: Path, *, learn: bool = True) -> Reports:
    """Learn from `data/recorded.jsonl` into the folder `out`, and score it on `data/heldout.jsonl`.

    Raises:
        subprocess.CalledProcessError: a command failed; it has said why.
    """
    out.mkdir(parents=True, exist_ok=True)
    recorded = data / "recorded.jsonl"
    shutil.copy(data / "tools.json", out / "tools.json")
    if not learn:
        shutil.copy(recorded, out / "fixtures.jsonl")  # what the replays answer from; learning keeps it itself
    else:
        _run("learn", "--tools", data, "--recordings", recorded, "-o", out / "dynamics.yaml")
    text = _run(
        "eval", "fidelity", "--tools", out, "--recordings", data / "heldout.jsonl", "--loop", "closed", "--json"
    )
    (out / "score.json").write_text(text, encoding="utf-8")
    reports: Reports = json.loads(text)["loops"]["closed"]
    return reports


def table(scores: Mapping[str, Reports]) -> str:
    """A Markdown table: for each axis the players, for each environment a column, and the mean of those that count.

    A score of ours that is below a replay's is marked with an arrow.
    """
    counted = [name for name in scores if name not in BESIDE]
    columns = [*counted, "mean", *(name for name in scores if name in BESIDE)]
    players = [report["player"] for report in next(iter(scores.values()))]
    lines = [f"| axis | player | {' | '.join(columns)} |", f"|---|---|{'---|' * len(columns)}"]
    for axis in AXES:
        cells = {name: {one["player"]: one["overall"][axis] for one in scores[name]} for name in scores}
        cells["mean"] = {player: _mean([cells[name][player] for name in counted]) for player in players}
        for player in players:
            texts = [_cell(player, cells[column]) for column in columns]
            lines.append(f"| {axis.replace('_', ' ')} | {player} | {' | '.join(texts)} |")
    sure = {name: next(one for one in scores[name] if one["player"] == OURS)["calibration"]["sure"] for name in scores}
    texts = [f"{sure[name]['right']:.2f} of {sure[name]['calls']}" if name in sure else "" for name in columns]
    lines.append(f"| right where confidence ≥ 0.9 | {OURS} | {' | '.join(texts)} |")
    return "\n".join(lines)


def _cell(player: str, row: Mapping[str, float | None]) -> str:
    value = row[player]
    if value is None:
        return ""
    others = [other for name, other in row.items() if name != OURS and other is not None]
    return f"{value:.2f}{' ↓' if player == OURS and value < max(others, default=0.0) else ''}"


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _run(*words: str | Path) -> str:
    return subprocess.run([*ENVACE, *map(str, words)], check=True, stdout=subprocess.PIPE, text=True).stdout


def main() -> None:
    """Learn, score and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, help="default: a temporary folder")
    parser.add_argument("--env", action="append", help="default: all that were recorded")
    parser.add_argument("--no-learn", action="store_true", help="score what is in --out, or the tools without rules")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        scores = {}
        for name in options.env or [name for name in ENVIRONMENTS if (options.data / name).is_dir()]:
            begin = time.perf_counter()
            scores[name] = score(options.data / name, (options.out or Path(scratch)) / name, learn=not options.no_learn)
            print(f"{name}: {time.perf_counter() - begin:.1f} s", file=sys.stderr)
    print(table(scores))


if __name__ == "__main__":
    main()
