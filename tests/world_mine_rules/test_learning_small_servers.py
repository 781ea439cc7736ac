"""Small servers are learned from recordings, and the rules answer fresh calls as the servers do."""

from functools import cache
from typing import ClassVar

import pytest
from mined_calls import answered, recorded, toolset

from envace_sdk.world.mine import learn


class Desk:
    """Tickets, for people who are logged in."""

    TOOLS = toolset(
        log_in={"user": "string"},
        log_out={},
        open_ticket={"title": "string", "priority": "integer"},
        get_ticket={"ticket_id": "string"},
        close_ticket={"ticket_id": "string"},
        list_tickets={"status_": "string"},
    )
    USERS = ("ada", "bo", "cy")

    def __init__(self):
        self.user, self.tickets = None, {}

    def wish(self, random):
        tool = random.choice([*[tool.name for tool in self.TOOLS], "open_ticket", "get_ticket", "close_ticket"])
        if self.user is None and random.random() < 0.3:
            tool = "log_in"
        args = {
            "log_in": {"user": random.choice(self.USERS)},
            "log_out": {},
            "open_ticket": {
                "title": f"{random.choice(['leak', 'noise', 'smoke'])} in room {random.randint(1, 400)}",
                "priority": random.randint(1, 7),
            },
            "list_tickets": random.choice([{}, {"status": "open"}, {"status": "closed"}]),
        }
        return tool, args.get(
            tool,
            {}
            if tool == "log_out"
            else {"ticket_id": random.choice([*self.tickets, *self.tickets, f"T-{random.randint(800, 999)}"])},
        )

    def log_in(self, user):
        self.user = user
        return {"message": f"Welcome {user}"}

    def log_out(self):
        self.user = None
        return "You are logged out."

    def open_ticket(self, title, priority):
        if self.user is None:
            raise LookupError("Please log in first")
        if priority > 5:
            raise LookupError("The priority must be at most 5")
        number = f"T-{len(self.tickets) + 100}"
        self.tickets[number] = {"ticket_id": number, "title": title, "priority": priority, "status": "open"}
        return dict(self.tickets[number])

    def _ticket(self, number):
        if number not in self.tickets:
            raise LookupError(f"Ticket {number} not found")
        return self.tickets[number]

    def get_ticket(self, ticket_id):
        return dict(self._ticket(ticket_id))

    def close_ticket(self, ticket_id):
        if self.user is None:
            raise LookupError("Please log in first")
        ticket = self._ticket(ticket_id)
        if ticket["status"] == "closed":
            raise LookupError(f"Ticket {ticket_id} is closed already")
        ticket["status"] = "closed"
        return {"ticket_id": ticket_id, "status": "closed"}

    def list_tickets(self, status=None):
        return {"tickets": [dict(one) for one in self.tickets.values() if status in (None, one["status"])]}


class Tree:
    """Files below a current directory."""

    TOOLS = toolset(
        pwd={}, cd={"folder": "string"}, write={"file_name": "string", "content": "string"}, cat={"file_name": "string"}
    )
    FOLDERS: ClassVar = {
        "/home": ("docs", "pictures"),
        "/home/docs": ("old",),
        "/home/pictures": (),
        "/home/docs/old": (),
    }

    def __init__(self):
        self.cwd, self.files = "/home", {}

    def wish(self, random):
        tool = random.choice(["cd", "pwd", "write", "write", "cat", "cat", "cat"])
        name = random.choice(["a.txt", "b.txt", "notes.md", "plan.md"])
        inside = self.FOLDERS[self.cwd]
        args = {
            "cd": {"folder": random.choice([*inside, *inside, "..", "docs"])},
            "pwd": {},
            "write": {
                "file_name": name,
                "content": f"{random.choice(['buy', 'sell'])} {random.randint(100, 999)} pots",
            },
            "cat": {"file_name": name},
        }
        return tool, args[tool]

    def pwd(self):
        return {"current_working_directory": self.cwd}

    def cd(self, folder):
        if folder == "..":
            self.cwd = self.cwd.rpartition("/")[0] if self.cwd != "/home" else "/home"
        elif folder in self.FOLDERS[self.cwd]:
            self.cwd = f"{self.cwd}/{folder}"
        else:
            raise LookupError(f"cd: {folder}: no such folder")
        return {"current_working_directory": self.cwd}

    def write(self, file_name, content):
        self.files[self.cwd, file_name] = content
        return {"file_name": file_name, "content": content}

    def cat(self, file_name):
        if (self.cwd, file_name) not in self.files:
            raise LookupError(f"cat: {file_name}: no such file")
        return {"file_name": file_name, "content": self.files[self.cwd, file_name]}


class Shop:
    """Answers in sentences."""

    TOOLS = toolset(
        put_jar={"jar": "string", "spice": "string", "grams": "integer"},
        look_at={"jar": "string"},
        take_from={"jar": "string", "grams": "integer"},
    )

    def __init__(self):
        self.jars = {}

    def wish(self, random):
        jar = f"jar-{random.randint(1, 9)}"
        tool = random.choice(["put_jar", "look_at", "look_at", "take_from"])
        args = {
            "put_jar": {"jar": jar, "spice": random.choice(["salt", "mace", "dill"]), "grams": random.randint(50, 500)},
            "look_at": {"jar": jar},
            "take_from": {"jar": jar, "grams": random.randint(10, 300)},
        }
        return tool, args[tool]

    def put_jar(self, jar, spice, grams):
        self.jars[jar] = [spice, grams]
        return f"Jar {jar} now holds {grams} g of {spice}."

    def look_at(self, jar):
        if jar not in self.jars:
            raise LookupError(f"There is no jar {jar}.")
        spice, grams = self.jars[jar]
        return f"In jar {jar} there are {grams} g of {spice}."

    def take_from(self, jar, grams):
        if jar not in self.jars:
            raise LookupError(f"There is no jar {jar}.")
        if grams > self.jars[jar][1]:
            raise LookupError(f"Jar {jar} holds only {self.jars[jar][1]} g.")
        self.jars[jar][1] -= grams
        return f"Took {grams} g from jar {jar}."


# Which folders there are below the others is known only as far as sessions went there.
LEAST = {"cd": 0.8}


@cache
def fresh(server):
    """What a server and its learned rules say to calls that were never recorded."""
    learned = learn(server.TOOLS, recorded(server, episodes=16, length=20))
    return learned, list(answered(learned.dynamics, learned.start, server.TOOLS, server, episodes=6, length=20))


def share(found, tools, *, answers=True):
    """The share of calls that end as on the server; with the same answer or error too."""
    right = [
        isinstance(told, tuple) and (told == said if answers else told[0] is said[0])
        for tool, _, said, told in found
        if tool in tools
    ]
    return sum(right) / len(right)


@pytest.mark.parametrize("server", [Desk, Tree, Shop])
def test_fresh_calls_succeed_and_fail_as_on_the_server(server):
    _, found = fresh(server)
    assert share(found, [tool.name for tool in server.TOOLS], answers=False) >= 0.95


@pytest.mark.parametrize(
    ("server", "tool"), [(server, tool.name) for server in (Desk, Tree, Shop) for tool in server.TOOLS]
)
def test_fresh_calls_get_the_answer_of_the_server(server, tool):
    _, found = fresh(server)
    assert share(found, [tool]) >= LEAST.get(tool, 0.9)
