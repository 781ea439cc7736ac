"""The tables. What a migration makes is held equal to this by a test.

Names of worlds, collections and keys can be of any length and hold any character; they are found by `lookup`, a hash.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, Integer, LargeBinary, MetaData, Table

from .types import EscapedText, JsonText, UtcTime

__all__ = ["entities", "facts", "metadata", "snapshots", "worlds"]

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
    Column("kind", EscapedText, nullable=False, comment="counter, history or next"),
    Column("name", EscapedText, nullable=False),
    Column("value", JsonText, nullable=False),
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
