import asyncio
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
from benchmarks.guard_report import POLICIES, drift, play

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("toolset", sorted(POLICIES))
def test_predictions_come_true_on_a_real_side_of_another_seed(toolset, tmp_path):
    played = asyncio.run(play(toolset, tmp_path, unseen=0.0))
    records = [tool.record for tool in played.report.tools]
    assert sum(record.calls for record in records) == played.calls
    assert sum(record.right for record in records) / played.calls > 0.95
    assert all(record.brier is not None for record in records)


@pytest.mark.parametrize("toolset", sorted(POLICIES))
def test_a_real_side_that_starts_to_refuse_shows_within_20_calls_and_makes_the_policy_ask_again(toolset, tmp_path):
    found = asyncio.run(drift(toolset, tmp_path))
    assert found.trusted_after == 20
    assert found.asked_after is not None
    assert found.asked_after <= 20
    assert found.flagged_after is not None
    assert found.flagged_after <= 20
    assert len(found.report.drifting) == 1
