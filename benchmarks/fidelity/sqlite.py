"""Sessions on the SQLite server: an agent that asks and changes a small database. Its queries are a language."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random

from .play import Call, Script
from .servers import PublicServer

__all__ = ["SQLITE"]

SETUP = """
create table customers (id integer primary key, name text not null, city text, joined text);
insert into customers values
  (1, 'Anna', 'Lisbon', '2024-03-01'), (2, 'Ben', 'Oslo', '2024-05-17'),
  (3, 'Chen', 'Lisbon', '2025-01-09'), (4, 'Dora', 'Rome', null);
create table orders (id integer primary key, customer_id integer references customers (id), total real, status text);
insert into orders values
  (1, 1, 20.5, 'paid'), (2, 1, 8, 'open'), (3, 2, 99.9, 'paid'), (4, 3, 15, 'cancelled'), (5, 4, 42, 'open');
"""
COLUMNS = {"customers": ("id", "name", "city"), "orders": ("id", "total", "status")}
NAMES = ("Emil", "Fay", "Gus", "Hana", "Ivo")
CITIES = ("Lisbon", "Oslo", "Rome", "Kyoto")
STATES = ("open", "paid", "cancelled", "shipped")
TABLES = ("notes", "suppliers", "visits")
INSIGHTS = ("Most customers live in Lisbon", "Open orders are small", "Paid orders grew", "Dora never paid")


def prepare(folder: Path, _: int) -> None:
    """The same two tables each time."""
    with closing(sqlite3.connect(folder / "db.sqlite")) as database:
        database.executescript(SETUP)


def script(random: Random, _: Path) -> Script:
    """See which tables there are, then ask and change."""
    agent = _Agent(random)
    yield Call("list_tables")
    while True:
        yield from agent.step()


class _Agent:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.made: list[str] = []
        self.next_id = {"customers": 5, "orders": 6}

    def step(self) -> Script:
        tries: list[tuple[Callable[[], Script], int]] = [
            (self.look, 3),
            (self.ask, 6),
            (self.insert, 4),
            (self.update, 3),
            (self.delete, 2),
            (self.make, 2),
            (self.note, 1),
            (self.fail, 4),
        ]
        yield from self.random.choices([one for one, _ in tries], [weight for _, weight in tries])[0]()

    def look(self) -> Script:
        yield self.random.choice(
            [Call("list_tables"), Call("describe_table", {"table_name": self.random.choice([*COLUMNS, *self.made])})]
        )

    def ask(self) -> Script:
        table = self.random.choice(sorted(COLUMNS))
        some = ", ".join(self.random.sample(COLUMNS[table], 2))
        yield read(
            self.random.choice(
                [
                    f"SELECT * FROM {table}",
                    f"SELECT {some} FROM {table}",
                    f"SELECT * FROM {table} WHERE id = {self.some_id(table)}",
                    f"SELECT COUNT(*) AS n FROM {table}",
                    f"SELECT * FROM {table} ORDER BY id DESC LIMIT {self.random.randint(1, 3)}",
                    f"SELECT name FROM customers WHERE city = '{self.random.choice(CITIES)}'",
                    f"SELECT id, total FROM orders WHERE status = '{self.random.choice(STATES)}'",
                    "SELECT SUM(total) AS total FROM orders",
                    "SELECT c.name, o.total FROM customers c JOIN orders o ON o.customer_id = c.id",
                    *(f"SELECT * FROM {name}" for name in self.made),
                ]
            )
        )

    def insert(self) -> Script:
        table = self.random.choice(sorted(COLUMNS))
        row = self.next_id[table]
        self.next_id[table] += 1
        if table == "customers":
            values = f"(id, name, city) VALUES ({row}, '{self.random.choice(NAMES)}', '{self.random.choice(CITIES)}')"
        else:
            total = self.random.choice([5, 12.5, 30, 77.25])
            state = self.random.choice(STATES)
            values = f"VALUES ({row}, {self.random.randint(1, 4)}, {total}, '{state}')"
        yield write(f"INSERT INTO {table} {values}")
        yield read(f"SELECT * FROM {table} WHERE id = {row}")

    def update(self) -> Script:
        row = self.some_id("orders")
        yield write(f"UPDATE orders SET status = '{self.random.choice(STATES)}' WHERE id = {row}")
        yield read(f"SELECT * FROM orders WHERE id = {row}")

    def delete(self) -> Script:
        table = self.random.choice(sorted(COLUMNS))
        row = self.some_id(table)
        yield write(f"DELETE FROM {table} WHERE id = {row}")
        yield read(
            self.random.choice([f"SELECT * FROM {table} WHERE id = {row}", f"SELECT COUNT(*) AS n FROM {table}"])
        )

    def make(self) -> Script:
        name = self.random.choice(TABLES)
        yield Call("create_table", {"query": f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, body TEXT)"})
        if name not in self.made:
            self.made.append(name)
        yield self.random.choice([Call("list_tables"), Call("describe_table", {"table_name": name})])
        if self.random.random() < 0.6:
            yield write(f"INSERT INTO {name} (body) VALUES ('{self.random.choice(NAMES)}')")
            yield read(f"SELECT * FROM {name}")

    def note(self) -> Script:
        yield Call("append_insight", {"insight": self.random.choice(INSIGHTS)})

    def fail(self) -> Script:
        """What the server answers with a text about an error."""
        yield self.random.choice(
            [
                read("SELECT * FROM missing"),
                read("SELECT nothing FROM customers"),
                read("DELETE FROM orders"),
                read("SELEC * FROM orders"),
                write("SELECT * FROM orders"),
                write("INSERT INTO customers (id, name) VALUES (1, 'Twice')"),
                write("INSERT INTO customers (id, city) VALUES (77, 'Rome')"),
                write("UPDATE missing SET a = 1"),
                Call("create_table", {"query": "CREATE TABLE customers (id INTEGER)"}),
                Call("create_table", {"query": "DROP TABLE orders"}),
                Call("describe_table", {"table_name": "missing"}),
            ]
        )

    def some_id(self, table: str) -> int:
        return self.random.randint(1, self.next_id[table])


def read(query: str) -> Call:
    """A query that asks."""
    return Call("read_query", {"query": query})


def write(query: str) -> Call:
    """A query that changes."""
    return Call("write_query", {"query": query})


READS = frozenset({"read_query", "list_tables", "describe_table"})
SQLITE = PublicServer("sqlite", "mcp-server-sqlite", 50, READS, prepare, script)
