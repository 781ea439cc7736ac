"""A small server that only its recordings tell of: members borrow things at a desk, and no rule explains it."""

import json
from random import Random

from notes_toolset import TEXT, Session, tool

from envace_sdk.rehearse import Environment
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import ToolCall, ToolResult
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.dynamics import Dynamics

THING = {"thing_id": TEXT}
TOOLS = [
    tool("add_thing", {"name": TEXT, "room": TEXT}, ["name"]),
    tool("get_thing", THING, ["thing_id"]),
    tool("lend_thing", {**THING, "to": TEXT}, ["thing_id", "to"]),
    tool("take_back", THING, ["thing_id"]),
    tool("drop_thing", THING, ["thing_id"]),
    tool("list_things", {}),
    tool("greet", {"name": TEXT}, ["name"]),
]
OPAQUE = {t["name"]: {"effect": "opaque"} for t in TOOLS}
ROOMS = ("attic", "cellar", "hall")
PEOPLE = ("Ada", "Bo", "Cy", "Dee")
NAMES = ("drill", "ladder", "tent", "kettle", "sledge", "canoe")


def rules(collections=None, **changed):
    """Dynamics in which nothing is explained but what is given."""
    return Dynamics.parse(json.dumps({"collections": collections or {}, "tools": {**OPAQUE, **changed}}))


class Desk:
    """The server itself."""

    def __init__(self, random):
        self.random = random
        self.things = {}
        self.seen = []
        """Every key there ever was."""

    def __call__(self, name, arguments):
        """The result, and whether it is an error."""
        return getattr(self, name)(**arguments)

    def add_thing(self, name, room="hall"):
        key = f"T-{self.random.randrange(16**6):06x}"
        self.seen.append(key)
        self.things[key] = {"thing_id": key, "name": name, "room": room, "with": None}
        return dict(self.things[key]), False

    def get_thing(self, thing_id):
        thing = self.things.get(thing_id)
        return (dict(thing), False) if thing else (f"Nothing is known of '{thing_id}'", True)

    def lend_thing(self, thing_id, to):
        thing = self.things.get(thing_id)
        if thing is None:
            return f"Nothing is known of '{thing_id}'", True
        if thing["with"]:
            return f"{thing_id} is with {thing['with']} already", True
        thing["with"] = to
        return {"lent": thing_id, "with": to}, False

    def take_back(self, thing_id):
        thing = self.things.get(thing_id)
        if thing is None:
            return f"Nothing is known of '{thing_id}'", True
        thing["with"] = None
        return {"back": thing_id, "with": None}, False

    def drop_thing(self, thing_id):
        if self.things.pop(thing_id, None) is None:
            return f"Nothing is known of '{thing_id}'", True
        return {"dropped": thing_id}, False

    def list_things(self):
        return {"things": [dict(thing) for thing in self.things.values()], "count": len(self.things)}, False

    def greet(self, name):
        return f"Hello {name}, welcome back to the desk", False


def made_up_call(random, desk):
    """A call that somebody might make."""
    name = random.choice([t["name"] for t in TOOLS])
    thing = random.choice(desk.seen) if desk.seen and random.random() < 0.8 else f"T-{random.randrange(16**6):06x}"
    if name == "add_thing":
        arguments = {"name": random.choice(NAMES)}
        return name, {**arguments, "room": random.choice(ROOMS)} if random.random() < 0.5 else arguments
    if name == "greet":
        return name, {"name": random.choice(PEOPLE)}
    if name == "list_things":
        return name, {}
    return name, {"thing_id": thing, **({"to": random.choice(PEOPLE)} if name == "lend_thing" else {})}


def recorded(episodes=24, calls=24, seed=1):
    """Recordings of the desk."""
    fixtures = []
    for episode in range(episodes):
        random = Random(f"{seed}/{episode}")
        desk = Desk(random)
        for position in range(calls):
            name, arguments = made_up_call(random, desk)
            value, is_error = desk(name, arguments)
            result = (
                ToolResult.text(value, is_error=is_error)
                if isinstance(value, str)
                else ToolResult.json(value, structured=False)
            )
            fixtures.append(Fixture(ToolCall(name, arguments), result, f"day {episode}", position))
    return fixtures


def desk_environment(precedents=(), *, tools=TOOLS, dynamics=None, **options):
    """An environment that knows the desk from recordings alone."""
    toolset = Toolset.from_definitions(tools, name="desk")
    return Environment(toolset, dynamics=dynamics or rules(), precedents=precedents, **options)


def open_desk(precedents=(), *, seed=0, **options):
    """A session on it."""
    environment = desk_environment(precedents, **options)
    return Session(environment, environment.world(seed=seed))
