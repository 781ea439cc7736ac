"""The traveller desk of the airline, without the recordings, so that every answer comes from the rules."""

import asyncio
import json
from datetime import datetime

from envace_sdk.rehearse import Environment
from envace_sdk.tools.model import ToolCall
from envace_sdk.tools.shipped import shipped
from envace_sdk.world.seed_data import read_start
from envace_sdk.world.state import State

FOLDER = shipped()["airline"]
LOADED = Environment.load(FOLDER)
NOW, COLLECTIONS = read_start(json.loads((FOLDER / "world.json").read_text(encoding="utf-8")), "world.json")
DESK = Environment(
    LOADED.toolset,
    dynamics=LOADED.dynamics,
    start=State.start(clock=NOW, collections=COLLECTIONS, dynamics=LOADED.dynamics),
)


def call(world, tool, arguments):
    return asyncio.run(DESK.call(world, ToolCall(tool, arguments)))


def done(world, tool, **arguments):
    rehearsal = call(world, tool, arguments)
    assert not rehearsal.result.is_error, rehearsal.result.first_text
    assert rehearsal.layer == "dynamics"
    return rehearsal.result.structured


def refused(world, tool, **arguments):
    rehearsal = call(world, tool, arguments)
    assert rehearsal.result.is_error
    return rehearsal.result.first_text


def at(moment):
    return DESK.world(clock=datetime.fromisoformat(moment))
