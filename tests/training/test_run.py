"""A whole run on a synthetic world, with a model of a few thousand parameters."""

import asyncio
import json
import shutil
import signal
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import lamp_world
import pytest
from envace_sdk.training import checkpoint
from envace_sdk.training.metrics import read_metrics
from envace_sdk.training.rollout import RolloutSource
from envace_sdk.training.run import Job, Stop, export, train
from envace_sdk.training.run.command import run_eval, run_train
from envace_sdk.training.run.estimate import estimate
from envace_sdk.training.run.fidelity import KnownCall, known_calls, role_fidelity
from envace_sdk.training.run.live import Live
from envace_sdk.training.run.machine import load_weights, model_place
from envace_sdk.training.run.report import write_report
from envace_sdk.training.run.warm import demonstrations
from envace_sdk.training.tokens import ModelTokens
from envace_sdk.training.trajectory import Trajectory, Turn
from full_disk import full_disk
from served import http_server
from transformers import AutoModelForCausalLM
from watched import Watched

from envace_sdk.errors import ModelError, TrainingError
from envace_sdk.models import Completion, Message, Request, load_model
from envace_sdk.rehearse import Environment, Worlds
from envace_sdk.rehearse.prompting import PromptSettings
from envace_sdk.roles import RESPONSE


def run(job, watch=None, stop=None):
    return asyncio.run(train(job, watch or Watched(), stop or Stop()))


def curve(directory):
    return [
        {name: value for name, value in line.items() if not name.startswith("time/")}
        for line in read_metrics(directory)
    ]


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    job = lamp_world.job(tmp_path_factory.mktemp("run"))
    watch = Watched()
    assert run(job, watch)
    return job, watch


def test_a_run_warms_up_measures_and_takes_its_steps(done):
    job, watch = done
    assert [name for name, _, _ in watch.phases] == ["warm-up", "training"]
    assert [values["step"] for values in read_metrics(job.warm_directory)] == [1, 2, 3, 4]
    steps = read_metrics(job.directory)
    assert [values["step"] for values in steps] == [0, 1, 2, 3, 4]
    assert [values["step"] for values in steps if "eval/success" in values] == [0, 2, 4]
    assert all("success" in values and "trajectories" in values for values in steps[1:])


def test_what_is_measured_is_said_before_it_is(done):
    _, watch = done
    assert sum(note.startswith("timing the first update") for note in watch.notes) == 1
    assert [note for note in watch.notes if note.startswith("measuring on 4 validation tasks: ")] == [
        watch.notes[-1]
    ] * 3


def test_the_end_of_a_warm_up_is_saved_once(tmp_path, monkeypatch):
    job, saved = lamp_world.job(tmp_path, steps=1), []
    writing = checkpoint.writing

    def noted(target):
        saved.append(target)
        return writing(target)

    monkeypatch.setattr(checkpoint, "writing", noted)
    assert run(job)
    assert [folder.name for folder in saved if folder.parent == job.warm_directory] == [
        "checkpoint-000002",
        "checkpoint-000004",
    ]


@pytest.mark.parametrize("moment", [("warm-up", 3), ("training", 1), ("training", 3)])
def test_a_run_that_is_stopped_and_resumed_has_the_curve_of_one_left_alone(done, tmp_path, moment):
    alone, _ = done
    job = lamp_world.job(tmp_path)
    stop = Stop()
    assert not run(job, Watched(moment, stop.request), stop)
    assert len(read_metrics(job.directory)) < 5
    assert run(Job.found(job.directory))
    assert curve(job.warm_directory) == curve(alone.warm_directory)
    assert curve(job.directory) == curve(alone.directory)


def test_the_first_signal_stops_a_run_and_the_second_kills_it():
    stop, told = Stop(), []

    async def rollouts():
        signal.raise_signal(signal.SIGINT)
        await asyncio.Event().wait()

    with stop.on_signals(lambda: told.append(1)):
        assert asyncio.run(stop.unless(rollouts())) is None
        assert stop.requested
        assert told == [1]
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_below_the_gate_the_ladder_answers_and_what_is_missing_is_said(tmp_path):
    job = lamp_world.job(tmp_path, gate=1.0, steps=2)
    watch = Watched()
    assert run(job, watch)
    assert len(read_metrics(job.warm_directory)) == 8
    assert any(note.startswith("measuring the fidelity of rehearsals on the calls of") for note in watch.notes)
    assert any("below the gate of 1" in note and "can be read" in note for note in watch.notes)
    assert all(values["rehearsed"] == 0 for values in read_metrics(job.directory)[1:])


