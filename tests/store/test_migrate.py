from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text

from envace_sdk.errors import StoreError
from envace_sdk.store.engine import connect, reading, writing
from envace_sdk.store.migrate import HEAD, config, current, migrate
from envace_sdk.store.schema import metadata


def test_the_newest_migration_is_the_version_this_one_works_with():
    assert ScriptDirectory.from_config(config()).get_heads() == [HEAD]


def test_migrations_make_exactly_the_tables_of_the_schema(empty_url):
    engine = connect(empty_url)
    migrate(engine)
    with engine.connect() as connection:
        options = {"compare_type": True, "compare_server_default": True}
        assert compare_metadata(MigrationContext.configure(connection, opts=options), metadata) == []
        inspector = inspect(connection)
        for table in metadata.tables.values():
            # What alembic does not compare.
            assert inspector.get_pk_constraint(table.name)["constrained_columns"] == [c.name for c in table.primary_key]
            wanted = {column.parent.name: column.ondelete for column in table.foreign_keys}
            found = {k["constrained_columns"][0]: k["options"] for k in inspector.get_foreign_keys(table.name)}
            assert found == {name: {"ondelete": ondelete} for name, ondelete in wanted.items()}
    engine.dispose()


def test_in_sqlite_they_are_made_by_the_same_statements(tmp_path):
    def statements(engine) -> dict[str, set[str]]:
        with engine.connect() as connection:
            found = connection.execute(text("SELECT name, sql FROM sqlite_master WHERE tbl_name NOT LIKE 'alembic%'"))
            return {name: {line.strip(" ,\t") for line in (sql or "").splitlines()} for name, sql in found}

    migrated, created = (connect(f"sqlite:///{tmp_path}/{name}.db") for name in ("migrated", "created"))
    migrate(migrated)
    metadata.create_all(created)
    assert statements(migrated) == statements(created)
    migrated.dispose()
    created.dispose()


def test_the_comparison_can_fail(empty_url):
    engine = connect(empty_url)
    migrate(engine)
    with writing(engine) as connection:
        connection.execute(text("ALTER TABLE facts DROP COLUMN value"))
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) != []
    engine.dispose()


def test_a_migrated_database_is_left_as_it_is(empty_url):
    engine = connect(empty_url)
    assert current(engine) is None
    migrate(engine)
    migrate(engine)
    assert current(engine) == HEAD
    engine.dispose()


def test_downgrading_leaves_nothing_behind(empty_url):
    engine = connect(empty_url)
    migrate(engine)
    with writing(engine) as connection:
        command.downgrade(config(connection), "base")
    assert set(inspect(engine).get_table_names()) <= {"alembic_version", "sqlite_sequence"}
    engine.dispose()


def test_many_may_migrate_an_empty_database_at_once(empty_url):
    engines = [connect(empty_url) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(migrate, engines))
    assert current(engines[0]) == HEAD
    for engine in engines:
        engine.dispose()


@pytest.mark.parametrize("attempt", range(60))
def test_many_may_open_a_new_sqlite_database_at_once(tmp_path, attempt):
    engines = [connect(f"sqlite:///{tmp_path}/new.db") for _ in range(8)]
    together = Barrier(len(engines))

    def mode(engine) -> str:
        together.wait()
        with reading(engine) as connection:
            return connection.execute(text("PRAGMA journal_mode")).scalar_one()

    with ThreadPoolExecutor(len(engines)) as pool:
        assert set(pool.map(mode, engines)) == {"wal"}
    for engine in engines:
        engine.dispose()


def test_a_database_of_a_newer_version_is_refused_and_left_alone(empty_url):
    engine = connect(empty_url)
    migrate(engine)
    with writing(engine) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreError, match=r"9999.*newer.*upgrade"):
        migrate(engine)
    assert current(engine) == "9999"
    engine.dispose()


def test_a_migration_that_fails_changes_nothing(empty_url):
    engine = connect(empty_url)
    with writing(engine) as connection:
        connection.execute(text("CREATE TABLE snapshots (x INTEGER)"))
    with pytest.raises(StoreError, match="snapshots"):
        migrate(engine)
    assert "worlds" not in inspect(engine).get_table_names()
    engine.dispose()
