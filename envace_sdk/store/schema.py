"""The tables. What a migration makes is held equal to this by a test.

Names of worlds, collections and keys can be of any length and hold any character; they are found by `lookup`, a hash.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Double, ForeignKey, Index, Integer, LargeBinary, MetaData, Table, Text

from .triggers import protect
from .types import EscapedText, JsonText, UtcTime

__all__ = [
    "bases",
    "entities",
    "facts",
    "ledger_entries",
    "ledger_payloads",
    "ledger_runs",
    "metadata",
    "snapshots",
    "training_metrics",
    "training_runs",
    "worlds",
]

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

worlds = Table(
    "worlds",
    metadata,
    # Never used again for another world, or a stale writer could take the new one for its own.
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("lookup", LargeBinary(32), nullable=False, unique=True, comment="hash of toolset and name"),
    Column("toolset", EscapedText, nullable=False),
    Column("name", EscapedText, nullable=False),
    Column("seed", JsonText, nullable=False),
    Column("clock", UtcTime, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("revision", BigInteger, nullable=False, comment="grows by one with every save"),
    Column("created_at", UtcTime, nullable=False),
    Column("updated_at", UtcTime, nullable=False),
    sqlite_autoincrement=True,
)

entities = Table(
    "entities",
    metadata,
    Column("world_id", ForeignKey(worlds.c.id, ondelete="CASCADE"), primary_key=True),
    Column("lookup", LargeBinary(32), primary_key=True, comment="hash of collection and key"),
    Column("collection", EscapedText, nullable=False),
    Column("key", EscapedText, nullable=False),
    Column("sequence", BigInteger, nullable=True, comment="place in the order of creation; null when removed"),
    Column("document", JsonText, nullable=True, comment="null when removed"),
)

facts = Table(
    "facts",
    metadata,
    Column("world_id", ForeignKey(worlds.c.id, ondelete="CASCADE"), primary_key=True),
    Column("lookup", LargeBinary(32), primary_key=True, comment="hash of kind and name"),
    Column("kind", EscapedText, nullable=False, comment="counter, history or next, or base"),
    Column("name", EscapedText, nullable=False),
    Column("value", JsonText, nullable=False),
)

bases = Table(
    "bases",
    metadata,
    Column("digest", Text, primary_key=True, comment="SHA-256 of the state"),
    Column("state", LargeBinary, nullable=False, comment="packed"),
    Column("created_at", UtcTime, nullable=False),
)

snapshots = Table(
    "snapshots",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("lookup", LargeBinary(32), nullable=False, unique=True, comment="hash of toolset and name"),
    Column("toolset", EscapedText, nullable=False),
    Column("name", EscapedText, nullable=False),
    Column("world", EscapedText, nullable=False, comment="the world it was taken of"),
    Column("version", BigInteger, nullable=False),
    Column("state", LargeBinary, nullable=False, comment="packed"),
    Column("created_at", UtcTime, nullable=False),
    sqlite_autoincrement=True,
)

ledger_runs = Table(
    "ledger_runs",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("lookup", LargeBinary(32), nullable=False, unique=True, comment="hash of the name"),
    Column("name", EscapedText, nullable=False),
    Column("length", BigInteger, nullable=False, comment="how many entries there are"),
    Column("head", Text, nullable=False, comment="digest of the last one"),
    sqlite_autoincrement=True,
)

ledger_payloads = Table(
    "ledger_payloads",
    metadata,
    Column("digest", Text, primary_key=True, comment="HMAC of the text by the key, which goes when it goes"),
    Column("key", LargeBinary(32), nullable=False),
    Column("text", Text, nullable=False, comment="JSON"),
)

ledger_entries = Table(
    "ledger_entries",
    metadata,
    Column("run_id", ForeignKey(ledger_runs.c.id, ondelete="RESTRICT"), primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False, comment="from 1, without gaps"),
    Column("format", Text, nullable=False, comment="version of the form of the text"),
    Column("text", Text, nullable=False, comment="canonical; all the other columns repeat parts of it"),
    Column("digest", Text, nullable=False, comment="SHA-256 of the text"),
    Column("previous", Text, nullable=False, comment="digest of the entry before"),
    Column("at", Text, nullable=False, comment="RFC 3339, so that its order is that of time"),
    Column("kind", Text, nullable=False),
    Column("action", EscapedText, nullable=True),
    Column("approval", Text, nullable=True),
    Column("payload", Text, nullable=True, comment="digest of the payload"),
    Column("once", LargeBinary(32), nullable=True, unique=True, comment="of what can happen only once"),
)
Index(None, ledger_entries.c.action)
Index(None, ledger_entries.c.approval)
Index(None, ledger_entries.c.payload)

training_runs = Table(
    "training_runs",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("lookup", LargeBinary(32), nullable=False, unique=True, comment="hash of host and directory"),
    Column("host", EscapedText, nullable=False),
    Column("directory", EscapedText, nullable=False),
    Column("settings", JsonText, nullable=False),
    Column("began_at", UtcTime, nullable=False),
    Column("updated_at", UtcTime, nullable=False),
    sqlite_autoincrement=True,
)

training_metrics = Table(
    "training_metrics",
    metadata,
    Column("run_id", ForeignKey(training_runs.c.id, ondelete="CASCADE"), primary_key=True),
    Column("name", Text, primary_key=True),
    Column("step", BigInteger, primary_key=True, autoincrement=False),
    Column("value", Double, nullable=False),
)

protect(metadata, ledger_runs, ledger_payloads, ledger_entries)
