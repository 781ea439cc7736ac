from random import Random

from envace_sdk.tools.model import Tool
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.interpret import Interpreter
from envace_sdk.world.state import State

DYNAMICS = Dynamics.parse("""
collections:
  session: {key: id}
tools:
  log_in:
    effect: compute
    also:
      - {effect: update, collection: session, key: "'session'", upsert: true, set: {user: args.user}}
    returns: {value: "true"}
  who:
    effect: compute
    returns:
      object:
        user: session.user
  look:
    effect: compute
    requires:
      - that: has(session.user)
        error: log in first
    returns:
      object:
        user: default(session.user, 'nobody')
        shell: default(session.shell, 'sh')
""")


def called(name, arguments, state):
    tool = Tool({"name": name, "inputSchema": {"type": "object"}})
    return Interpreter(DYNAMICS).run(tool, arguments, state, Random(1))


def test_what_the_session_holds_is_seen_by_has_and_default():
    start = State.start(dynamics=DYNAMICS)
    refused = called("look", {}, start)
    assert (refused.error, refused.requirement) == ("log in first", 0)
    after = called("log_in", {"user": "ana"}, start).state
    assert called("who", {}, after).value == {"user": "ana"}
    assert called("look", {}, after).value == {"user": "ana", "shell": "sh"}
