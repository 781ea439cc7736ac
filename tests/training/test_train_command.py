"""`envace-sdk train` from schemas to a served policy, on the synthetic world."""

import asyncio
import json

import lamp_world
import pytest
import yaml
from click.testing import CliRunner

from envace_sdk.cli.train_commands import train
from envace_sdk.errors import TrainingError
from envace_sdk.models import load_model
from envace_sdk.rehearse import Environment, ModelRehearser


def invoke(*arguments):
    return CliRunner().invoke(train, [str(each) for each in arguments], catch_exceptions=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A toolset, a model and a configuration; nothing has been trained."""
    place = tmp_path_factory.mktemp("command")
    config = lamp_world.settings()
    lamp_world.checkpoint(place / "model", lamp_world.material(place / "lamps"), config)
    values = config.model_dump(mode="json", exclude_unset=True)
    values |= {"steps": 3, "evaluation": {"every": 0, "tasks": 2, "episodes": 2}}
    values["tasks"] = {"per_step": 2, "make": {"count": 20, "mix": {"change": 1, "read": 1}}}
    values["rollout"] |= {"act": {"max_tokens": 60}, "rehearse": {"max_tokens": 60}}
    (place / "train.yaml").write_text(yaml.safe_dump(values))
    return place


@pytest.mark.slow
def test_from_schemas_to_a_policy_that_is_served(folder):
    given = ("--tools", folder / "lamps", "--model", folder / "model", "--config", folder / "train.yaml")
    run = folder / "run"
    planned = invoke(*given, "-o", run, "--dry-run")
    assert planned.exit_code == 0
    for word in (
        "preset ",
        "measuring the model's speed",
        "warm-up",
        "trajectories",
        "tokens/s",
        "GiB",
        "together   up to",
    ):
        assert word in planned.output
    assert not run.exists()

    assert invoke(*given, "-o", run).exit_code == 0
    assert len((run / "metrics.jsonl").read_text().splitlines()) == 4
    assert (run / "report.html").is_file()
    with pytest.raises(TrainingError, match="--resume"):
        invoke(*given, "-o", run)
    assert invoke("--resume", "-o", run, "--steps", "4").exit_code == 0
    assert json.loads((run / "metrics.jsonl").read_text().splitlines()[-1])["step"] == 4

    scored = invoke("eval", run, "--tasks", 2, "--samples", 2, "--split", "validation", "--json")
    assert set(json.loads(scored.stdout)["scores"]) >= {"success", "pass^2", "fidelity"}

    assert invoke("export", run, "-o", folder / "policy").exit_code == 0
    model = load_model(str(folder / "policy"))
    environment = Environment.load(str(folder / "lamps"), model=ModelRehearser(model, max_tokens=20))
    rehearsal = asyncio.run(environment.call(environment.world("w"), lamp_world.a_call()))
    assert rehearsal.layer == "dynamics"
    asyncio.run(model.close())


@pytest.mark.parametrize("engine", ["own", "verl"])
def test_a_folder_that_holds_a_run_is_refused_before_anything_is_planned(tmp_path, monkeypatch, engine):
    (tmp_path / "run.json").write_text("{}")
    monkeypatch.setattr("envace_sdk.training.engines.verl.command.check_installed", lambda: None)
    # There are no such toolset and no such model, so whatever plans a run fails otherwise.
    given = ("--tools", "no-such-toolset", "--model", "no-such-model", "--engine", engine)
    with pytest.raises(TrainingError, match="holds a run already: add --resume"):
        invoke(*given, "-o", tmp_path)


@pytest.mark.parametrize(
    "arguments", [(), ("--resume", "--tools", "retail"), ("--resume", "--model", "smollm2-135m"), ("--steps", "0")]
)
def test_a_command_line_that_says_too_little_or_too_much_is_wrong(arguments):
    assert CliRunner().invoke(train, arguments).exit_code == 2
