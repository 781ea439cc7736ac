"""`envace-sdk train ablate` on the synthetic world."""

import asyncio
import json
import math
from dataclasses import replace

import lamp_world
import pytest
import yaml
from click.testing import CliRunner
from envace_sdk.training.config import merged
from envace_sdk.training.metrics import read_metrics
from envace_sdk.training.run import Stop, run_config
from envace_sdk.training.run.ablate import ablate as run_all
from envace_sdk.training.run.ablation import WAYS, Ablation, Measuring
from envace_sdk.training.run.ablation_report import comparisons, table
from envace_sdk.training.run.command import evaluated
from envace_sdk.training.run.paired import paired
from envace_sdk.training.tasks import MakeOptions, write_task_sets
from watched import Watched

from envace_sdk.cli.train_commands import train
from envace_sdk.errors import TrainingError

QUICK = {
    "steps": 2,
    "tasks": {"per_step": 1},
    "rollout": {"group": 2},
    "warmup": {"steps": 2, "rows": 4},
    "evaluation": {"every": 0, "tasks": 1, "episodes": 1},
}
MEASURED = ("--tasks", "2", "--samples", "1")


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """A toolset, tasks, a model and a configuration; the options that name them."""
    folder = tmp_path_factory.mktemp("given")
    config = lamp_world.settings(**QUICK)
    material = lamp_world.material(folder / "lamps")
    lamp_world.checkpoint(folder / "model", material, config)
    write_task_sets(folder / "made", material.sets, MakeOptions())
    values = config.model_dump(mode="json")
    values |= {"model": str(folder / "model"), "tasks": values["tasks"] | {"folder": str(folder / "made")}}
    (folder / "train.yaml").write_text(yaml.safe_dump(values))
    return ("--tools", folder / "lamps", "--config", folder / "train.yaml", *MEASURED)


@pytest.fixture
def ablation(given, tmp_path):
    """One that has begun, of role-wise and pooled baselines."""
    folder = given[1].parent
    config = lamp_world.settings(**QUICK)
    material = lamp_world.material(tmp_path / "own")
    made = Ablation(tmp_path / "runs", "roles", ("own",), str(folder / "model"), config, material, Measuring(tasks=2))
    made.begin()
    return made


def invoke(*arguments):
    return CliRunner().invoke(train, ["ablate", *map(str, arguments)], catch_exceptions=False)


def test_a_dry_run_tells_runs_and_cost_and_writes_nothing(given, tmp_path):
    told = invoke(*given, "--seeds", "0,1", "-o", tmp_path / "runs", "--dry-run")
    assert told.exit_code == 0
    for word in ("role-wise or pooled", "4 runs", "2 runs, each up to", "together", "of measuring"):
        assert word in told.output
    assert not (tmp_path / "runs").exists()


def test_both_ways_are_run_measured_and_compared_and_what_is_finished_is_kept(given, tmp_path):
    folder = tmp_path / "runs"
    first = invoke(*given, "--seeds", "0", "-o", folder)
    assert first.exit_code == 0
    assert "needs more seeds" in first.output
    metrics = folder / "role-wise" / "seed-0" / "metrics.jsonl"
    before = metrics.stat().st_mtime_ns
    assert read_metrics(folder / "role-wise" / "seed-0" / "warmup") == read_metrics(
        folder / "pooled" / "seed-0" / "warmup"
    )

    more = invoke("-o", folder, "--seeds", "0,1", "--json")
    assert more.exit_code == 0
    assert metrics.stat().st_mtime_ns == before
    found = json.loads((folder / "result.json").read_text())
    assert found["seeds"] == [0, 1]
    assert {(run["way"], run["seed"]) for run in found["runs"]} == {
        (way, seed) for way in ("role-wise", "pooled") for seed in (0, 1)
    }
    success = found["comparison"]["success"]
    assert success["difference"] == pytest.approx(success["role-wise"] - success["pooled"])
    assert success["interval"][0] <= success["difference"] <= success["interval"][1]
    page = (folder / "report.html").read_text()
    assert "<svg" in page
    assert "pooled" in page
    assert "<script" not in page

    with pytest.raises(TrainingError, match="steps is 2, not 9"):
        invoke(*given, "--steps", 9, "-o", folder)
    with pytest.raises(TrainingError, match="what is 'roles', not 'rendering'"):
        invoke(*given, "--what", "rendering", "-o", folder)


