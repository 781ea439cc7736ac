from datetime import timedelta

import pytest

from envace_sdk.errors import LedgerError
from envace_sdk.json import UNSET


def test_erasing_takes_payloads_and_leaves_a_valid_chain(ledger):
    first = ledger.append("r", "note", {"n": 1}, payload={"mail": "ann@example.com"}, action="a")
    second = ledger.append("r", "note", {"n": 2}, payload={"mail": "bob@example.com"}, action="b")
    done = ledger.erase(action="a", by="dpo", reason="request 17")
    assert done.entries == {"r": (1,)}
    assert done.count == 1
    assert ledger.payload(first) is UNSET
    assert ledger.payload(second) == {"mail": "bob@example.com"}
    (said,) = ledger.entries("r", kind="erased")
    assert said.body == {"entries": [1], "by": "dpo", "reason": "request 17"}
    assert ledger.verify().ok


def test_nothing_that_is_left_tells_what_was_erased(tmp_path, open_ledger):
    ledger = open_ledger(tmp_path / "l.db")
    entry = ledger.append("r", "note", {}, payload="12345678901")
    with ledger.database.reading() as connection:
        assert b'"12345678901"' in b"".join(file.read_bytes() for file in tmp_path.iterdir())
        key = connection.exec_driver_sql("SELECT key FROM ledger_payloads").scalar_one()
    ledger.erase("r", by="dpo")
    left = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert key not in left
    assert b'"12345678901"' not in left
    assert entry.payload_digest.encode() in left


def test_what_holds_a_text_is_erased_however_it_is_written(ledger):
    holding = [{"a": "Zoë Ähn"}, '{"a": "ZOË ÄHN"}', {"deep": [{"json": '{"b": "Zo\\u00eb \\u00c4hn"}'}]}]
    for payload in (*holding, {"a": "Zoe"}):
        ledger.append("r", "note", {}, payload=payload)
    assert ledger.erase(containing="Zoë Ähn", by="dpo").entries == {"r": (1, 2, 3)}


def test_erasing_by_age_spans_runs_and_says_so_in_each(ledger, clock):
    for run in ("r", "s"):
        ledger.append(run, "note", {}, payload=1)
    clock.advance(days=10)
    ledger.append("r", "note", {}, payload=2)
    assert ledger.erase(before=clock() - timedelta(days=5), by="me").entries == {"r": (1,), "s": (1,)}
    assert [run.length for run in ledger.runs()] == [3, 2]
    assert ledger.verify().ok


def test_retention_erases_what_is_old_when_the_ledger_is_opened(ledger_url, open_ledger, clock):
    old = open_ledger(ledger_url).append("r", "note", {}, payload=1)
    clock.advance(days=31)
    ledger = open_ledger(ledger_url, retention=timedelta(days=30))
    assert ledger.payload(old) is UNSET
    assert next(ledger.entries("r", kind="erased")).body["by"] == "retention"
    assert open_ledger(ledger_url, retention=timedelta(days=30)).runs()[0].length == 2


def test_erasing_nothing_writes_nothing_and_erasing_everything_must_be_said(ledger):
    ledger.append("r", "note", {}, payload=1)
    assert ledger.erase(action="none", by="me").count == 0
    assert ledger.runs()[0].length == 1
    with pytest.raises(LedgerError, match="say which"):
        ledger.erase(by="me")
