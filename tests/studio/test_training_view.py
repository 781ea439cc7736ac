import json
import re

import pytest
from furnished_studio import trained
from studios import app, browser

from envace_sdk.evaluate.curves import HEIGHT, WIDTH, figure
from envace_sdk.studio.trained import points


@pytest.fixture
def runs(tmp_path):
    return trained(tmp_path)


def get(tmp_path, path, runs=None):
    folders = () if runs is None else (runs,)
    return browser(app(tmp_path / "ledger.db", runs=folders)).get(path)


def test_without_folders_the_page_says_how_to_name_one(tmp_path):
    assert "--runs FOLDER" in get(tmp_path, "/training").text


def test_runs_are_found_in_a_folder_and_the_first_is_drawn(tmp_path, runs):
    page = get(tmp_path, "/training", runs).text
    assert re.findall(r'value="([^"]+)" checked', page) == ["pooled/seed-0"]
    assert 'value="role-wise/seed-0"' in page
    for title in ("Success", "Reward by role", "Fidelity", "Entropy", "Turns of a trajectory", "Dropped"):
        assert title in page
    assert "smollm2-135m" in page


def test_a_folder_that_is_a_run_is_shown_by_its_own_name(tmp_path, runs):
    assert 'value="seed-0" checked' in get(tmp_path, "/training", runs / "pooled" / "seed-0").text


def test_a_run_is_there_from_its_first_file_on_and_its_warm_up_is_drawn(tmp_path):
    run = tmp_path / "runs" / "first"
    run.mkdir(parents=True)
    (run / "run.json").write_text(json.dumps({"config": {"model": "smollm2-135m"}}))
    page = get(tmp_path, "/training", tmp_path / "runs").text
    assert 'value="first" checked' in page
    assert "smollm2-135m, step 0" in page
    assert "Nothing was measured yet." in page
    (run / "warmup").mkdir()
    lines = [json.dumps({"step": step, "loss": 2 - step / 4}) + "\n" for step in (1, 2, 3)]
    (run / "warmup" / "metrics.jsonl").write_text("".join(lines))
    page = get(tmp_path, "/training", tmp_path / "runs").text
    assert "smollm2-135m, warm-up step 3" in page
    assert "warmup/loss ends at 1.25" in page.partition("<b>Loss of the warm-up</b>")[2].partition("</figure>")[0]
    (run / "metrics.jsonl").write_text('{"step": 1, "success": 0.5}\n')
    page = get(tmp_path, "/training", tmp_path / "runs").text
    assert "smollm2-135m, step 1" in page
    assert "<b>Loss of the warm-up</b>" in page


def test_a_warm_up_that_is_a_link_out_of_the_run_is_not_followed(tmp_path, runs):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "metrics.jsonl").write_text('{"step": 1, "loss": 1}\n')
    (runs / "pooled" / "seed-0" / "warmup").symlink_to(tmp_path / "elsewhere")
    assert "Loss of the warm-up" not in get(tmp_path, "/training", runs).text


def test_several_runs_are_laid_over_each_other_each_in_its_colour(tmp_path, runs):
    page = get(tmp_path, "/training?run=role-wise/seed-0&run=pooled/seed-0", runs).text
    success = page.partition("<b>Success</b>")[2].partition("</figure>")[0]
    drawn = re.findall(r'<g class="run-(\d) series-(\d)">', success)
    assert drawn == [("0", "0"), ("0", "1"), ("1", "0"), ("1", "1")]
    assert "role-wise/seed-0: success ends at 0.5" in success


def test_trajectories_stand_with_what_the_ladder_says(tmp_path, runs):
    page = get(tmp_path, "/training/samples?run=pooled/seed-0", runs).text
    for said in (
        "lamps/switch_on-red",
        "solved",
        "there is no call in it",
        "layer dynamics",
        "&#34;light&#34;: &#34;on&#34;",
    ):
        assert said in page, said


@pytest.mark.parametrize("name", ["../runs/pooled/seed-0", "/etc", "nothing", "pooled"])
def test_only_runs_that_were_found_are_shown(tmp_path, runs, name):
    assert get(tmp_path, f"/training/samples?run={name}", runs).status_code == 404
    assert f'value="{name}"' not in get(tmp_path, f"/training?run={name}", runs).text


def test_a_link_out_of_the_folder_is_not_followed(tmp_path, runs):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "metrics.jsonl").write_text("{}")
    (runs / "linked").symlink_to(tmp_path / "elsewhere")
    assert "linked" not in get(tmp_path, "/training", runs).text


LINES = [
    '{"step": 1' + "0" * 400 + ', "success": 1}',
    '{"step": 1, "success": 1e308, "turns": -1e308}',
    "{",
    "[1]",
    "null",
    '{"step": true}',
    '{"step": "x", "success": 1}',
    "[" * 100_000,
]


@pytest.mark.parametrize("line", [*LINES, '{"step": 1, "success": NaN, "turns": "x", "masked": 1e999}', "\x00\xff"])
def test_metrics_of_any_form_are_drawn_as_far_as_they_can_be(tmp_path, runs, line):
    file = runs / "pooled" / "seed-0" / "metrics.jsonl"
    file.write_bytes(line.encode("latin-1") + b"\n" + file.read_bytes())
    (runs / "pooled" / "seed-0" / "run.json").write_text(line)
    assert "<b>Success</b>" in get(tmp_path, "/training", runs).text


ANY = [None, 3, "x", [], {}]


@pytest.mark.parametrize("value", ANY)
def test_trajectories_of_any_form_are_shown_as_far_as_they_can_be(tmp_path, runs, value):
    turn = dict.fromkeys(("role", "sampled", "text", "result", "truth", "problem"), value)
    told = {**dict.fromkeys(("task", "reward", "solved", "masked", "answer"), value), "turns": [turn, value]}
    lines = [json.dumps(told), json.dumps({"turns": value})]
    (runs / "pooled" / "seed-0" / "samples" / "000030.jsonl").write_text("\n".join(lines))
    assert get(tmp_path, "/training/samples?run=pooled/seed-0", runs).status_code == 200


def test_very_many_points_are_thinned_out():
    assert len(points([{"step": n, "x": n} for n in range(100_000)], "x")) <= 400


@pytest.mark.parametrize("last", [0, 1, 2, 3, 7, 40, 1999])
def test_steps_are_counted_in_whole_numbers(last):
    drawn = figure("t", {(0, 0, "a"): [(0.0, 0.1), (float(last), 0.2)]})
    words = [words for _, words in drawn.across]
    assert all(word.isdecimal() for word in words)
    assert len(set(words)) == len(words) >= 2
    assert any("." in words for _, words in drawn.up)


@pytest.mark.parametrize("values", [[0.0], [5.0, 5.0], [-1e300, 1e300], [1e-300, 2e-300]])
def test_curves_stay_inside_their_figure(values):
    drawn = figure("t", {(0, 0, "a"): [(float(n), value) for n, value in enumerate(values)]})
    for pair in drawn.curves[0].path.split():
        x, y = map(float, pair.split(","))
        assert 0 <= x <= WIDTH
        assert 0 <= y <= HEIGHT
