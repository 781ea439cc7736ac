import itertools
import sqlite3
from contextlib import closing

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DatabaseError

from envace_sdk.ledger import Finding
from envace_sdk.ledger.verify import verify

TABLES = {
    "ledger_runs": ["id", "lookup", "name", "length", "head"],
    "ledger_payloads": ["digest", "key", "text"],
    "ledger_entries": [
        *("run_id", "seq", "format", "text", "digest", "previous", "at", "kind", "action", "approval", "payload"),
        "once",
    ],
}
COLUMNS = [(table, column) for table, columns in TABLES.items() for column in columns]


def fill(ledger):
    """Two runs with all there is in them."""
    for run in ("r", "s"):
        ledger.append(run, "rehearsed", {"layer": "dynamics"}, payload={"amount": 5}, action=f"{run}1")
        approval = ledger.approvals.request(run, "refund", {"amount": 5}, action=f"{run}1")
        ledger.approvals.decide(approval.id, "approve", by="ann")
        ledger.commit(run, f"{run}1", approval=approval.id, digest=approval.digest)
        ledger.observed(run, f"{run}1", payload={"ok": True})
    assert ledger.verify().ok
    return ledger


@pytest.fixture
def written(small):
    return fill(small)


def unprotected(ledger, *statements):
    """Do what the triggers forbid, as somebody would who owns the database."""
    with closing(sqlite3.connect(ledger.database.engine.url.database, isolation_level=None)) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement)


def test_the_tampering_below_touches_every_column(ledger):
    from envace_sdk.store.schema import metadata

    assert {t: [c.name for c in metadata.tables[t].columns] for t in TABLES} == TABLES


@pytest.mark.parametrize(("table", "column"), COLUMNS, ids=lambda name: name)
def test_changing_any_column_is_noticed(written, table, column):
    changed = {
        "id": "id + 100",
        "run_id": "(SELECT max(id) FROM ledger_runs)",
        "seq": "seq + 100",
        "length": "length + 1",
        "at": "'2020-01-01 00:00:00.000000'",
        "text": "replace(text, '5', '6') || ' '",
        "lookup": "x'00'",
        "key": "x'00'",
        "once": "x'00'",
    }.get(column, f"coalesce({column}, '') || 'x'")
    where = "run_id = (SELECT min(id) FROM ledger_runs) AND seq = 4" if table == "ledger_entries" else None
    if table == "ledger_runs":
        where = "name = 'r'"
    elif table == "ledger_payloads":
        where = "digest = (SELECT payload FROM ledger_entries WHERE payload IS NOT NULL ORDER BY run_id, seq LIMIT 1)"
    if column == "payload":
        where = where.replace("seq = 4", "seq = 5")
    if column == "run_id":
        where = where.replace("seq = 4", "seq = 6")
        unprotected(written, "DELETE FROM ledger_entries WHERE run_id = (SELECT max(id) FROM ledger_runs) AND seq = 6")
    unprotected(written, f"UPDATE {table} SET {column} = {changed} WHERE {where}")
    verification = written.verify()
    assert verification.tampered
    assert not verification.ok


def test_no_kind_of_entry_can_be_made_into_another(written):
    unprotected(written, "UPDATE ledger_entries SET kind = 'observed' WHERE kind = 'rehearsed'")
    assert [f.what for f in written.verify("r").findings] == ["its kind is not what was written"]


@pytest.mark.parametrize("seq", [1, 3, 6])
def test_an_entry_that_is_taken_out_is_missed(written, seq):
    unprotected(written, f"DELETE FROM ledger_entries WHERE seq = {seq}")
    assert {f.run for f in written.verify().findings} >= {"r", "s"}


def test_two_entries_that_change_places_are_noticed(written):
    unprotected(
        written,
        "UPDATE ledger_entries SET seq = 99 WHERE seq = 2",
        "UPDATE ledger_entries SET seq = 2 WHERE seq = 3",
        "UPDATE ledger_entries SET seq = 3 WHERE seq = 99",
    )
    assert written.verify("r").tampered


def test_cutting_off_the_end_shows_in_the_run_and_against_a_noted_head(written):
    noted = written.verify().heads
    run = "(SELECT id FROM ledger_runs WHERE name = 'r')"
    unprotected(written, f"DELETE FROM ledger_entries WHERE seq = 6 AND run_id = {run}")
    assert "it says that it has 6 entries" in written.verify("r").findings[0].what
    fifth = f"(SELECT digest FROM ledger_entries WHERE seq = 5 AND run_id = {run})"
    unprotected(
        written,
        f"UPDATE ledger_runs SET length = 5, head = {fifth} WHERE name = 'r'",
        "DELETE FROM ledger_payloads WHERE NOT EXISTS "
        "(SELECT 1 FROM ledger_entries WHERE payload = ledger_payloads.digest)",
    )
    assert written.verify().ok  # who owns the database can cut cleanly,
    assert [(f.run, f.what) for f in written.verify(anchors=noted).findings] == [("r", "it had 6 entries and has 5")]


def test_a_run_that_is_gone_shows_against_a_noted_head(written):
    noted = written.verify().heads
    unprotected(
        written,
        "DELETE FROM ledger_payloads WHERE digest IN (SELECT payload FROM ledger_entries WHERE run_id = 2)",
        "DELETE FROM ledger_entries WHERE run_id = 2",
        "DELETE FROM ledger_runs WHERE id = 2",
    )
    assert written.verify(anchors=noted).findings == (Finding("s", None, "tampered", "the run is gone"),)


