"""The private rehearsal of the examples, run as its page says."""

import subprocess
import sys
from pathlib import Path

import pytest

from envace_sdk.ledger import Ledger

FOLDER = Path(__file__).parents[2] / "examples" / "private_rehearsal"
WRONG = "apply_voucher({'order_id': 'TT-26-04131', 'voucher_code': 'RIDGEWALK15'})"
RIGHT = "apply_voucher({'order_id': 'TT-26-04131', 'voucher_code': 'FIRSTFROST'})"

pytestmark = pytest.mark.slow


def run(folder, said, *options):
    return subprocess.run(
        [sys.executable, FOLDER / "agent.py", "--folder", folder, *options],
        input=said,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    ).stdout


def test_what_was_learned_in_private_spares_the_real_order_the_wrong_voucher(tmp_path):
    shown = run(tmp_path, "y\n")
    assert f"really called: {RIGHT}" in shown
    assert WRONG not in shown
    lines = [line for line in shown.replace("Approve? [y/N] ", "").splitlines() if not line.startswith("~")]
    page = (FOLDER / "README.md").read_text().replace("Approve? [y/N] y\n", "").replace("…\n", "")
    assert "\n".join(lines) in page
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        attempts = [entry for entry in ledger.entries("chat-1", kind="rehearsed") if "attempt" in entry.body]
        assert len(attempts) == 5
        assert [entry.body["tool"] for entry in ledger.entries("chat-1", kind="observed")] == [
            "get_order",
            "apply_voucher",
        ]


def test_without_rehearsals_the_wrong_voucher_is_tried_for_real(tmp_path):
    shown = run(tmp_path, "y\ny\n", "--rehearsals", "0")
    assert shown.index(f"really called: {WRONG}") < shown.index(f"really called: {RIGHT}")


def test_what_the_person_rejects_is_not_done(tmp_path):
    shown = run(tmp_path, "n\n")
    assert "really called: apply_voucher" not in shown
    assert "agent: I am sorry" in shown
