import hashlib
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envace_sdk.errors import EvidenceError, LedgerError, StoreError, TamperedError
from envace_sdk.evidence import canonical, keyed_redactor
from envace_sdk.json import UNSET
from envace_sdk.ledger import Ledger
from envace_sdk.ledger.entry import GENESIS
from envace_sdk.redaction import no_redaction

TEXTS = st.text(max_size=12) | st.text(st.characters(), max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
BODIES = st.dictionaries(TEXTS, VALUES, max_size=4)


@pytest.fixture
def kept():
    with Ledger.open("sqlite://", redact=no_redaction) as ledger:
        yield ledger


def test_entries_of_a_run_are_a_chain_of_digests(ledger):
    first = ledger.append("r", "note", {"n": 1})
    second = ledger.append("r", "note", {"n": 2})
    assert (first.seq, first.previous) == (1, GENESIS)
    assert (second.seq, second.previous) == (2, first.digest)
    assert [*ledger.entries("r")] == [first, second]
    assert first.digest == hashlib.sha256(first.text.encode()).hexdigest()


def test_every_run_has_a_chain_of_its_own(ledger):
    ledger.append("a", "note", {})
    ledger.append("b", "note", {})
    last = ledger.append("a", "note", {})
    assert [(run.name, run.length) for run in ledger.runs()] == [("a", 2), ("b", 1)]
    assert ledger.runs()[0].head == last.digest
    assert [(e.run, e.seq) for e in ledger.entries()] == [("a", 1), ("a", 2), ("b", 1)]


def test_the_kind_is_part_of_what_is_hashed(small):
    entry = small.append("r", "claimed", {"text": "done"})
    assert json.loads(entry.text)["kind"] == "claimed"


def test_entries_are_found_by_kind_action_and_place(ledger):
    for n in range(3):
        ledger.append("r", "note", {"n": n}, action=f"a{n}")
    ledger.append("r", "claimed", {}, action="a1")
    assert [e.body["n"] for e in ledger.entries("r", after=1, kind="note")] == [1, 2]
    assert [e.seq for e in ledger.entries(action="a1")] == [2, 4]
    assert ledger.find(None, "a1", "claimed").seq == 4
    assert ledger.find("r", "a1", "note").seq == 2
    assert ledger.find("other", "a1", "note") is None
    assert [*ledger.entries("nothing")] == []


def test_more_entries_than_fit_a_page_come_in_order(small, monkeypatch):
    monkeypatch.setattr("envace_sdk.ledger.chain.PAGE", 3)
    for n in range(8):
        small.append("r", "note", {"n": n})
    assert [e.body["n"] for e in small.entries("r")] == [*range(8)]


def test_what_is_written_is_there_when_the_ledger_is_opened_again(ledger_url, open_ledger):
    with open_ledger(ledger_url) as first:
        written = first.append("r", "note", {"n": 1}, payload=[1])
    again = open_ledger(ledger_url)
    assert [*again.entries()] == [written]
    assert again.payload(written) == [1]
    assert again.append("r", "note", {}).previous == written.digest


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(run=TEXTS, body=BODIES, payload=VALUES, action=st.none() | TEXTS)
def test_any_json_is_kept_and_verifies(kept, run, body, payload, action):
    entry = kept.append(run, "note", body, payload=payload, action=action)
    (found,) = kept.entries(run, after=entry.seq - 1)
    assert found.text == entry.text
    assert found.run == entry.run == run
    assert canonical(found.body) == canonical(body)
    assert found.action == action
    told = kept.payload(found)
    assert canonical(told) == canonical(payload)
    assert json.dumps(told) == json.dumps(payload)  # key order too
    assert kept.verify(run).ok


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), BODIES), max_size=12))
def test_any_sequence_of_appends_is_a_valid_chain_in_every_run(kept, appends):
    before = kept.verify()
    for run, body in appends:
        kept.append(run, "note", body)
    after = kept.verify(anchors=before.heads)
    assert after.ok
    assert after.entries == before.entries + len(appends)
    for run in kept.runs():
        begin = before.heads.get(run.name, (0, ""))[0]
        assert [e.seq for e in kept.entries(run.name, after=begin)] == [*range(begin + 1, run.length + 1)]


