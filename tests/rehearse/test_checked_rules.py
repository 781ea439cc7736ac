"""Rules that can never work are found before the first call."""

import json

import pytest
from click.testing import CliRunner

from envace_sdk.cli.tools_commands import tools
from envace_sdk.errors import DynamicsError
from envace_sdk.rehearse import Environment
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.dynamics import Dynamics

TOOLSET = Toolset.from_definitions([{"name": "look", "inputSchema": {"type": "object"}}], name="things")


@pytest.mark.parametrize("key", ["[]", "''", "' '", "[a, a]", "[a, '']"])
def test_a_key_that_names_no_field_is_refused_by_its_collection(key):
    with pytest.raises(DynamicsError, match=r"rules\.yaml: collections\.things: key: "):
        Dynamics.parse(f"collections: {{things: {{key: {key}}}}}", "rules.yaml")


@pytest.mark.parametrize("mint", ["x", "'{n}{n}'", "'{foo}'", "'a{int}'"])
def test_a_mint_that_makes_no_new_keys_is_refused_by_its_collection(mint):
    with pytest.raises(DynamicsError, match=r"rules\.yaml: collections\.things: mint "):
        Dynamics.parse(f"collections: {{things: {{key: id, mint: {mint}}}}}", "rules.yaml")


@pytest.mark.parametrize(
    ("rule", "field"),
    [
        ("{effect: compute, returns: {value: '1 +'}}", "value"),
        ("{effect: compute, returns: {text: 'a {args.x'}}", "text"),
        ("{effect: read, collection: things, key: 'args.'}", "key"),
        ("{effect: compute, requires: [{that: 'true', error: 'no {'}]}", "requires"),
    ],
)
def test_a_rule_that_does_not_compile_is_found_by_the_check_with_file_tool_and_field(rule, field, tmp_path):
    rules = tmp_path / "rules.yaml"
    rules.write_text(f"collections: {{things: {{key: id}}}}\ntools: {{look: {rule}}}")
    environment = Environment.load(TOOLSET, dynamics=rules)
    with pytest.raises(DynamicsError, match=rf"rules\.yaml: tools\.look.*{field}"):
        environment.check()


def test_a_rule_for_a_tool_that_is_not_there_is_told():
    rules = Dynamics.parse("tools: {look: {effect: opaque}, fly: {effect: compute}}")
    assert Environment(TOOLSET, dynamics=rules).check() == ["fly"]


def test_lint_compiles_the_rules_beside_the_tools(tmp_path):
    (tmp_path / "tools.json").write_text(json.dumps({"tools": list(TOOLSET.definitions)}))
    rules = tmp_path / "dynamics.yaml"
    rules.write_text("tools: {fly: {effect: compute}}")
    found = CliRunner().invoke(tools, ["lint", str(tmp_path)])
    assert found.exit_code == 0
    assert "tools.fly: there is no tool of that name" in found.stderr
    rules.write_text("tools: {look: {effect: compute, returns: {value: '1 +'}}}")
    found = CliRunner().invoke(tools, ["lint", str(tmp_path)])
    assert isinstance(found.exception, DynamicsError)
    assert "dynamics.yaml: tools.look" in str(found.exception)
