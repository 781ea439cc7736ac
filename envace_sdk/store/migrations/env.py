"""Run by alembic: applies migrations on the connection that `migrate` passes, inside its transaction."""

from alembic import context

from envace_sdk.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    # SQLite changes tables by copying them.
    render_as_batch=True,
)
context.run_migrations()
