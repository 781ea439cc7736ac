"""The refund agent of the examples, run as its page says."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from envace_sdk.ledger import Ledger

FOLDER = Path(__file__).parents[2] / "examples" / "refund_agent"
MISSING = [name for name in ("langchain", "langgraph") if importlib.util.find_spec(name) is None]

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"needs {' and '.join(MISSING)}")


def run(folder, said):
    pytest.importorskip("langgraph.checkpoint.sqlite")
    return subprocess.run(
        [sys.executable, FOLDER / "agent.py", "--folder", folder],
        input=said,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    ).stdout


def entries(folder, kind):
    ledger = Ledger.open(folder / "ledger.db")
    try:
        return [json.loads(entry.text)["body"] for entry in ledger.entries("chat-1") if entry.kind == kind]
    finally:
        ledger.close()


def test_what_the_person_approves_is_executed_once(tmp_path):
    shown = run(tmp_path, "y\n")
    assert "risk: high" in shown
    assert "predicted: success" in shown
    assert "agent: I have cancelled order TT-26-04124" in shown
    assert "the trail holds: True" in shown
    assert [body["tool"] for body in entries(tmp_path, "observed")] == ["get_order", "cancel_order"]


def test_what_the_person_rejects_is_not_executed_and_the_agent_says_so(tmp_path):
    shown = run(tmp_path, "n\n")
    assert "agent: I am sorry: order TT-26-04124 stands as it is" in shown
    assert [body["tool"] for body in entries(tmp_path, "observed")] == ["get_order"]
