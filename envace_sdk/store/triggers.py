"""What the database itself refuses to do to the ledger, whoever asks: to change an entry, or to remove one.

Who owns the database can take the triggers away; then the chain shows it.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import DDL, MetaData, Table, event
from sqlalchemy.schema import ExecutableDDLElement

__all__ = ["POSTGRESQL", "POSTGRESQL_FUNCTION", "SQLITE", "protect"]

SQLITE: Final = (
    """CREATE TRIGGER ledger_entries_update BEFORE UPDATE ON ledger_entries
    BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END""",
    """CREATE TRIGGER ledger_entries_delete BEFORE DELETE ON ledger_entries
    BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END""",
    # INSERT OR REPLACE removes rows without any trigger for deletes.
    """CREATE TRIGGER ledger_entries_replace BEFORE INSERT ON ledger_entries
    WHEN EXISTS (SELECT 1 FROM ledger_entries WHERE (run_id = NEW.run_id AND seq = NEW.seq) OR once = NEW.once)
    BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END""",
    """CREATE TRIGGER ledger_payloads_update BEFORE UPDATE ON ledger_payloads
    BEGIN SELECT RAISE(ABORT, 'a payload can be erased, not changed'); END""",
    """CREATE TRIGGER ledger_runs_update BEFORE UPDATE ON ledger_runs
    WHEN NEW.id <> OLD.id OR NEW.lookup <> OLD.lookup OR NEW.name <> OLD.name OR NEW.length <> OLD.length + 1
    BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END""",
    """CREATE TRIGGER ledger_runs_delete BEFORE DELETE ON ledger_runs
    BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END""",
)

POSTGRESQL_FUNCTION: Final = """CREATE FUNCTION envace_append_only() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$"""

POSTGRESQL: Final = (
    """CREATE TRIGGER ledger_entries_change BEFORE UPDATE OR DELETE ON ledger_entries
    FOR EACH ROW EXECUTE FUNCTION envace_append_only()""",
    """CREATE TRIGGER ledger_entries_truncate BEFORE TRUNCATE ON ledger_entries
    FOR EACH STATEMENT EXECUTE FUNCTION envace_append_only()""",
    """CREATE TRIGGER ledger_payloads_update BEFORE UPDATE ON ledger_payloads
    FOR EACH ROW EXECUTE FUNCTION envace_append_only()""",
    """CREATE TRIGGER ledger_runs_update BEFORE UPDATE ON ledger_runs FOR EACH ROW
    WHEN (NEW.id <> OLD.id OR NEW.lookup <> OLD.lookup OR NEW.name <> OLD.name OR NEW.length <> OLD.length + 1)
    EXECUTE FUNCTION envace_append_only()""",
    """CREATE TRIGGER ledger_runs_delete BEFORE DELETE ON ledger_runs
    FOR EACH ROW EXECUTE FUNCTION envace_append_only()""",
    """CREATE TRIGGER ledger_runs_truncate BEFORE TRUNCATE ON ledger_runs
    FOR EACH STATEMENT EXECUTE FUNCTION envace_append_only()""",
)


def protect(metadata: MetaData, *tables: Table) -> None:
    """Make the triggers whenever all of the metadata's tables are made, and remove them with the tables."""
    for statement in SQLITE:
        event.listen(tables[-1], "after_create", _in("sqlite", statement))
    for statement in (POSTGRESQL_FUNCTION, *POSTGRESQL):
        event.listen(tables[-1], "after_create", _in("postgresql", statement))
    event.listen(metadata, "after_drop", _in("postgresql", "DROP FUNCTION IF EXISTS envace_append_only() CASCADE"))


def _in(dialect: str, statement: str) -> ExecutableDDLElement:
    made: ExecutableDDLElement = DDL(statement)  # type: ignore[no-untyped-call]
    return made.execute_if(dialect=dialect)