def test_a_body_that_is_no_json_is_refused_and_nothing_is_written(ledger):
    with pytest.raises(EvidenceError):
        ledger.append("r", "note", {"x": object()})
    with pytest.raises(StoreError, match="cannot be stored"):
        ledger.append("r", "note", {}, payload=object())
    assert ledger.runs() == []
    assert ledger.verify().ok


def test_a_large_body_is_refused_and_a_large_payload_is_said_to_be_omitted(small, monkeypatch):
    with pytest.raises(LedgerError, match="use `payload`"):
        small.append("r", "note", {"x": "y" * 300_000})
    monkeypatch.setattr("envace_sdk.ledger.payloads._MOST", 100)
    entry = small.append("r", "note", {}, payload="y" * 200)
    assert small.payload(entry) == {"omitted": {"bytes": 202}}


@pytest.mark.parametrize("kind", ["commit", "observed", "approval_used", "approval_decided", "erased", "other"])
def test_what_has_a_method_of_its_own_is_not_appended_by_hand(small, kind):
    with pytest.raises(LedgerError, match="by hand"):
        small.append("r", kind, {})


def test_secrets_are_taken_out_before_anything_is_hashed_or_written(tmp_path, open_ledger):
    ledger = open_ledger(tmp_path / "l.db")
    token = "ghp_" + "a" * 36
    entry = ledger.append("r", "note", {"password": "hunter2"}, payload={"text": f"use {token}", "pin code": 1})
    assert entry.body["password"].startswith("[redacted:")
    assert ledger.payload(entry)["text"].startswith("use [redacted:")
    ledger.close()
    for file in tmp_path.iterdir():
        assert b"hunter2" not in file.read_bytes()
        assert token.encode() not in file.read_bytes()


def test_the_redactor_is_the_users_choice(tmp_path, open_ledger):
    ledger = open_ledger(tmp_path / "l.db", redact=keyed_redactor(b"x", patterns=[r"CUST-\d+"]))
    entry = ledger.append("r", "note", {"text": "CUST-17 called"})
    assert "CUST-17" not in entry.text


def test_an_entry_that_was_changed_is_not_given_out(small):
    small.append("r", "note", {"n": 1}, action="a")
    with small.database.engine.begin() as connection:
        connection.exec_driver_sql("DROP TRIGGER ledger_entries_update")
        connection.exec_driver_sql("UPDATE ledger_entries SET kind = 'claimed'")
    with pytest.raises(TamperedError, match=r"entry 1 of run 'r'.*kind"):
        list(small.entries("r"))
    with pytest.raises(TamperedError):
        small.find("r", "a", "claimed")


def test_a_payload_that_was_changed_is_not_given_out(small):
    entry = small.append("r", "note", {}, payload="a")
    with small.database.engine.begin() as connection:
        connection.exec_driver_sql("DROP TRIGGER ledger_payloads_update")
        connection.exec_driver_sql("UPDATE ledger_payloads SET text = '\"b\"'")
    with pytest.raises(TamperedError):
        small.payload(entry)


def test_an_entry_without_payload_has_none(small):
    assert small.payload(small.append("r", "note", {})) is UNSET
    assert small.payload(small.append("r", "note", {}, payload=None)) is None


def test_a_postgresql_database_is_migrated_only_on_demand(postgresql_database, open_ledger):
    url = postgresql_database("template1")
    with pytest.raises(StoreError, match=r"Ledger\.open\(url, migrate=True\)"):
        open_ledger(url)
    assert open_ledger(url, migrate=True).append("r", "note", {}).seq == 1
