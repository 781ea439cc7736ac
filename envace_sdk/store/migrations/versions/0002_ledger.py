"""The ledger: runs, entries, and payloads apart; what the database itself refuses to do to them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

# As they were when this was released, and for good: what `store.triggers` says may go on to change.
_SQLITE = (
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

_POSTGRESQL_FUNCTION = """CREATE FUNCTION envace_append_only() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$"""

_POSTGRESQL = (
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


def upgrade() -> None:
    """To this version."""
    op.create_table(
        "ledger_runs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("lookup", sa.LargeBinary(32), nullable=False, comment="hash of the name"),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("length", sa.BigInteger(), nullable=False, comment="how many entries there are"),
        sa.Column("head", sa.Text(), nullable=False, comment="digest of the last one"),
        sa.PrimaryKeyConstraint("id", name="pk_ledger_runs"),
        sa.UniqueConstraint("lookup", name="uq_ledger_runs_lookup"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "ledger_payloads",
        sa.Column("digest", sa.Text(), nullable=False, comment="HMAC of the text by the key, which goes when it goes"),
        sa.Column("key", sa.LargeBinary(32), nullable=False),
        sa.Column("text", sa.Text(), nullable=False, comment="JSON"),
        sa.PrimaryKeyConstraint("digest", name="pk_ledger_payloads"),
    )
    op.create_table(
        "ledger_entries",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False, comment="from 1, without gaps"),
        sa.Column("format", sa.Text(), nullable=False, comment="version of the form of the text"),
        sa.Column("text", sa.Text(), nullable=False, comment="canonical; all the other columns repeat parts of it"),
        sa.Column("digest", sa.Text(), nullable=False, comment="SHA-256 of the text"),
        sa.Column("previous", sa.Text(), nullable=False, comment="digest of the entry before"),
        sa.Column("at", sa.Text(), nullable=False, comment="RFC 3339, so that its order is that of time"),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=True),
        sa.Column("approval", sa.Text(), nullable=True),
        sa.Column("payload", sa.Text(), nullable=True, comment="digest of the payload"),
        sa.Column("once", sa.LargeBinary(32), nullable=True, comment="of what can happen only once"),
        sa.PrimaryKeyConstraint("run_id", "seq", name="pk_ledger_entries"),
        sa.ForeignKeyConstraint(["run_id"], ["ledger_runs.id"], name="fk_ledger_entries_run_id", ondelete="RESTRICT"),
        sa.UniqueConstraint("once", name="uq_ledger_entries_once"),
    )
    for column in ("action", "approval", "payload"):
        op.create_index(f"ix_ledger_entries_{column}", "ledger_entries", [column])
    if op.get_bind().dialect.name == "sqlite":
        statements: tuple[str, ...] = _SQLITE
    else:
        statements = (_POSTGRESQL_FUNCTION, *_POSTGRESQL)
    for statement in statements:
        op.execute(statement)


def downgrade() -> None:
    """Back to the version before."""
    for table in ("ledger_entries", "ledger_payloads", "ledger_runs"):
        op.drop_table(table)
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION envace_append_only()")
