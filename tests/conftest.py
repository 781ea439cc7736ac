"""What tests of several folders need: one PostgreSQL server for all of them."""

from postgresql_server import postgresql_database, postgresql_url

__all__ = ["postgresql_database", "postgresql_url"]