def test_an_exported_policy_says_what_the_trained_one_says(done, tmp_path):
    job, _ = done
    folder = export(job, tmp_path / "policy")
    trained = AutoModelForCausalLM.from_pretrained(checkpoint.latest(job.directory) / "policy")
    exported = AutoModelForCausalLM.from_pretrained(folder)
    for name, held in trained.state_dict().items():
        assert held.equal(exported.state_dict()[name])
    model = load_model(str(folder))
    (completion,) = asyncio.run(model.complete([Request((Message("user", "Dim the red lamp."),))]))
    assert completion.prompt_ids == tuple(ModelTokens(model).encode([Message("user", "Dim the red lamp.")]))
    with pytest.raises(TrainingError, match="is there already"):
        export(job, folder)


def test_adapters_are_merged_into_what_is_exported(tmp_path):
    job = lamp_world.job(tmp_path, parameters={"method": "lora", "separate": True, "rank": 2, "alpha": 4}, steps=1)
    assert run(job)
    folder = export(job, tmp_path / "policy", role="act")
    names = AutoModelForCausalLM.from_pretrained(folder).state_dict()
    assert not any("lora" in name for name in names)
    start = AutoModelForCausalLM.from_pretrained(job.place).state_dict()
    assert any(not held.equal(start[name]) for name, held in names.items())
    newest = checkpoint.latest(job.directory)
    values = checkpoint.read_state(newest)
    for held in newest.rglob("adapter_model.safetensors"):
        held.rename(held.with_suffix(".bin"))
    checkpoint.write_state(newest, {name: value for name, value in values.items() if name not in ("format", "sha256")})
    with pytest.raises(TrainingError, match="only adapters in safetensors"):
        export(job, tmp_path / "unpickled", role="act")


def test_a_run_is_evaluated_on_held_out_tasks(done):
    job, _ = done
    found = run_eval(job.directory, split="validation", tasks=4, samples=2, temperature=1.0, step=None, untrained=False)
    assert (found["tasks"], found["weights"]) == (4, "checkpoint-000004")
    assert set(found["scores"]) == {"success", "reward", "fidelity", "format_act", "format_rehearse", "pass^2"}
    assert found["scores"]["pass^2"] <= found["scores"]["success"]
    assert json.loads(json.dumps(found)) == found


class Listener:
    """Answers everything with nothing, and remembers what it was asked."""

    def __init__(self):
        self.asked = []

    async def complete(self, requests):
        self.asked += requests
        return [Completion('<response>{"result": {}}</response>') for _ in requests]


@pytest.mark.parametrize("constrained", [False, True])
def test_rehearsals_are_measured_at_the_temperature_that_was_asked_for_and_held_to_their_schemas_if_so(
    done, constrained
):
    job, _ = done
    live, listener = Live(job.place, job.config), Listener()
    live.models = {"act": listener, "rehearse": listener}
    assert job.config.evaluation.temperature != 0.7
    asyncio.run(role_fidelity(job.material.chosen("validation", 2, 0), live, temperature=0.7, constrained=constrained))
    assert {request.sampling.temperature for request in listener.asked} == {0.7}
    assert {request.schema is not None for request in listener.asked} == {constrained}
    assert {request.wrap for request in listener.asked} == {RESPONSE if constrained else ("", "")}


def test_each_rehearsal_is_drawn_by_itself(done):
    """With one seed for all, all would be drawn alike."""
    job, _ = done
    live, listener = Live(job.place, job.config), Listener()
    live.models = {"act": listener, "rehearse": listener}
    for _ in range(2):
        asyncio.run(role_fidelity(job.material.chosen("validation", 4, 0), live, temperature=1.0))
    first, again = ([one.sampling.seed for one in listener.asked[start:][:4]] for start in (0, 4))
    assert len(set(first)) == 4
    assert first == again


