"""Alembic's migrations of the store; `envace_sdk.store.migrate` runs them."""
