"""Bases: states that many worlds begin with, of which each then keeps only what differs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_KIND = "counter, history or next"


def upgrade() -> None:
    """To this version."""
    op.create_table(
        "bases",
        sa.Column("digest", sa.Text(), nullable=False, comment="SHA-256 of the state"),
        sa.Column("state", sa.LargeBinary(), nullable=False, comment="packed"),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_bases"),
    )
    _comment(f"{_KIND}, or base", _KIND)


def downgrade() -> None:
    """Back to the version before. Worlds that have a base cannot be read without it: they go with it."""
    op.execute("DELETE FROM worlds WHERE id IN (SELECT world_id FROM facts WHERE kind = 'base')")
    op.drop_table("bases")
    _comment(_KIND, f"{_KIND}, or base")


def _comment(new: str, old: str) -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.alter_column(
            "facts", "kind", comment=new, existing_comment=old, existing_type=sa.Text(), existing_nullable=False
        )