def test_calls_that_training_may_have_shown_the_answer_to_are_scored_apart(done):
    job, _ = done
    live, listener = Live(job.place, job.config), Listener()
    live.models = {"act": listener, "rehearse": listener}
    cases = job.material.chosen("validation", 4, 0)

    def measured(known):
        return asyncio.run(role_fidelity(cases, live, temperature=0.0, known=known))

    known = asyncio.run(known_calls(cases, ()))
    assert (measured(known).new, measured(known).new_calls) == (None, 0)
    some = measured(known - {next(iter(known))})
    assert some.new is not None
    assert 0 < some.new_calls < some.calls == 4
    all_new = measured(frozenset())
    assert (all_new.new, all_new.new_calls) == (all_new.fidelity, 4)
    assert measured(None).new is None


def test_recorded_calls_are_known():
    environment = Environment.load("retail")
    known = asyncio.run(known_calls([], [environment]))
    recorded = {KnownCall.of(environment, fixture.call) for fixture in environment.seen if fixture.is_call}
    assert recorded
    assert recorded <= known


class Taught:
    """Answers every prompt as the warm-up does, and knows no others."""

    def __init__(self, rows, live):
        self._answers = {row.prompt_ids: row.completion_ids for row in rows if row.role == "rehearse"}
        self._live = live

    async def complete(self, requests):
        prompts = [one.prompt_ids or tuple(self._live.tokens.encode(one.messages)) for one in requests]
        return [Completion(self._live.tokenizer.decode(self._answers[one][:-1])) for one in prompts]


@pytest.mark.parametrize("constrained", [False, True])
@pytest.mark.parametrize("rendering", ["split", "stream"])
def test_rehearsals_are_measured_in_prompts_that_the_warm_up_has_taught(tmp_path, rendering, constrained):
    job = lamp_world.job(tmp_path, rendering=rendering)
    live = Live(job.place, job.config)
    cases = job.material.chosen("validation", 4, 0)

    async def measured():
        taught = Taught(await demonstrations(job.material, live), live)
        live.models = {"act": taught, "rehearse": taught}
        return await role_fidelity(cases, live, temperature=0.0, constrained=constrained)

    found = asyncio.run(measured())
    assert (found.fidelity, found.readable, found.calls) == (1.0, 1.0, 4)


def test_answers_held_to_their_schemas_can_be_measured_too(done):
    job, _ = done
    how = {"split": "validation", "tasks": 2, "samples": 1, "temperature": 0.0, "step": None, "untrained": False}
    assert 0 <= run_eval(job.directory, **how, constrained=True)["scores"]["fidelity_constrained"] <= 1


def lamps_served(job):
    return http_server(Worlds(job.material.environments[0]))


def test_held_out_tasks_can_be_tried_on_a_server(done):
    job, _ = done
    how = {"split": "validation", "tasks": 2, "samples": 2, "temperature": 1.0, "step": None, "untrained": False}
    asked = []

    def heard(app):
        async def wrapped(scope, receive, send):
            asked.append(scope.get("path"))
            await app(scope, receive, send)

        return wrapped

    with http_server(Worlds(job.material.environments[0]), wrap=heard) as url:
        found = run_eval(job.directory, **how, servers=[(None, f"{url}/lamps/worlds/{{world}}/mcp")])
    assert found["answered_by"] == "nobody", "no attempt called it"
    assert len({path for path in asked if path}) == 4, "each attempt has a world of its own"
    on_ladder = run_eval(job.directory, **how)
    assert on_ladder["answered_by"] == "ladder"
    assert on_ladder["solved"] == found["solved"]


def test_attempts_that_a_server_did_not_answer_are_no_failures(done):
    job, _ = done
    how = {"split": "validation", "tasks": 2, "samples": 1, "temperature": 0.0, "step": None, "untrained": False}
    with pytest.raises(TrainingError, match="there is no score: 2 of 2 attempts could not be made"):
        run_eval(job.directory, **how, servers=[("lamps", "http://127.0.0.1:9/mcp")])
    with pytest.raises(TrainingError, match="the run has no toolset 'lambs'; it has lamps"):
        run_eval(job.directory, **how, servers=[("lambs", "http://127.0.0.1:9/mcp")])


