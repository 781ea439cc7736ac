"""Every block that is no command: Python is part of a program that a test runs, data is what our own readers take."""

import ast
import json
import tomllib

import pytest
import yaml
from documents import ROOT, all_blocks

from envace_sdk.faults import FaultPlan
from envace_sdk.guard import parse_policy
from envace_sdk.recordings import Recording
from envace_sdk.tasks import Task
from envace_sdk.tools import Toolset
from envace_sdk.world.dynamics import Dynamics

BLOCKS = all_blocks()
NOT_RUN = {
    "The client needs an account, so this block is no tested example.": "docs/importing.md",
}
"""Python that no test can run: the comment that stands before it, and the one page that it is on."""
TESTS = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")]
TRAINING = {"preset", "model", "steps", "rollout", "verl", "gate", "warmup", "parameters", "rewards", "loss"}


def of(*languages):
    return [block for block in BLOCKS if block.language in languages]


def file_of(block):
    return ROOT / block.note if block.note.startswith(("docs/", "examples/", "schemas/", "deploy/")) else None


@pytest.mark.parametrize("block", [block for block in BLOCKS if file_of(block)], ids=str)
def test_a_block_that_names_a_file_is_part_of_it(block):
    assert block.text.strip(), f"{block} is empty"
    assert block.text in file_of(block).read_text(encoding="utf-8"), f"{block} is not as in {block.note}"


@pytest.mark.parametrize("block", of("python"), ids=str)
def test_python_is_part_of_a_program_that_a_test_runs(block):
    file = file_of(block)
    if file is None:
        assert NOT_RUN.get(block.note) == block.page, f"{block}: name the tested file that this is a part of"
        ast.parse(block.text)
        return
    is_run_by_name = file.parent == ROOT / "docs" / "examples"
    places = (file.name, file.stem, file.parent.name)
    assert is_run_by_name or any(f'"{place}' in text for text in TESTS for place in places), f"no test runs {file}"


@pytest.mark.parametrize("block", of("json"), ids=str)
def test_json_is_json_and_ours_is_read(block):
    if (file := file_of(block)) is not None:
        json.loads(file.read_text(encoding="utf-8"))
        return
    try:
        data = json.loads(block.text)
    except ValueError:
        data = [json.loads(line) for line in block.text.splitlines()]
    first = data[0] if isinstance(data, list) else data
    if {"tool", "arguments", "result"} <= set(first):
        recording = Recording()
        for call in data:
            recording.add(call["tool"], call["arguments"], call["result"], is_error=call.get("is_error", False))
        assert len(list(recording)) == len(data)
    elif {"instruction", "checklist"} <= set(first):
        assert Task.model_validate(first).checklist
    else:
        assert any(key in first for key in ("mcpServers", "servers", "dev.envace/evidence", "collections", "tools")), (
            f"{block}: say here what reads {sorted(first)}"
        )


@pytest.mark.parametrize("block", of("yaml"), ids=str)
def test_yaml_is_what_its_reader_takes(block):
    if (file := file_of(block)) is not None:
        if "openapi" in yaml.safe_load(block.text):
            assert Toolset.load(file)
            return
        assert read_yaml(file.read_text(encoding="utf-8"), str(block))
        return
    assert read_yaml(block.text, str(block))


@pytest.mark.parametrize("block", of("toml"), ids=str)
def test_toml_is_toml(block):
    assert tomllib.loads(block.text)


def read_yaml(text, source):
    if text.startswith(" "):
        text = f"tools:\n{text}"
    data = next(yaml.safe_load_all(text))
    if "rules" in data or "risk" in data:
        return parse_policy(text, source).rules
    if "faults" in data:
        return FaultPlan.parse(text, source).faults
    if "tools" in data or "collections" in data:
        return Dynamics.model_validate({"collections": collections_of(data), **data}).tools
    if "apiVersion" in data or "services" in data:
        return data
    assert TRAINING & set(data), f"{source}: say here what reads {sorted(data)}"
    return data  # tests/training reads them: that needs torch


def collections_of(data):
    """Where a page shows a rule without its collection."""
    return {rule["collection"]: {"key": "id"} for rule in data.get("tools", {}).values() if "collection" in rule}