def test_an_ablation_that_is_stopped_goes_on_and_runs_nothing_twice(ablation):
    stop, began = Stop(), []

    class Second(Watched):
        def note(self, text):
            if text.startswith("run "):
                began.append(text)

        def step(self, number, values):
            if len(began) == 2 and number == 1 and "success" in values:
                stop.request()

    assert not run_all(ablation, [0], Second(), stop)
    first, second = ablation.ways
    kept = ablation.result(first, 0)
    assert kept is not None
    assert ablation.result(second, 0) is None
    assert len(read_metrics(ablation.job(second, 0).directory)) < 3

    again = Watched()
    assert run_all(Ablation.found(ablation.directory), [0], again, Stop())
    assert [note for note in again.notes if note.startswith("run ")] == ["run 1 of 1: pooled, seed 0"]
    assert ablation.result(first, 0) == kept
    assert ablation.seeds() == [0]


def begun(watch):
    return [note for note in watch.notes if note.startswith("run ")]


def test_a_measurement_that_is_stopped_is_given_up_and_made_again_later(ablation, monkeypatch):
    stop, watch = Stop(), Watched()

    async def endless(*_, **__):
        stop.request()
        await asyncio.wait_for(asyncio.Event().wait(), 20)

    with monkeypatch.context() as patch:
        patch.setattr("envace_sdk.training.run.ablate.evaluated", endless)
        assert not run_all(ablation, [0], watch, stop)
    first, second = ablation.ways
    assert begun(watch) == ["run 1 of 2: role-wise, seed 0"]
    assert ablation.result(first, 0) is None
    curve = read_metrics(ablation.job(first, 0).directory)

    again = Watched()
    assert run_all(ablation, [0], again, Stop())
    assert begun(again) == ["run 1 of 2: role-wise, seed 0", "run 2 of 2: pooled, seed 0"]
    assert read_metrics(ablation.job(first, 0).directory) == curve
    assert None not in (ablation.result(first, 0), ablation.result(second, 0))


def test_a_stop_that_comes_as_a_measurement_ends_keeps_it_and_begins_no_other_run(ablation, monkeypatch):
    stop, watch = Stop(), Watched()

    async def stopped_at_the_end(*arguments, **options):
        found = await evaluated(*arguments, **options)
        stop.request()
        return found

    monkeypatch.setattr("envace_sdk.training.run.ablate.evaluated", stopped_at_the_end)
    assert not run_all(ablation, [0], watch, stop)
    first, second = ablation.ways
    assert begun(watch) == ["run 1 of 2: role-wise, seed 0"]
    assert ablation.result(first, 0) is not None
    assert not ablation.job(second, 0).directory.exists()


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"optimizer": {"role_weights": {"act": 2.0}}}, "optimizer.role_weights.act is 2.0, not unset"),
        ({"rewards": {"judge": {"model": "scripted:x"}}}, "rewards.judge is {'model': 'scripted:x', .*}, not None"),
        ({"rollout": {"server": {"url": "http://x"}}}, "rollout.server is {'url': 'http://x', .*}, not None"),
        ({"rollout": {"real": {"lamps": "http://x"}}}, "rollout.real.lamps is 'http://x', not unset"),
        ({"rollout": {"schedule": {"mix": {"train": 1.0}}}}, "rollout.schedule.mix.train is 1.0, not unset"),
    ],
)
def test_a_setting_that_was_there_and_is_not_now_or_the_reverse_is_named(ablation, changes, named):
    plain = ablation.config
    changed = run_config(merged(plain.model_dump(mode="json"), changes))
    before = replace(ablation, config=changed)
    with pytest.raises(TrainingError, match=named):
        before.check("roles", ("own",), plain, ablation.test)
    with pytest.raises(TrainingError, match=named.partition(" is ")[0]):
        ablation.check("roles", ("own",), changed, ablation.test)
    before.check("roles", ("own",), changed, ablation.test)