def test_a_run_is_calibrated_against_a_server_every_so_many_steps(tmp_path):
    job = lamp_world.job(tmp_path / "first")
    with lamps_served(job) as url:
        rollout = {"schedule": {"real_every": 2}, "real": {"lamps": f"{url}/lamps/worlds/{{world}}/mcp"}}
        job = lamp_world.job(tmp_path / "second", rollout=rollout, samples=4)
        assert run(job)
    sources = {step: {one["source"] for one in found} for step, found in job.samples(4)}
    assert sources == {1: {"train"}, 2: {"real"}, 3: {"train"}, 4: {"real"}}


class StoppedWhileMeasuring(Watched):
    """Requests the stop when a measurement begins, the given one."""

    def __init__(self, number, stop):
        super().__init__()
        self._left, self._stop = number, stop

    def note(self, text):
        super().note(text)
        self._left -= text.startswith("measuring on ")
        if not self._left:
            self._stop.request()


@pytest.mark.parametrize(("number", "step"), [(1, None), (2, 2), (3, 4)])
def test_what_was_learned_before_a_measurement_is_not_lost_with_it(done, tmp_path, number, step):
    alone, _ = done
    job = lamp_world.job(tmp_path)
    stop = Stop()
    assert not run(job, StoppedWhileMeasuring(number, stop), stop)
    assert checkpoint.latest(job.directory) == (None if step is None else checkpoint.folder_for(job.directory, step))
    assert sum("eval/success" in values for values in read_metrics(job.directory)) == number - 1
    assert run(Job.found(job.directory))
    assert curve(job.directory) == curve(alone.directory)


@pytest.fixture
def again(done, tmp_path):
    """A copy of the finished run."""
    job, _ = done
    return Path(shutil.copytree(job.directory, tmp_path / "run"))


def test_a_disk_that_is_full_is_an_error_and_the_run_goes_on_from_what_was_saved(done, tmp_path):
    alone, _ = done
    job = lamp_world.job(tmp_path)

    class Filled(Watched):
        def step(self, number, values):
            super().step(number, values)
            if "reward/act" in values and number == 3:
                disk.enter_context(full_disk(100_000))

    with ExitStack() as disk, pytest.raises(TrainingError, match=r"the checkpoint cannot be written: .*too large"):
        run(job, Filled())
    assert checkpoint.latest(job.directory) == checkpoint.folder_for(job.directory, 2)
    assert run(Job.found(job.directory))
    assert curve(job.directory) == curve(alone.directory)


def test_settings_that_the_weights_do_not_fit_are_refused_before_they_are_kept(again):
    before = (again / "run.json").read_bytes()
    with pytest.raises(TrainingError, match=r"parameters\.method is 'full' there and 'lora' here"):
        run_train([], None, {"parameters": {"method": "lora"}}, again, resume=True, dry_run=False)
    assert (again / "run.json").read_bytes() == before
    assert run_train([], None, {"steps": 5}, again, resume=True, dry_run=False)


def test_texts_with_other_ends_of_lines_are_samples_like_others(again):
    job = Job.found(again)
    said = "one\u2028two\u2029three\x85four\x0bfive"
    job.keep_samples(9, [Trajectory("lamps/t", number, "train", turns=[Turn("act", said)]) for number in range(2)])
    ((_, found),) = job.samples(1)
    assert [turn["text"] for one in found for turn in one["turns"]] == [said] * 2
    write_report(job)
    assert "two" in (again / "report.html").read_text()


def test_a_report_that_cannot_be_written_takes_nothing_from_what_the_run_came_to(again, capsys):
    (again / "samples" / "000004.jsonl").write_text("not JSON\n")
    assert run_train([], None, {"steps": 4}, again, resume=True, dry_run=False)
    assert "report.html is not written" in " ".join(capsys.readouterr().err.split())


