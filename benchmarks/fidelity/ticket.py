"""Sessions on TicketAPI: the calls of an entry, and between them what a person at a service desk would do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from .bfcl import Entry, PythonClass
from .play import Call, Script

__all__ = ["TICKET"]

USERS = ("alice", "bob", "carol", "john", "mthompson")
TITLES = ("Printer jam", "VPN drops", "Laptop will not boot", "New monitor", "Password reset", "Tire pressure warning")
TEXTS = ("It happens every morning.", "Please help soon.", "Third floor, room 12.", "See the attached screenshot.")
RESOLUTIONS = ("Replaced the part", "Restarted the service", "Fixed through manual intervention", "Duplicate report")
STATES = ("Open", "open", "Closed", "Resolved", "In Progress")


def script(random: Random, entry: Entry) -> Script:
    """The calls of the entry, and between and after them probes."""
    desk = _Desk(random, entry)
    if random.random() < 0.5:
        yield from desk.account()
    for call in entry.calls:
        if random.random() < 0.3:
            yield from desk.probe()
        answer = yield call
        if call.tool == "create_ticket" and not answer.is_error:
            desk.ids.append(answer.value["id"])
    while True:
        yield from desk.probe()


class _Desk:
    """The tickets that the agent has heard of, and what it may do with them."""

    def __init__(self, random: Random, entry: Entry) -> None:
        self.random = random
        queue = entry.config.get("ticket_queue", [])
        self.ids: list[int] = [ticket["id"] for ticket in queue if isinstance(ticket.get("id"), int)]

    def do(self, tool: str, **arguments: Any) -> Script:
        """One call."""
        answer = yield Call(tool, arguments)
        if tool == "create_ticket" and not answer.is_error:
            self.ids.append(answer.value["id"])

    def probe(self) -> Script:
        """Something to do."""
        tries: list[tuple[Callable[[], Script], int]] = [
            (self.account, 3),
            (self.create, 4),
            (self.read, 4),
            (self.edit, 3),
            (self.resolve, 2),
            (self.close, 2),
            (self.fail, 3),
        ]
        yield from self.random.choices([one for one, _ in tries], [weight for _, weight in tries])[0]()

    def account(self) -> Script:
        yield from self.random.choice(
            [
                lambda: self.do("ticket_get_login_status"),
                lambda: self.do("ticket_login", username=self.random.choice(USERS), password="letmein"),
                lambda: self.do("ticket_login", username=self.random.choice(USERS), password="letmein"),
                lambda: self.do("ticket_login", username=self.random.choice(["", *USERS]), password=""),
                lambda: self.do("logout"),
            ]
        )()
        if self.random.random() < 0.4:
            yield from self.do("ticket_get_login_status")

    def create(self) -> Script:
        optional: dict[str, Any] = {"description": self.random.choice(TEXTS), "priority": self.random.randint(1, 5)}
        given = {name: value for name, value in optional.items() if self.random.random() < 0.7}
        yield from self.do("create_ticket", title=self.random.choice(TITLES), **given)
        if self.ids and self.random.random() < 0.7:
            yield from self.do("get_ticket", ticket_id=self.ids[-1])

    def read(self) -> Script:
        if self.random.random() < 0.5:
            status = {"status": self.random.choice(STATES)} if self.random.random() < 0.5 else {}
            yield from self.do("get_user_tickets", **status)
        else:
            yield from self.do("get_ticket", ticket_id=self.some_id())

    def edit(self) -> Script:
        ticket = self.some_id()
        fields: dict[str, Any] = {
            "title": self.random.choice(TITLES),
            "description": self.random.choice(TEXTS),
            "status": self.random.choice(STATES),
            "priority": self.random.randint(1, 5),
        }
        names = self.random.sample(sorted(fields), self.random.randint(1, 3))
        yield from self.do("edit_ticket", ticket_id=ticket, updates={name: fields[name] for name in names})
        if self.random.random() < 0.8:
            yield from self.do("get_ticket", ticket_id=ticket)

    def resolve(self) -> Script:
        ticket = self.some_id()
        yield from self.do("resolve_ticket", ticket_id=ticket, resolution=self.random.choice(RESOLUTIONS))
        yield from self.after(ticket, "resolve_ticket", resolution=self.random.choice(RESOLUTIONS))

    def close(self) -> Script:
        ticket = self.some_id()
        yield from self.do("close_ticket", ticket_id=ticket)
        yield from self.after(ticket, "close_ticket")

    def after(self, ticket: int, tool: str, **arguments: Any) -> Script:
        """See what has become of it, or do it twice."""
        if self.random.random() < 0.6:
            yield from self.do("get_ticket", ticket_id=ticket)
        if self.random.random() < 0.3:
            yield from self.do(tool, ticket_id=ticket, **arguments)

    def fail(self) -> Script:
        missing = self.random.randint(900, 9999)
        yield from self.random.choice(
            [
                lambda: self.do("get_ticket", ticket_id=missing),
                lambda: self.do("close_ticket", ticket_id=missing),
                lambda: self.do("resolve_ticket", ticket_id=missing, resolution=self.random.choice(RESOLUTIONS)),
                lambda: self.do("edit_ticket", ticket_id=missing, updates={"priority": 2}),
                lambda: self.do("edit_ticket", ticket_id=self.some_id(), updates={"owner": self.random.choice(USERS)}),
                lambda: self.do(
                    "create_ticket", title=self.random.choice(TITLES), priority=self.random.choice([0, 6, 9])
                ),
            ]
        )()

    def some_id(self) -> int:
        return self.random.choice(self.ids) if self.ids else self.random.randint(1, 5)


def _is_sound(config: Mapping[str, Any]) -> bool:
    return all("id" in ticket for ticket in config.get("ticket_queue", []))


READS = frozenset({"get_ticket", "get_user_tickets", "ticket_get_login_status"})
TICKET = PythonClass("TicketAPI", "ticket_api", 4, READS, script, _is_sound)
