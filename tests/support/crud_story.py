"""Random dynamics of CRUD shape, and a model of plain dicts that says what they must do.

Run as a program, it plays a fixed story and prints all that came out of it, for tests of determinism.
"""

import json
import sys
from random import Random

from hypothesis import strategies as st

from envace_sdk.tools.model import Tool
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.interpret import Interpreter
from envace_sdk.world.keys import key_text
from envace_sdk.world.state import State

NAMES = ["orders", "Widgets", "user-profiles", "日本"]
FIELDS = ["title", "status", "amount", "tags"]


def dynamics(collections):
    """`collections`: name to (key field, mint template)."""
    rules, tools = {}, {}
    for name, (key, mint) in collections.items():
        rules[name] = {"key": key, "mint": mint}
        tools |= {
            f"create_{name}": {"effect": "create", "collection": name, "take": "*", "set": {"made_at": "now"}},
            f"get_{name}": {"effect": "read", "collection": name, "key": f"args['{key}']"},
            f"update_{name}": {
                "effect": "update",
                "collection": name,
                "key": f"args['{key}']",
                "take": FIELDS,
                "set": {"changes": "default(entity.changes, 0) + 1"},
            },
            f"delete_{name}": {"effect": "delete", "collection": name, "key": f"args['{key}']"},
            f"list_{name}": {
                "effect": "search",
                "collection": name,
                "filters": {field: {"field": field} for field in FIELDS},
                "order_by": ["-amount"],
                "returns": {"wrap": "items", "count": "total"},
            },
        }
    return Dynamics.model_validate({"collections": rules, "tools": tools})


class Story:
    """Calls on one world, each checked by whoever tells it."""

    def __init__(self, rules, *, seed=0):
        self.dynamics = rules
        self.interpreter = Interpreter(rules)
        self.state = State.start(dynamics=rules, seed=seed)

    def call(self, name, arguments, state=None):
        state = state or self.state
        tool = Tool({"name": name, "inputSchema": {"type": "object"}})
        return self.interpreter.run(tool, arguments, state, state.random(name, json.dumps(arguments)))

    def write(self, name, arguments):
        answer = self.call(name, arguments)
        self.state = answer.state if answer.state is self.state else answer.state.tick()
        return answer


scalars = st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from([1.5, "open", "closed", "", "é", "5"])
values = scalars | st.lists(scalars, max_size=2) | st.dictionaries(st.text(max_size=2), scalars, max_size=2)
fields = st.dictionaries(st.sampled_from(FIELDS), values, max_size=3)
mints = st.sampled_from(["", "{n}", "X-{n:03}", "{hex:8}", "{uuid}", "{alnum:12}"])
shapes = st.dictionaries(
    st.sampled_from(NAMES), st.tuples(st.sampled_from(["id", "key", "order_no"]), mints), min_size=1, max_size=3
)


def told(count):
    """Everything that comes out of a story of so many calls, as text."""
    random = Random(5)
    story = Story(
        dynamics({name: ("id", mint) for name, mint in zip(NAMES, ["", "{hex:8}", "{uuid}", "K{n}"], strict=True)})
    )
    lines = []
    keys = {name: [] for name in NAMES}
    for _ in range(count):
        name = random.choice(NAMES)
        verb = random.choice(["create", "create", "get", "update", "delete", "list"])
        arguments = {field: random.choice([None, 1, 2.5, "open", ["a"]]) for field in FIELDS if random.random() < 0.4}
        if verb in {"get", "update", "delete"}:
            arguments["id"] = random.choice([*keys[name], "nothing"])
        answer = story.write(f"{verb}_{name}", arguments)
        if verb == "create":
            keys[name].append(key_text(answer.value["id"]))
        lines.append(json.dumps([answer.value, answer.error, sorted(map(str, answer.touched))], ensure_ascii=False))
    return "\n".join([*lines, json.dumps(story.state.to_json(), ensure_ascii=False)])


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write(told(300) + "\n")