def test_a_run_goes_on_from_anywhere_with_its_own_settings_and_those_given_now(again, tmp_path, monkeypatch):
    before = Job.found(again).config
    file = tmp_path / "more.yaml"
    file.write_text("preset: gpu-24gb\nsteps: 5\nevaluation: {every: 3}\n")
    monkeypatch.chdir("/")
    assert run_train([], file, {}, again, resume=True, dry_run=False)
    changed = {"steps": 5, "evaluation": before.evaluation.model_copy(update={"every": 3})}
    assert Job.found(again).config == before.model_copy(update=changed)
    assert read_metrics(again)[-1]["step"] == 5


@pytest.mark.parametrize(
    ("text", "changes", "says"),
    [
        ("model: other", {}, "the run trains"),
        ("stepz: 5", {}, r"more\.yaml: stepz: there is no such setting"),
        ("steps: 5", {"preset": "gpu-24gb"}, "--preset cannot change a run"),
        ("steps: 5", {"steps": 3}, "steps is 3, and 4 are done: it counts all steps of the run"),
        ("tasks: {make: {count: 7}}", {}, "those of a run are made once"),
    ],
)
def test_what_a_run_cannot_go_on_with_is_said_and_nothing_is_changed(again, tmp_path, text, changes, says):
    file = tmp_path / "more.yaml"
    file.write_text(text)
    kept = (again / "run.json").read_bytes()
    with pytest.raises(TrainingError, match=says):
        run_train([], file, changes, again, resume=True, dry_run=False)
    assert (again / "run.json").read_bytes() == kept


def test_a_dry_run_of_one_that_was_begun_trains_nothing_and_says_where_it_stands(again, capsys):
    kept = {path: path.stat().st_mtime_ns for path in again.rglob("*")}
    assert run_train([], None, {"steps": 9}, again, resume=True, dry_run=True)
    told = capsys.readouterr().out
    assert told.startswith("4 of 9 steps are done\n")
    assert "warm-up    0 supervised updates" in told
    assert "training   5 steps" in told
    assert {path: path.stat().st_mtime_ns for path in again.rglob("*")} == kept


def test_attempts_that_could_not_be_made_are_told_of_with_their_reason(tmp_path):
    real = {"schedule": {"source": "real"}, "real": {"lamps": "http://127.0.0.1:9/mcp"}}
    job, watch = lamp_world.job(tmp_path, rollout=real, samples=2), Watched()
    assert run(job, watch)
    reason = "8 of 8 attempts could not be made; the first, "
    told = [note for note in watch.notes if reason in note]
    assert [note.partition(":")[0] for note in told] == ["step 1", "step 2", "step 3", "step 4"]
    assert "the real server cannot be opened" in told[0]
    assert all("success" not in values and values["masked"] == 8 for values in read_metrics(job.directory)[1:])
    write_report(job)
    assert "left out: the real server cannot be opened" in (job.directory / "report.html").read_text()


def test_what_a_new_run_costs_is_no_matter_of_what_lies_in_its_folder(again, capsys):
    job, file = Job.found(again), again.parent / "own.yaml"
    own = {"steps": 2, "model": job.place, "tasks": {"per_step": 2, "folder": str(again / "tasks")}}
    file.write_text(json.dumps(job.config.model_dump(mode="json") | own))
    assert run_train([job.material.sets[0].source], file, {}, again, resume=False, dry_run=True)
    assert "training   2 steps" in capsys.readouterr().out


@pytest.mark.parametrize("frozen", ["act", "rehearse"])
def test_the_cost_is_estimated_where_a_role_is_frozen(tmp_path, frozen):
    parameters = {"method": "lora", "separate": True, "frozen": [frozen]}
    assert asyncio.run(estimate(lamp_world.job(tmp_path, parameters=parameters))).training_rate > 0


