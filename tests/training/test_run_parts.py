import math
import re

import pytest
from envace_sdk.training.config import presets
from envace_sdk.training.rows import Row
from envace_sdk.training.run.evaluation import Evaluation, pass_hat, rollout_metrics
from envace_sdk.training.run.fidelity import RoleFidelity
from envace_sdk.training.run.machine import model_place
from envace_sdk.training.run.plots import plot
from envace_sdk.training.run.settings import load_run_config, run_config
from envace_sdk.training.run.warm import batch, full_batch
from envace_sdk.training.trajectory import Trajectory
from hypothesis import example, given
from hypothesis import strategies as st

from envace_sdk.errors import ModelError, TrainingError

FINITE = st.floats(allow_nan=False, allow_infinity=False, width=32)


def test_every_preset_of_a_machine_is_one_of_whole_runs():
    for name in presets():
        assert run_config({"preset": name}).tasks.per_step >= 1


def test_a_file_goes_before_the_preset_and_the_command_line_before_the_file(tmp_path):
    path = tmp_path / "train.yaml"
    path.write_text("steps: 7\ntasks: {per_step: 9}\n")
    config = load_run_config(path, {"steps": 8}, preset="cpu-small")
    assert (config.steps, config.tasks.per_step, config.tasks.make.tools_per_task) == (8, 9, 3)
    assert config.optimizer.learning_rate == 1e-5


def test_a_misspelt_setting_is_named_with_its_file(tmp_path):
    path = tmp_path / "train.yaml"
    path.write_text("warmup: {stepz: 7}\n")
    with pytest.raises(
        TrainingError, match=r"train\.yaml: warmup\.stepz: there is no such setting; did you mean steps"
    ):
        load_run_config(path, {}, preset="cpu-small")


@pytest.mark.parametrize(
    ("make", "named"),
    [
        ({"mix": {"change": math.inf}}, r"tasks\.make\.mix\.change: .*finite"),
        ({"mix": {"change": math.nan, "read": 1}}, r"tasks\.make\.mix\.change: .*finite"),
        ({"mix": {"change": -1.0, "read": 2}}, r"tasks\.make\.mix\.change: .*greater than or equal to 0"),
        ({"mix": {"change": 1e308, "read": 1e308}}, r"tasks\.make\.mix: .*together"),
        ({"mix": {"change": 0.0, "read": 0}}, r"tasks\.make\.mix: .*at least one"),
        ({"mix": {}}, r"tasks\.make\.mix: .*at least one"),
        ({"hidden_keys": math.nan}, r"tasks\.make\.hidden_keys: .*finite"),
    ],
)
def test_shares_that_no_kind_of_task_can_be_drawn_by_are_named(make, named):
    with pytest.raises(TrainingError, match=named):
        run_config({"tasks": {"make": make}})
    assert run_config({"tasks": {"make": {"mix": {"change": 1, "read": 0}}}}).tasks.make.mix["read"] == 0


def test_a_schedule_that_asks_for_a_server_that_nobody_named_is_refused_before_anything_is_run():
    with pytest.raises(TrainingError, match=r"name it in rollout\.real, as in {retail: mcp\.json#retail}"):
        run_config({"rollout": {"schedule": {"real_every": 2}}})


@pytest.mark.parametrize("uri", ["openai:x@http://localhost:1/v1", "no-such-model", "transformers:", "vllm:x"])
def test_a_model_that_cannot_be_trained_here_is_refused(uri):
    with pytest.raises((TrainingError, ModelError), match="cannot be trained here"):
        model_place(uri)


def test_a_quantised_file_is_refused():
    with pytest.raises(TrainingError, match="quantised"):
        model_place("transformers:./model.gguf")


def test_pass_hat_is_the_chance_that_all_of_k_attempts_succeed():
    assert pass_hat([(4, 4), (2, 4), (0, 4)], 1) == pytest.approx((1 + 0.5 + 0) / 3)
    assert pass_hat([(4, 4), (2, 4), (0, 4)], 2) == pytest.approx((1 + 1 / 6 + 0) / 3)
    assert pass_hat([(4, 4), (3, 4)], 4) == 0.5
    assert pass_hat([(2, 2), (0, 1)], 2) == 1.0, "what was not tried twice says nothing of two attempts"
    assert pass_hat([], 2) == 0.0
    with pytest.raises(ValueError, match="k is 0"):
        pass_hat([(1, 4)], 0)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"rollout": {"act": {"temperature": 0.7}}}, r"rollout\.act\.temperature is 0\.7 and loss\.temperature 1"),
        ({"loss": {"temperature": 0.8}}, r"loss\.temperature 0\.8: what is learned must be what was sampled"),
        ({"rollout": {"rehearse": {"top_p": 0.9}}}, r"rollout\.rehearse\.top_p is 0\.9"),
        ({"rendering": "stream", "rollout": {"format": "openai"}}, "rendering: stream needs calls as text"),
        ({"rollout": {"group": 1}}, r"rollout\.group is 1"),
        ({"evaluation": None}, r"evaluation: expected settings by name, or leave it out \(it is None\)"),
        ({"tasks": {"shares": [0.5, 0.5]}}, r"tasks\.shares\.2: is missing"),
    ],
)
def test_settings_that_would_teach_another_policy_than_the_one_that_acts_are_refused(changes, says):
    with pytest.raises(TrainingError, match=says):
        run_config(changes)


