"""A small toolset for tests of the rehearse layer: notes (closed) and shelves (open world)."""

import asyncio

from envace_sdk.rehearse import Environment
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import ToolCall, ToolResult
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.state import State

TEXT = {"type": "string"}

DYNAMICS = """
collections:
  notes: {key: note_id, noun: note, mint: "N-{n}"}
  shelves: {key: name, noun: shelf, open: true}
tools:
  add_note:
    effect: create
    collection: notes
    take: [title]
    set: {created_at: now}
  read_note: {effect: read, collection: notes, key: args.note_id}
  retitle_note: {effect: update, collection: notes, key: args.note_id, take: [title]}
  drop_note:
    effect: delete
    collection: notes
    key: args.note_id
    returns: {object: {note_id: args.note_id, deleted: "true"}}
  list_notes:
    effect: search
    collection: notes
    filters: {title: {field: title, op: contains}}
    returns: {wrap: notes, count: total}
  look_at_shelf: {effect: read, collection: shelves, key: args.name}
  list_shelves:
    effect: search
    collection: shelves
    filters: {room: {field: room}}
    returns: {wrap: shelves}
"""


def tool(name, properties=None, required=(), output=None, **more):
    definition = {
        "name": name,
        "inputSchema": {"type": "object", "properties": properties or {}, "required": list(required)},
        **more,
    }
    return definition if output is None else {**definition, "outputSchema": output}


NOTE_ID = {"note_id": TEXT}
TOOLS = [
    tool("add_note", {"title": TEXT}, ["title"]),
    tool("read_note", NOTE_ID, ["note_id"]),
    tool("retitle_note", {**NOTE_ID, "title": TEXT}, ["note_id", "title"]),
    tool("drop_note", NOTE_ID, ["note_id"]),
    tool("list_notes", {"title": TEXT}),
    tool(
        "look_at_shelf",
        {"name": TEXT},
        ["name"],
        {
            "type": "object",
            "properties": {"name": TEXT, "room": TEXT, "capacity": {"type": "integer", "minimum": 1}},
            "required": ["name", "room", "capacity"],
            "additionalProperties": False,
        },
    ),
    tool("list_shelves", {"room": TEXT}),
    tool("forecast", {"city": TEXT}, ["city"], description="Returns the temperature and wind speed."),
]


class Session:
    """A world with the calls spelled shortly."""

    def __init__(self, environment, world):
        self.environment = environment
        self.world = world

    def __call__(self, name, /, **arguments):
        return asyncio.run(self.environment.call(self.world, ToolCall(name, arguments)))

    def value(self, name, /, **arguments):
        rehearsal = self(name, **arguments)
        assert not rehearsal.result.is_error, rehearsal.result.first_text
        return rehearsal.result.value()

    def fork(self, name="fork"):
        return Session(self.environment, self.world.fork(name))


def observed(name, arguments, result, episode="a", position=0, *, is_error=False):
    found = ToolResult.text(result, is_error=is_error) if isinstance(result, str) else None
    return Fixture(ToolCall(name, arguments), found or ToolResult.json(result, structured=False), episode, position)


def open_session(*, tools=TOOLS, dynamics=DYNAMICS, fixtures=(), start=None, seed=0, model=None):
    """A session on the notes toolset, or another, with fixtures and start data."""
    rules = Dynamics.parse(dynamics)
    environment = Environment(
        Toolset.from_definitions(tools, name="notes"),
        dynamics=rules,
        fixtures=fixtures,
        start=None if start is None else State.start(dynamics=rules, collections=start),
        model=model,
    )
    return Session(environment, environment.world(seed=seed))
