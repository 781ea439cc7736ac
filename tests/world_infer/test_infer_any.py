"""Whatever definitions come, inference gives dynamics that are valid and compile."""

import json
import re
import time
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from envace_sdk.tools.model import Tool
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.infer import infer
from envace_sdk.world.interpret import Interpreter

WORDS = [
    *re.split(
        " +", "create add get list find update set delete remove close open cancel search copy count move rename"
    ),
    *re.split(
        " +", "assign mark ticket tickets note user users id ids name status order by all new key value item tag"
    ),
    *re.split(" +", "items comment tags to from of stats path count archive ünï v2 {x} 日本 $ old source input filter"),
    *re.split(" +", "fields limit page cursor sort query min max"),
    "\x85",
]
TYPES = ["string", "integer", "number", "boolean", "array", "object", "null", "nonsense", ["string", "null"], [], 3]
TEXTS = [
    "",
    "Creates a ticket. Returns the id.",
    "Returns an array of notes.",
    "Deletes a user",
    "[x] List of all {things} that are 'open'",
    "defaults to open, e.g. TCK-001",
    "'\u2028",
    7,
    None,
]


# So few that tools meet in one thing, and arguments say the same in other words.
FEW = ["user", "id", "name", "get", "create", "delete", "update", "order", "list", "users"]


class Maker:
    """Definitions by chance: odd, but such as a catalogue could hold."""

    def __init__(self, random, words=WORDS):
        self.random = random
        self.words = words

    def name(self):
        words = self.random.choices(self.words, k=self.random.randint(1, 4))
        style = self.random.choice(["_", "-", ".", "/", "__", ":", " ", "camel", ""])
        if style == "camel":
            return words[0] + "".join(word.capitalize() for word in words[1:])
        return style.join(words)

    def value(self):
        return self.random.choice([None, True, 0, -1.5, "", "open", "T-1", [], ["a", 1], {}, {"a": None}, "x" * 99])

    def schema(self, depth=0):
        pick = self.random.random()
        if pick < 0.05:
            return self.random.choice([True, False, {}, None, "string"])
        if pick < 0.3 and depth < 3:
            return self.object(depth + 1)
        schema = {"type": self.random.choice(TYPES)}
        if self.random.random() < 0.3 and depth < 3:
            key = self.random.choice(["items", "anyOf", "allOf", "oneOf"])
            schema[key] = self.schema(depth + 1) if key == "items" else [self.schema(depth + 1) for _ in range(2)]
        for keyword, choices in (
            ("enum", [["open", "closed"], [1, None], [], "open", [{"a": 1}], ["all", "x y"]]),
            ("default", [None, "open", 0, {}, True]),
            ("const", [None, "open", 3]),
            ("format", ["uuid", "date", "date-time", 4]),
            ("pattern", ["^T-[0-9]{4}$", "[", "^(a|b)+$", 5]),
            ("description", TEXTS),
            ("$ref", ["#", "#/$defs/id", "#/properties/id", "http://x/y", "#/nope", 1]),
            ("maxLength", [0, 3, -1, "x"]),
            ("examples", [["T-009"], [], "x", [1]]),
        ):
            if self.random.random() < 0.1:
                schema[keyword] = self.random.choice(choices)
        return schema

    def object(self, depth=0):
        names = [self.name() for _ in range(self.random.randint(0, 4))]
        schema = {"type": "object", "properties": {name: self.schema(depth) for name in names}}
        if self.random.random() < 0.6:
            schema["required"] = [name for name in names if self.random.random() < 0.6]
        if self.random.random() < 0.1:
            schema["$defs"] = {"id": self.schema(depth + 1)}
        return schema

    def definition(self):
        made = {"name": self.name(), "description": self.random.choice(TEXTS), "inputSchema": self.object()}
        if self.random.random() < 0.3:
            made["outputSchema"] = self.schema()
        if self.random.random() < 0.3:
            hint = self.random.choice(["readOnlyHint", "destructiveHint", "idempotentHint"])
            made["annotations"] = self.random.choice([{hint: True}, {hint: False}, {hint: 3}, 5, None])
        return made


@given(st.integers(0, 2**32), st.sampled_from([WORDS, FEW]))
@settings(max_examples=600, deadline=None)
def test_any_definitions_give_dynamics_that_compile_and_survive_their_file(seed, words):
    maker = Maker(Random(seed), words)
    definitions = {made["name"]: made for made in (maker.definition() for _ in range(maker.random.randint(0, 9)))}
    tools = [Tool(definition) for definition in definitions.values()]
    dynamics = infer(tools)
    assert list(dynamics.tools) == list(definitions)
    Interpreter(dynamics).check()
    assert Dynamics.parse(dynamics.dump()) == dynamics
    assert infer([Tool(json.loads(json.dumps(tool.definition))) for tool in tools]) == dynamics


def test_an_argument_that_says_the_same_as_the_id_is_no_part_of_the_key(tools_of):
    dynamics = infer(tools_of("get_order()\nget_user(user_id!, createdAt, id!, name)"))
    assert dynamics.collections["users"].key in ("id", "user_id")


def test_alternatives_that_refer_to_each_other_take_bounded_time():
    schema = {
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/a"}},
        "$defs": {
            "a": {"anyOf": [{"$ref": "#/$defs/b"}] * 16},
            "b": {"anyOf": [{"$ref": "#/$defs/a"}] * 16, "allOf": [{"$ref": "#/$defs/b"}] * 16},
        },
    }
    started = time.process_time()
    infer([Tool({"name": f"create_{n}", "inputSchema": schema}) for n in range(5)])
    assert time.process_time() - started < 2


def test_a_hundred_tools_are_inferred_within_a_second(tools_of):
    verbs = [
        "create_{}(title!, owner_id!, tags: [str])",
        "get_{}({}_id!)",
        "list_{}s(owner_id, q)",
        "delete_{}({}_id!)",
    ]
    lines = [verb.replace("{}", f"thing{n:02}") for n in range(25) for verb in verbs]
    tools = tools_of("\n".join(lines))
    started = time.process_time()
    dynamics = infer(tools)
    assert time.process_time() - started < 1
    assert len(dynamics.collections) == 25