def test_a_role_that_is_not_trained_may_be_sampled_as_one_likes():
    frozen = {"method": "lora", "separate": True, "frozen": ["rehearse"]}
    assert run_config({"parameters": frozen, "rollout": {"rehearse": {"temperature": 0.0, "top_p": 0.9}}})


def attempt(task, *, solved=False, masked=""):
    return Trajectory(task, 0, "grounded", solved=solved, masked=masked)


def test_attempts_that_could_not_be_made_are_no_failures_and_no_successes():
    tried = [attempt("t/1", solved=True), attempt("t/1", masked="the server is away"), attempt("t/2")]
    found = Evaluation(2, tried, RoleFidelity(0.0, 0.0, 0, {}))
    assert found.as_flat()["eval/success"] == 0.5
    assert found.attempts == {"t/1": (1, 1), "t/2": (0, 1)}
    assert found.trouble == "1 of 3 attempts could not be made; the first, t/1: the server is away"


def test_how_many_trajectories_a_twin_answered_is_told():
    twin, server = Trajectory("a", 0, "real", server="twin"), Trajectory("a", 1, "real", server="server")
    tried = [twin, server]
    assert [one.answered_by for one in tried] == ["twin", "server"]
    assert Trajectory("a", 0, "real").answered_by == "nobody"
    assert rollout_metrics(tried)["answered_by/twin"] == 0.5
    assert "answered_by/twin" not in rollout_metrics(tried[1:])


def test_what_could_not_be_measured_has_no_score():
    tried = [Trajectory("a", 0, "real", masked="the server is gone")]
    assert Evaluation(1, tried, RoleFidelity(0.0, 0.0, 0, {})).as_flat() == {}
    assert "cannot be reached: no call" in RoleFidelity(0.0, 0.0, 0, {}).missing(0.5)
    assert not RoleFidelity(0.0, 0.0, 0, {}).missing(0.0), "who asks for nothing has it"
    found = Evaluation(1, tried, RoleFidelity(0.5, 1.0, 4, {})).as_flat()
    assert found == {"eval/fidelity": 0.5, "eval/format_rehearse": 1.0}


@given(st.lists(st.integers(0, 6), min_size=1, max_size=9), st.integers(2, 6))
def test_pass_hat_falls_with_k(solved, k):
    attempts = [(count, 6) for count in solved]
    assert pass_hat(attempts, k) <= pass_hat(attempts, k - 1) + 1e-12


def rows(acts, responses):
    made = [Row(f"a{n}", 0, "act", (1,), (2,)) for n in range(acts)]
    return made + [Row(f"r{n}", 0, "rehearse", (1,), (2,)) for n in range(responses)]


@given(st.integers(0, 5), st.integers(0, 5), st.integers(1, 6))
def test_a_warm_up_goes_through_all_rows_of_a_role_before_any_comes_again(acts, responses, count):
    demonstrations = rows(acts, responses)
    if not demonstrations:
        return
    seen = [row for step in range(8) for row in batch(demonstrations, step, count, seed=3)]
    for role, total in (("act", acts), ("rehearse", responses)):
        own = [row.task for row in seen if row.role == role]
        for first in range(0, len(own) - total + 1, total or 1):
            assert len(set(own[first : first + total])) == total


def test_a_batch_has_as_many_rows_of_each_role_as_it_can():
    assert [row.role for row in batch(rows(9, 9), 0, 5, seed=0)] == ["act"] * 3 + ["rehearse"] * 2
    assert [row.role for row in batch(rows(9, 0), 0, 5, seed=0)] == ["act"] * 5


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(1, 30), st.integers(1, 30)), min_size=1, max_size=30),
    st.integers(1, 300),
)
def test_a_full_batch_has_the_longest_rows_of_different_tasks_and_fits(turns, tokens):
    made = [Row(f"t{task}", 0, "act", (1,) * prompt, (2,) * written) for task, prompt, written in turns]
    found = full_batch(made, tokens)
    lengths = [row.length for row in found]
    assert len({row.task for row in found}) == len(found)
    assert lengths[0] == max(row.length for row in made)
    assert len(found) == 1 or len(found) * lengths[0] <= tokens
    left = [row.length for row in made if row.task not in {one.task for one in found}]
    assert not left or max(left) <= min(lengths)
    assert not left or (len(found) + 1) * lengths[0] > tokens


@example([(0.0, 1.2670361823261238e-14)], False)
@given(st.lists(st.tuples(FINITE, FINITE), min_size=1, max_size=12), st.booleans())
def test_whatever_finite_points_are_plotted_lie_within_the_figure(points, smooth):
    text = plot("a <b>", {"one & two": sorted(points)}, smooth=smooth)
    assert "a &lt;b&gt;" in text
    for found in re.findall(r'points="([^"]+)"', text):
        for pair in found.split():
            x, y = map(float, pair.split(","))
            assert math.isfinite(x)
            assert 0 <= x <= 540
            assert 0 <= y <= 240


def test_a_smoothed_curve_says_so_and_shows_what_was_measured():
    points = [(0.0, 0.0), (1.0, 1.0)]
    text = plot("reward", {"act": points}, smooth=True)
    assert "smoothed: mean over up to 7 points" in text.partition("</figcaption>")[0]
    assert text.count('r="2.2"') == 2
    assert "smoothed" not in plot("reward", {"act": points})


def test_without_points_there_is_no_figure():
    assert plot("empty", {"one": []}) == ""
