import json
import math
import sys

import pytest

from benchmarks import train_small

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_small_benchmark_warms_up_takes_three_steps_and_measures(tmp_path, monkeypatch, capsys):
    """With the real model; whether it learns is not for three steps to tell."""
    kept = tmp_path / "kept"
    small = ["--seeds", "0", "--count", "40", "--warmup", "4", "--steps", "3", "--tasks", "4", "-o", str(tmp_path)]
    small += ["--results", str(kept)]
    monkeypatch.setattr(sys, "argv", ["train_small.py", *small])
    train_small.main()
    summary = json.loads((kept / "summary.json").read_text())
    assert sum(counts["tasks"] for counts in summary["solved_by_template"].values()) == 4
    (found,) = summary["seeds"]
    steps = lines(tmp_path / "seed-0" / "metrics.jsonl")
    assert [values["step"] for values in steps] == [0, 1, 2, 3]
    assert all(values["trajectories"] == 24 for values in steps[1:])
    warm = lines(tmp_path / "seed-0" / "warmup" / "metrics.jsonl")
    assert all(values["updated"] and math.isfinite(values["loss"]) for values in warm)
    for when in ("before", "after"):
        assert all(0 <= found[when]["scores"][score] <= 1 for score in ("success", "fidelity", "format_act"))
        assert len(found[when]["solved"]) == found["tasks"] == 4
    assert math.isfinite(found["training_minutes"])
    assert (kept / "metrics-0.jsonl").is_file()
    assert "<polyline" in (kept / "curves.html").read_text()
    assert train_small.table(summary["seeds"]) in capsys.readouterr().out
