"""What tests of several folders need: one PostgreSQL server for all of them, and no data of the user's own."""

from collections.abc import Iterator

import pytest
from postgresql_server import postgresql_database, postgresql_url

__all__ = ["postgresql_database", "postgresql_url"]


@pytest.fixture(scope="session", autouse=True)
def _no_data_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Databases that nobody names, of this process and those it starts, are nobody's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        yield
