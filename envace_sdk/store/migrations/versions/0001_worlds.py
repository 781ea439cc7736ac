"""Worlds, their entities and facts, and snapshots.

A migration repeats the tables as they were on its day, in plain types, and never changes again.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    """To this version."""
    op.create_table(
        "worlds",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("lookup", sa.LargeBinary(32), nullable=False, comment="hash of toolset and name"),
        sa.Column("toolset", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("seed", sa.Text(), nullable=False),
        sa.Column("clock", _TIME, nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False, comment="grows by one with every save"),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("updated_at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_worlds"),
        sa.UniqueConstraint("lookup", name="uq_worlds_lookup"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "entities",
        sa.Column("world_id", sa.Integer(), nullable=False),
        sa.Column("lookup", sa.LargeBinary(32), nullable=False, comment="hash of collection and key"),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column(
            "sequence", sa.BigInteger(), nullable=True, comment="place in the order of creation; null when removed"
        ),
        sa.Column("document", sa.Text(), nullable=True, comment="null when removed"),
        sa.PrimaryKeyConstraint("world_id", "lookup", name="pk_entities"),
        sa.ForeignKeyConstraint(["world_id"], ["worlds.id"], name="fk_entities_world_id", ondelete="CASCADE"),
    )
    op.create_table(
        "facts",
        sa.Column("world_id", sa.Integer(), nullable=False),
        sa.Column("lookup", sa.LargeBinary(32), nullable=False, comment="hash of kind and name"),
        sa.Column("kind", sa.Text(), nullable=False, comment="counter, history or next"),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("world_id", "lookup", name="pk_facts"),
        sa.ForeignKeyConstraint(["world_id"], ["worlds.id"], name="fk_facts_world_id", ondelete="CASCADE"),
    )
    op.create_table(
        "snapshots",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("lookup", sa.LargeBinary(32), nullable=False, comment="hash of toolset and name"),
        sa.Column("toolset", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("world", sa.Text(), nullable=False, comment="the world it was taken of"),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.LargeBinary(), nullable=False, comment="packed"),
        sa.Column("created_at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_snapshots"),
        sa.UniqueConstraint("lookup", name="uq_snapshots_lookup"),
        sqlite_autoincrement=True,
    )


def downgrade() -> None:
    """Back to the version before."""
    for table in ("snapshots", "facts", "entities", "worlds"):
        op.drop_table(table)
