import json

import pytest
from click.testing import CliRunner
from model_endpoint import model_endpoint

from envace_sdk.cli.main import cli
from envace_sdk.errors import ModelError


def run(*arguments):
    return CliRunner().invoke(cli, ["models", *arguments])


def findings(output):
    return {row["ability"]: row for row in json.loads(output)["abilities"]}


@pytest.fixture
def script(tmp_path):
    call = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Ghent"}}\n</tool_call>'
    tokens = {"text": "Hi.", "token_ids": [1, 2], "logprobs": [-0.5, -0.1], "prompt_ids": [3]}
    native = {"text": "", "tool_calls": [{"function": {"name": "get_weather", "arguments": '{"city": "Ghent"}'}}]}
    answers = ["Hello.", call, native, tokens, tokens, tokens, '{"city": "Graz", "people": 5}', "same", "same"]
    file = tmp_path / "able.jsonl"
    file.write_text("\n".join(map(json.dumps, answers)))
    return f"scripted:{file}"


def test_a_model_that_can_do_everything_is_said_to(script):
    result = run("check", script, "--format", "json", "--need", "tools", "--need", "logprobs")
    assert result.exit_code == 0, result.output
    found = findings(result.stdout)
    assert [ability for ability, row in found.items() if not row["works"]] == ["template"]
    assert found["tools"]["seen"] == "hermes, without an example"


def test_a_model_that_only_talks_is_said_to(tmp_path):
    file = tmp_path / "talks.jsonl"
    file.write_text("\n".join(json.dumps(f"word {n}") for n in range(12)))
    result = run("check", f"scripted:{file}", "--format", "json")
    assert result.exit_code == 0
    found = findings(result.stdout)
    assert [ability for ability, row in found.items() if row["works"]] == ["answer"]
    assert "fit for rehearsing" in found["logprobs"]["seen"]


def test_what_is_needed_and_does_not_work_fails_the_check(tmp_path):
    file = tmp_path / "talks.jsonl"
    file.write_text("\n".join(json.dumps(f"word {n}") for n in range(12)))
    result = run("check", f"scripted:{file}", "--need", "logprobs", "--need", "schema")
    assert result.exit_code == 1
    assert "needed, and does not work: logprobs, schema" in result.stderr


def test_an_endpoint_is_tried_like_any_model():
    with model_endpoint() as (endpoint, url):
        result = run("check", f"openai:tiny@{url}", "--tool-format", "openai", "--format", "json")
    assert result.exit_code == 0, result.output
    found = findings(result.stdout)
    assert found["logprobs"]["works"]
    assert found["tokens-in"]["works"]
    assert not found["native-tools"]["works"]
    assert any("tools" in body for body in endpoint.bodies)


def test_a_model_that_cannot_be_loaded_is_an_input_error():
    result = run("check", "scripted:not-there.jsonl")
    assert isinstance(result.exception, ModelError)


def test_the_models_that_can_be_fetched_are_listed(tmp_path, monkeypatch):
    monkeypatch.setenv("ENVACE_CACHE", str(tmp_path))
    assert "smollm2-135m" in run("list").stdout
    rows = json.loads(run("list", "--format", "json").stdout)
    assert [(row["name"], row["folder"]) for row in rows] == [("smollm2-135m", None)]


def test_a_model_that_is_there_is_not_fetched_again(tmp_path, monkeypatch):
    from envace_sdk.models import fetch

    monkeypatch.setenv("ENVACE_CACHE", str(tmp_path))
    folder = fetch._folder("smollm2-135m")
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    result = run("fetch", "smollm2-135m")
    assert (result.exit_code, result.stdout.strip()) == (0, str(folder))
    assert json.loads(run("list", "--format", "json").stdout)[0]["folder"] == str(folder)
