"""Calls as the miner sees them, and small servers to learn from."""

import json
from random import Random

from envace_sdk.errors import EnvaceError
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import ToolCall, ToolResult
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.interpret import Interpreter
from envace_sdk.world.mine.belief import Belief
from envace_sdk.world.mine.episodes import Step
from envace_sdk.world.mine.failures import Failure
from envace_sdk.world.mine.moments import Moment
from envace_sdk.world.mine.roles import Cast, Named
from envace_sdk.world.mine.structure import Kind, Site, Structure
from envace_sdk.world.state import State

ORDER = Named("entity", "orders", "args.id")
MISSING = Failure("do", 0, None, "No such order")
LATE = Failure("do", 1, None, "The order has been sent")
LOCKED = Failure("do", 2, None, "Please log in")
TAKEN = Failure("do", 3, None, "The order exists already")


def moment(args, value=None, *, failure=None, order=None, session=None, existed=None, named=(ORDER,), **more):
    """A call of the tool `do`, about an order that is known, or not."""
    text = failure.text if failure is not None else value if isinstance(value, str) else json.dumps(value)
    step = Step("one", 0, "do", args, failure is None, value, text, value, "do", is_text=isinstance(value, str))
    scope = {"args": args, "session": session or {}, "entity": order, **more.pop("scope", {})}
    keys = {one.name: args["id"] for one in named if "id" in args}
    told = {} if not keys else {"entity": order is not None} if existed is None else {"entity": existed}
    after = more.pop("after", scope)
    return Moment(step, Cast("do", named), scope, keys, Belief(), after, told, failure, **more)


def orders(*sites, label="", key="id"):
    """The structure of a world of orders that `do` shows."""
    shown = [Site("do", **{"kind": "orders", "key": key, **site}) for site in sites]
    return Structure({"orders": Kind("orders", "order", key, label=label)}, sites={"do": shown})


def toolset(**tools):
    """Tools by name, each with its arguments; those that end in `_` may be left out."""
    return Toolset.from_definitions(
        [
            {
                "name": name,
                "description": name.replace("_", " "),
                "inputSchema": {
                    "type": "object",
                    "properties": {argument.rstrip("_"): {"type": kind} for argument, kind in arguments.items()},
                    "required": [argument for argument in arguments if not argument.endswith("_")],
                },
            }
            for name, arguments in tools.items()
        ],
        name="small",
    )


def play(server, seed, length):
    """One session on a new server: the calls, each with what it says and whether that is an error."""
    random, one = Random(seed), server()
    for _ in range(length):
        tool, args = one.wish(random)
        try:
            yield tool, args, getattr(one, tool)(**args), False
        except LookupError as error:
            yield tool, args, error.args[0], True


def recorded(server, *, episodes, length):
    """Sessions of a server, as fixtures."""
    found = []
    for episode in range(episodes):
        for position, (tool, args, said, failed) in enumerate(play(server, f"recorded {episode}", length)):
            result = (
                ToolResult.text(said, is_error=failed)
                if isinstance(said, str)
                else ToolResult.json(said, structured=False)
            )
            found.append(Fixture(ToolCall(tool, args), result, f"{episode:03}", position))
    return found


def answered(dynamics, start, tools, server, *, episodes, length):
    """Fresh sessions through the rules: tool, arguments, what the server says, and what the rules say.

    What is said is a pair: whether it is an error, and the answer; the rules may say nothing, which is None.
    """
    interpreter = Interpreter(dynamics)
    collections = {name: documents for name, documents in start.items() if name in dynamics.collections}
    for episode in range(episodes):
        state = State.start(dynamics=dynamics, collections=collections)
        for tool, args, said, failed in play(server, f"fresh {episode}", length):
            try:
                answer = interpreter.run(tools[tool], args, state, Random(0))
            except EnvaceError as error:
                yield tool, args, (failed, said), error
                continue
            if answer is None:
                yield tool, args, (failed, said), None
                continue
            state = answer.state if answer.state is state else answer.state.tick()
            told = (True, answer.error) if answer.error is not None else (False, answer.value)
            yield tool, args, (failed, said), told
