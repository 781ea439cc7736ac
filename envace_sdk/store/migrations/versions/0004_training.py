"""Training: runs and their metrics."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """To this version."""
    op.create_table(
        "training_runs",
        sa.Column("id", sa.Integer(), nullable=False, autoincrement=True),
        sa.Column("lookup", sa.LargeBinary(32), nullable=False, comment="hash of host and directory"),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("directory", sa.Text(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("began_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_training_runs"),
        sa.UniqueConstraint("lookup", name="uq_training_runs_lookup"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "training_metrics",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("step", sa.BigInteger(), nullable=False, autoincrement=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id"], ["training_runs.id"], name="fk_training_metrics_run_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("run_id", "name", "step", name="pk_training_metrics"),
    )


def downgrade() -> None:
    """Back to the version before: the metrics stay in each run's folder."""
    op.drop_table("training_metrics")
    op.drop_table("training_runs")