def test_a_gate_that_nothing_can_be_measured_for_is_an_error_before_the_warm_up_goes_on(tmp_path):
    job = lamp_world.job(tmp_path, gate=0.5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("envace_sdk.training.run.fidelity.EVIDENCE", frozenset())
        with pytest.raises(TrainingError, match="the gate cannot be reached: no call that is measured on"):
            run(job)


def test_a_place_that_cannot_be_written_is_refused_before_anything_is_done(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(TrainingError, match="file is no folder that you may write to"):
        run_train(["retail"], None, {}, tmp_path / "file" / "run", resume=False, dry_run=False)


def test_a_split_without_tasks_has_no_score(again):
    (again / "tasks" / "lamps" / "test.jsonl").unlink()
    with pytest.raises(TrainingError, match="there are no test tasks to measure on"):
        run_eval(again, split="test", tasks=4, samples=1, temperature=0.0, step=None, untrained=False)


def test_without_validation_tasks_it_is_said_that_training_tasks_are_measured(tmp_path):
    job = lamp_world.job(tmp_path, steps=1)
    material = replace(job.material, cases={**job.material.cases, "validation": []})
    watch = Watched()
    assert run(replace(job, material=material), watch)
    measured = [note for note in watch.notes if note.startswith("measuring on ")]
    assert all("4 training tasks, since there are no validation tasks" in note for note in measured)
    assert len(measured) == 2


def test_the_cost_is_estimated_without_a_real_server(tmp_path):
    rollout = {"schedule": {"source": "real"}, "real": {"lamps": "http://127.0.0.1:9/mcp"}}
    job = lamp_world.job(tmp_path, rollout=rollout)
    collected = []
    collect = RolloutSource.collect

    async def heard(self, *values, **named):
        collected.extend(found := await collect(self, *values, **named))
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RolloutSource, "collect", heard)
        asyncio.run(estimate(job))
    assert {one.source for one in collected} == {"train"}
    assert not any(one.masked for one in collected)


def test_the_report_needs_nothing_else_and_escapes_what_the_model_says(done):
    job, _ = done
    (job.directory / "samples" / "000004.jsonl").write_text(
        json.dumps(
            {
                "task": "<script>alert(1)</script>",
                "solved": False,
                "reward": 0.0,
                "ending": "answered",
                "source": "train",
                "turns": [{"role": "act", "sampled": True, "text": "<img src=x>"}],
            }
        )
    )
    write_report(job)
    text = (job.directory / "report.html").read_text()
    assert text.count("<svg") >= 5
    assert "<script" not in text
    assert "<img" not in text
    assert "http" not in text.replace('http-equiv="Content-Security-Policy"', "")


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("", r"is of a training run, and no model yet; write one with: envace-sdk train export \S+/run -o policy/"),
        ("checkpoint-000004", "is of a training run, and no model yet"),
        ("samples/empty", "is of a training run"),
    ],
)
def test_a_run_that_is_given_as_a_model_is_told_how_to_become_one(again, place, says):
    (again / "samples" / "empty").mkdir()
    for load in (load_model, model_place):
        with pytest.raises(ModelError, match=says):
            load(str(again / place))


def test_a_damaged_model_is_an_error_in_one_line(again, tmp_path):
    folder = export(Job.found(again), tmp_path / "policy")
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    for load in (load_model, load_weights):
        with pytest.raises(ModelError, match="cannot be loaded with transformers"):
            load(str(folder))


def test_a_damaged_checkpoint_says_what_to_go_on_from(again):
    newest = checkpoint.latest(again)
    (newest / "optimizer.safetensors").write_bytes(b"")
    with pytest.raises(TrainingError, match=rf"delete {newest} to go on from checkpoint-000002"):
        run_train([], None, {"steps": 5}, again, resume=True, dry_run=False)


def test_a_folder_that_holds_a_run_is_not_overwritten(done):
    job, _ = done
    with pytest.raises(TrainingError, match="--resume"):
        job.begin(["lamps"])


def test_a_folder_without_a_run_is_named(tmp_path):
    with pytest.raises(TrainingError, match=r"run\.json"):
        Job.found(tmp_path)


def test_an_exported_policy_is_asked_in_the_prompts_that_it_was_trained_in(done, tmp_path):
    job, _ = done
    folder = export(job, tmp_path / "policy")
    model = load_model(str(folder))
    rollout = job.config.rollout
    trained = PromptSettings(
        rollout.style, rollout.recorded, rollout.entities, rollout.history, rollout.prompt_characters
    )
    assert PromptSettings.of(model) == trained != PromptSettings()
    (folder / "envace.json").write_text('{"rehearsal": {"style": "loud"}}')
    with pytest.raises(ModelError, match=r"envace\.json"):
        PromptSettings.of(model)
