"""The learned files that are shown as examples can be read, and are written as the library writes them."""

import json
from pathlib import Path

import pytest

from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.interpret import Interpreter
from envace_sdk.world.state import State

TWINS = Path(__file__).parents[2] / "examples" / "twins"


@pytest.mark.parametrize("name", ["filesystem", "git", "memory", "sqlite"])
def test_the_rules_compile_and_the_world_fits_them(name):
    rules = Dynamics.load(TWINS / name / "dynamics.yaml")
    Interpreter(rules).check()
    collections = json.loads((TWINS / name / "world.json").read_text())["collections"]
    state = State.start(dynamics=rules, collections=collections)
    assert all(len(state.collection(kind)) == len(documents) for kind, documents in collections.items())
    assert all(rule.reason for rule in rules.tools.values())
