"""What inferring costs as toolsets grow."""

from itertools import islice, permutations

from cost import cost

from envace_sdk.tools.model import Tool
from envace_sdk.world.infer import infer

NOUNS = (
    *("account", "invoice", "project", "client", "device", "policy", "ticket", "channel", "market", "vendor"),
    *("asset", "branch", "region", "permit", "credit", "parcel", "signal", "module"),
)
TEXT = {"type": "string"}


def _toolset(collections):
    """Five tools for each of so many kinds of things, each called by two words that others are called by too."""
    for first, last in islice(permutations(NOUNS, 2), collections):
        key = f"{first}_{last}_id"
        schema = {
            "type": "object",
            "properties": {key: TEXT, **{f"field{number}": TEXT for number in range(8)}},
            "required": [key],
        }
        for verb in ("get", "list", "create", "update", "delete"):
            yield Tool({"name": f"{verb}_{first}_{last}", "description": "d", "inputSchema": schema})


def _cost(collections):
    tools = list(_toolset(collections))
    return min(cost(lambda: infer(tools)) for _ in range(3))


def test_four_times_the_tools_cost_nowhere_near_sixteen_times_as_much():
    infer(_toolset(10))
    assert _cost(300) < 9 * _cost(75)


def test_each_kind_of_thing_keeps_its_collection():
    assert len(infer(_toolset(60)).collections) == 60