@pytest.mark.parametrize(
    ("option", "own", "other", "named"),
    [
        ("--what", "roles", "rendering", "what is 'roles', not 'rendering'"),
        ("--tasks", 2, 32, "test.tasks is 2, not 32"),
        ("--samples", 4, 5, "test.samples is 4, not 5"),
        ("--temperature", 1.0, 0.5, "test.temperature is 1.0, not 0.5"),
    ],
)
def test_what_an_ablation_goes_on_with_is_not_silently_another_thing_than_was_said(ablation, option, own, other, named):
    with pytest.raises(TrainingError, match=named):
        invoke("-o", ablation.directory, "--dry-run", option, other)
    for way in ablation.ways:
        ablation.begun(way, 0)
        ablation.keep(way, 0, {"success": 1.0})
    assert invoke("-o", ablation.directory, "--seeds", 0, "--dry-run", option, own).exit_code == 0


def test_runs_of_one_seed_differ_in_nothing_but_what_is_compared(ablation):
    for what, expected in {
        "roles": {"advantages"},
        "parameters": {"parameters"},
        "rendering": {"rendering"},
    }.items():
        one, other = (
            Ablation(ablation.directory, what, (), ablation.place, ablation.config, ablation.material, Measuring())
            .job(way, 3)
            .config.model_dump()
            for way in WAYS[what]
        )
        assert {name for name, value in one.items() if other[name] != value} == expected
        assert one["seed"] == other["seed"] == 3


def test_a_way_that_the_settings_do_not_allow_is_named(ablation):
    config = ablation.config.model_copy(update={"rollout": ablation.config.rollout.model_copy(update={"group": 0})})
    bad = Ablation(ablation.directory, "roles", (), ablation.place, config, ablation.material, Measuring())
    with pytest.raises(TrainingError, match=r"roles: pooled: rollout\.group"):
        bad.job(WAYS["roles"][1], 0)


def test_a_result_that_cannot_be_read_is_named(ablation):
    way = ablation.ways[0]
    job = ablation.begun(way, 0)
    (job.directory / "result.json").write_text('{"scores": 3}')
    with pytest.raises(TrainingError, match=r"seed-0/result\.json: is no result"):
        ablation.result(way, 0)


def test_the_table_says_which_is_higher_only_where_the_interval_excludes_nothing_else(ablation):
    for seed, high in enumerate((0.9, 0.8, 1.0)):
        for way, score in zip(ablation.ways, (high, high - 0.5 + seed / 100), strict=True):
            ablation.begun(way, seed)
            ablation.keep(way, seed, {"success": score, "same": 1.0 + seed})
    lines = table(ablation, comparisons(ablation, [0, 1, 2]))
    assert lines[0].split() == ["score", "role-wise", "pooled", "difference", "95", "%", "interval", "higher"]
    assert lines[1].split()[-1] == "role-wise"
    assert lines[2].split()[-1] == "undecided"


@pytest.mark.parametrize("arguments", [("--seeds", "0,0"), ("--seeds", "a"), ("--steps", "3"), ("--what", "luck")])
def test_a_command_line_that_says_too_little_or_too_much_is_wrong(arguments, tmp_path):
    assert CliRunner().invoke(train, ["ablate", "-o", str(tmp_path), *arguments]).exit_code == 2


def test_a_folder_without_an_ablation_is_named(tmp_path):
    with pytest.raises(TrainingError, match="holds no ablation to go on with"):
        invoke("-o", tmp_path)


def test_the_interval_of_paired_differences_is_students():
    found = paired([1.0, 2.0, 3.0], [0.0, 2.0, 1.0])
    assert (found.first, found.second, found.difference) == (2.0, 1.0, 1.0)
    assert found.half == pytest.approx(4.303 / math.sqrt(3))
    assert (found.low, found.high) == pytest.approx((1 - 4.303 / math.sqrt(3), 1 + 4.303 / math.sqrt(3)))


def test_one_pair_has_a_difference_and_no_interval():
    found = paired([1.0], [0.5])
    assert (found.difference, found.half, found.low, found.high) == (0.5, None, -math.inf, math.inf)
    with pytest.raises(ValueError, match="nothing to compare"):
        paired([], [])
