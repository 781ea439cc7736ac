"""What every toolset that ships with the package keeps to."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

import pytest

from envace_sdk.json import Json
from envace_sdk.jsonschema import compile_schema
from envace_sdk.rehearse.environment import Environment
from envace_sdk.tasks import check, load_tasks
from envace_sdk.tools.model import ToolCall
from envace_sdk.tools.shipped import shipped
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.infer import infer
from envace_sdk.world.interpret import Interpreter
from envace_sdk.world.seed_data import read_start

TOOLSETS = shipped()
SHOWN = re.compile(
    r"^\$ envace-sdk call --tools (\w+) (\w+) '(\{.*?\})'\n((?:(?!\$|```)[^\n]*\n)*)", re.MULTILINE | re.DOTALL
)
HINTS = {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}

pytestmark = pytest.mark.parametrize("folder", TOOLSETS.values(), ids=TOOLSETS)


@cache
def environment(folder: Path, *, fixtures: bool = True) -> Environment:
    loaded = Environment.load(folder)
    return loaded if fixtures else Environment(loaded.toolset, dynamics=loaded.dynamics, start=loaded.start)


def schemas_in(schema: Json) -> Iterator[dict[str, Json]]:
    if isinstance(schema, dict):
        yield schema
        for part in schema.values():
            yield from schemas_in(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from schemas_in(part)


def episodes(folder: Path) -> dict[str, list[ToolCall]]:
    """Every call that a fixture or a witness makes, by the world in which it is made."""
    found: dict[str, list[ToolCall]] = {}
    for fixture in environment(folder).fixtures:
        found.setdefault(f"fixtures {fixture.episode}", []).append(fixture.call)
    for task in load_tasks(folder):
        calls = [ToolCall(call.tool, call.arguments) for call in task.witness or ()]
        if not task.world.put and not task.world.remove and task.world.clock is None:
            found[f"task {task.id}"] = [call for call in calls if "$cel" not in json.dumps(call.arguments)]
    return found


def test_the_catalogue_is_served_whole_and_without_findings(folder):
    toolset = Toolset.load(folder)
    assert toolset.findings == ()
    assert toolset.quarantined == ()
    assert 12 <= len(toolset) <= 25


def test_every_tool_says_what_it_is_and_what_it_does(folder):
    for tool in Toolset.load(folder):
        assert tool.definition["title"], tool.name
        assert len(tool.description) >= 40, tool.name
        assert set(tool.annotations) >= HINTS, tool.name
        assert all(isinstance(tool.annotations[hint], bool) for hint in HINTS), tool.name


def test_schemas_are_closed_and_every_property_is_described(folder):
    for tool in Toolset.load(folder):
        for schema in (tool.input_schema, tool.output_schema):
            assert schema is not None, tool.name
            compile_schema(schema, where=tool.name)
            for part in schemas_in(schema):
                if part.get("type") == "object":
                    assert part.get("additionalProperties") is False, (tool.name, part)
                for name, field in part.get("properties", {}).items() if part.get("type") == "object" else ():
                    described = field.get("description") or "$ref" in field
                    assert described, (tool.name, name)


def test_every_tool_has_a_rule_and_its_hints_agree_with_it(folder):
    toolset, dynamics = Toolset.load(folder), Dynamics.load(folder / "dynamics.yaml")
    assert set(dynamics.tools) == {tool.name for tool in toolset}
    for name, rule in dynamics.tools.items():
        hints = toolset[name].annotations
        looks_only = rule.effect in {"read", "search", "compute"} and not rule.also
        assert rule.effect != "opaque", name
        assert hints["readOnlyHint"] is looks_only, name
        assert not (hints["readOnlyHint"] and hints["destructiveHint"]), name
        assert rule.effect != "delete" or hints["destructiveHint"], name


def test_the_bare_catalogue_tells_nine_tenths_of_the_effects_and_keys(folder):
    written = Dynamics.load(folder / "dynamics.yaml").tools
    inferred = infer(Toolset.load(folder / "tools.json")).tools
    told = {(name, "effect"): (rule.effect, inferred[name].effect) for name, rule in written.items()}
    told |= {(name, "key"): (rule.key, inferred[name].key) for name, rule in written.items() if rule.key is not None}
    missed = {place: (wanted, found) for place, (wanted, found) in told.items() if wanted != found}
    assert len(missed) <= 0.1 * len(told), missed


def test_start_data_fits_the_rules_and_has_no_key_twice(folder):
    dynamics = Dynamics.load(folder / "dynamics.yaml")
    data = json.loads((folder / "world.json").read_text(encoding="utf-8"))
    clock, collections = read_start(data, "world.json")
    assert clock is not None
    assert set(collections) <= set(dynamics.collections)
    start = environment(folder).start
    for name, documents in collections.items():
        assert len(start.collection(name)) == len(documents), name


def test_fixtures_are_what_the_rules_answer(folder):
    replayed = environment(folder, fixtures=False)
    recorded = environment(folder).fixtures
    assert len(recorded) >= 15
    assert sum(fixture.result.is_error for fixture in recorded) >= 3
    worlds = {fixture.episode: replayed.world(fixture.episode) for fixture in recorded}
    for fixture in recorded:
        rehearsal = asyncio.run(replayed.call(worlds[fixture.episode], fixture.call))
        assert rehearsal.result.value() == fixture.result.value(), fixture.call
        assert rehearsal.result.is_error is fixture.result.is_error, fixture.call
        assert rehearsal.layer == "dynamics", fixture.call


def test_every_tool_succeeds_somewhere_and_no_answer_needs_completion(folder):
    rehearsed = environment(folder, fixtures=False)
    interpreter = Interpreter(rehearsed.dynamics)
    succeeded: Counter[str] = Counter()
    for name, calls in episodes(folder).items():
        world = rehearsed.world(name)
        for call in calls:
            tool = rehearsed.toolset[call.name]
            assert compile_schema(tool.input_schema).violations(call.arguments) == [], (name, call)
            answer = interpreter.run(tool, call.arguments, world.state, Random(0))
            assert answer is not None, (name, call)
            if answer.error is None:
                assert compile_schema(tool.output_schema).violations(answer.value) == [], (name, call)
                succeeded[call.name] += 1
            asyncio.run(rehearsed.call(world, call))
    assert {tool.name for tool in rehearsed.toolset} == set(succeeded)


def test_tasks_are_many_and_each_is_solved_by_its_witness_and_not_by_doing_nothing(folder):
    tasks = load_tasks(folder)
    assert len(tasks) >= 20
    assert len({task.id for task in tasks}) == len(tasks)
    for task in tasks:
        assert task.witness, task.id
        assert task.answer, task.id
        assert len(task.checklist) >= 2, task.id
    report = asyncio.run(check(environment(folder), tasks))
    assert [(checked.task.id, problem) for checked in report.tasks for problem in checked.problems] == []
    assert report.ok


def test_the_readme_lists_every_tool(folder):
    text = (folder / "README.md").read_text(encoding="utf-8")
    for tool in Toolset.load(folder):
        assert f"| `{tool.name}` |" in text, tool.name


def test_the_calls_that_the_readme_shows_answer_as_it_says(folder):
    shown = SHOWN.findall((folder / "README.md").read_text(encoding="utf-8"))
    assert shown
    for name, tool, arguments, output in shown:
        assert name == folder.name
        world = environment(folder).world()
        rehearsal = asyncio.run(environment(folder).call(world, ToolCall(tool, json.loads(arguments))))
        assert rehearsal.result.is_error is bool(output), (tool, rehearsal.result.first_text)
        if output:
            assert output.splitlines()[0] == rehearsal.result.first_text
            assert output.splitlines()[-1].endswith(f"· {rehearsal.outcome}")
