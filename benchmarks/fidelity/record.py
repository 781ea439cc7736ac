"""Record the development environments, and split the episodes into a half to learn from and a half to score on.

    python -m benchmarks.fidelity.record --out DIR [--env NAME ...] [--episodes N]

Writes DIR/<env>/tools.json, recorded.jsonl, heldout.jsonl and split.json.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from .filesystem import FILESYSTEM
from .git import GIT
from .gorilla import GORILLA
from .memory import MEMORY
from .play import split_of
from .sqlite import SQLITE
from .ticket import TICKET

__all__ = ["ENVIRONMENTS", "SEED", "record"]

SEED = 20260101
ENVIRONMENTS = {one.name: one for one in (GORILLA, TICKET, FILESYSTEM, MEMORY, GIT, SQLITE)}


def record(name: str, out: Path, *, seed: int = SEED, episodes: int | None = None) -> None:
    """Record one environment into `out/name`; all episodes, or the first so many."""
    environment = ENVIRONMENTS[name]
    folder = out / name
    folder.mkdir(parents=True, exist_ok=True)
    sides = split_of(environment.episodes(), seed)
    chosen = dict(list(sides.items())[:episodes])
    tools = json.dumps({"tools": environment.record(folder, chosen, seed)}, indent=2, ensure_ascii=False)
    (folder / "tools.json").write_text(tools + "\n", encoding="utf-8")
    (folder / "split.json").write_text(json.dumps({"seed": seed, "episodes": chosen}, indent=2) + "\n")


def main() -> None:
    """Record what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--env", action="append", choices=list(ENVIRONMENTS), help="default: all")
    parser.add_argument("--episodes", type=int, help="of each, fewer than there are")
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    for name in options.env or ENVIRONMENTS:
        begin = time.perf_counter()
        record(name, options.out, seed=options.seed, episodes=options.episodes)
        print(f"{name}: {time.perf_counter() - begin:.1f} s")


if __name__ == "__main__":
    main()