def test_a_chain_written_anew_shows_against_a_noted_head(small):
    small.append("r", "note", {"n": 1})
    noted = small.verify().heads
    unprotected(small, "DELETE FROM ledger_entries", "DELETE FROM ledger_runs")
    again = small
    again.append("r", "note", {"n": 2})
    assert again.verify().ok
    assert again.verify(anchors=noted).tampered


def test_a_payload_that_goes_without_a_word_is_tampering_and_an_erased_one_is_not(written):
    written.erase("r", by="dpo")
    assert written.verify().ok
    assert written.verify().erased == 3
    unprotected(written, "DELETE FROM ledger_payloads")
    assert {(f.run, f.what) for f in written.verify().findings} == {
        ("s", "its payload is gone, and no entry says that it was erased")
    }


def test_a_payload_that_no_entry_is_about_is_noticed(written):
    unprotected(written, "INSERT INTO ledger_payloads (digest, key, text) VALUES ('d', x'00', '1')")
    assert "no entry is about" in written.verify().findings[0].what


def test_what_a_later_version_wrote_is_unverifiable_and_not_tampered(written):
    unprotected(
        written,
        "UPDATE ledger_entries SET format = 'envace.ledger/2', text = replace(text, 'envace.ledger/1', "
        "'envace.ledger/2') WHERE seq = 6",
    )
    verification = written.verify()
    assert not verification.ok
    assert not verification.tampered
    assert {(f.run, f.seq, f.kind) for f in verification.findings} == {
        ("r", 6, "unverifiable"),
        ("s", 6, "unverifiable"),
    }
    assert "upgrade" in verification.findings[0].what


def test_calling_an_entry_of_this_version_one_of_a_later_is_tampering(written):
    unprotected(written, "UPDATE ledger_entries SET format = 'envace.ledger/2' WHERE seq = 2")
    assert written.verify().tampered


FORBIDDEN = [
    "UPDATE ledger_entries SET kind = 'note'",
    "DELETE FROM ledger_entries",
    "UPDATE ledger_payloads SET text = '1'",
    "DELETE FROM ledger_runs",
    "UPDATE ledger_runs SET name = 'x'",
    "UPDATE ledger_runs SET length = length - 1",
    "UPDATE ledger_runs SET length = 0",
]
CUT = ["TRUNCATE ledger_entries", "TRUNCATE ledger_runs CASCADE"]


def test_the_database_itself_refuses_changes(ledger):
    fill(ledger)
    for statement in FORBIDDEN if ledger.database.engine.dialect.name == "sqlite" else [*FORBIDDEN, *CUT]:
        refusal = pytest.raises(DatabaseError, match=r"append-only|can be erased, not changed")
        with refusal, ledger.database.engine.begin() as connection:
            connection.execute(text(statement))
    assert ledger.verify().ok


def test_postgresql_verifies_likewise(postgresql_database, open_ledger):
    ledger = fill(open_ledger(postgresql_database("migrated")))
    for table, change, where in (
        ("ledger_entries", "kind = 'note'", "kind = 'observed'"),
        ("ledger_entries", "text = replace(text, '5', '6')", "seq = 2"),
        ("ledger_entries", "at = at || 'x'", "seq = 4"),
        ("ledger_payloads", "text = '{}'", "true"),
        ("ledger_runs", "length = length + 1", "true"),
    ):
        with ledger.database.engine.connect() as connection:
            connection.execute(text("SET session_replication_role = replica"))
            connection.execute(text(f"UPDATE {table} SET {change} WHERE {where}"))
            assert verify(connection).tampered, (table, change)
            connection.rollback()
    assert ledger.verify().ok


def test_sqlite_refuses_to_replace(small):
    small.append("r", "note", {})
    with pytest.raises(DatabaseError, match="append-only"), small.database.engine.begin() as connection:
        connection.execute(text("INSERT OR REPLACE INTO ledger_entries SELECT * FROM ledger_entries"))


@pytest.mark.parametrize(("table", "column"), COLUMNS, ids=lambda name: name)
@pytest.mark.parametrize("value", ["''", "x'ff'", "-1", "'yesterday'"])
def test_a_value_of_another_kind_is_noticed(small, table, column, value):
    small.append("r", "note", {}, payload=1, action="a", approval="ap")
    try:
        unprotected(small, f"UPDATE {table} SET {column} = {value}")
    except sqlite3.IntegrityError:
        assert column in {"id", "run_id", "seq"}
        return
    verification = small.verify()
    assert verification.tampered or {f.kind for f in verification.findings} == {"unverifiable"}


def test_heads_of_all_runs_are_given_to_be_noted(written):
    heads = written.verify().heads
    assert heads == {run.name: (run.length, run.head) for run in written.runs()}
    assert all(len({a, b}) == 2 for a, b in itertools.combinations([h for _, h in heads.values()], 2))


def test_a_run_whose_row_is_gone_while_its_entries_stay_is_found(written):
    unprotected(written, "DELETE FROM ledger_runs WHERE name = 's'")
    findings = written.verify().findings
    assert {(finding.run, finding.kind) for finding in findings} == {("s", "tampered")}
    assert "run that is not there" in findings[0].what
