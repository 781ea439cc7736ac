import importlib.util
import json
import re
import struct
import xml.etree.ElementTree as ET

import pytest
from click.testing import CliRunner
from examined import episode, report_on

from envace_sdk.cli.main import cli

HAS_MATPLOTLIB = importlib.util.find_spec("matplotlib") is not None
needs_matplotlib = pytest.mark.skipif(not HAS_MATPLOTLIB, reason="the extra `plot` is not installed")


def run(*arguments):
    return CliRunner().invoke(cli, ["plot", *map(str, arguments)])


def training(folder, gain=0.01, **more):
    folder.mkdir(parents=True)
    lines = [
        {"step": step, "success": gain * step, "reward/act": gain * step, "reward/rehearse": 1.0, **more}
        | ({"eval/fidelity": 0.8} if step % 10 == 0 else {})
        for step in range(1, 31)
    ]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def fidelity(path, title):
    held_out = [episode("a", ("get", {"id": "N-1"}, {"id": "N-1", "title": "Tea"}), ("put", {"id": "N-1"}, "done"))]
    told = report_on(held_out, lambda fixture, call: title if call.name == "put" else fixture.result).as_json()
    told["calibration"]["bins"] = [{"least": 0.9, "calls": 2, "confidence": 0.95, "right": 0.5}]
    path.write_text(json.dumps({"toolset": "notes", "episodes": 1, "calls": 2, "loops": {"closed": [told]}}))
    return path


def texts(svg):
    """What is written in a picture: matplotlib draws outlines, and says beside them what they are."""
    return re.findall(r"<!-- (.*?) -->", svg.read_text(encoding="utf-8"))


def test_without_matplotlib_the_extra_is_named(monkeypatch, tmp_path):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "matplotlib" else find(name))
    ended = run(tmp_path, "-o", "x.svg")
    assert ended.exit_code != 0
    assert "pip install 'envace-sdk[plot]'" in ended.output


@needs_matplotlib
def test_a_run_is_drawn_with_the_units_of_its_metrics(tmp_path):
    assert run(training(tmp_path / "one"), "-o", tmp_path / "curves.svg").exit_code == 0
    found = texts(tmp_path / "curves.svg")
    for text in ("Success", "share of tasks", "Reward by role", "reward/rehearse", "training step", "eval/fidelity"):
        assert text in found, text
    root = ET.parse(tmp_path / "curves.svg").getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"


@needs_matplotlib
def test_the_warm_up_is_drawn_over_its_own_steps_which_are_whole(tmp_path):
    folder = training(tmp_path / "one")
    (folder / "warmup").mkdir()
    lines = [json.dumps({"step": step, "loss": 2 - step / 4, "grad_norm": 7.5}) + "\n" for step in (1, 2, 3)]
    (folder / "warmup" / "metrics.jsonl").write_text("".join(lines))
    assert re.search(r"^warmup/loss +3 points +1.25 to 1.75$", run(folder, "--list").stdout, re.MULTILINE)
    assert run(folder, "--metric", "warmup/loss", "-o", tmp_path / "c.svg").exit_code == 0
    found = texts(tmp_path / "c.svg")
    assert "warm-up step" in found
    assert "training step" not in found
    across = found[: found.index("warm-up step")]
    assert [text for text in across if re.fullmatch(r"[\d.]+", text)] == ["1", "2", "3"]
    run(folder, "-o", tmp_path / "all.svg")
    assert {"Loss of the warm-up", "warm-up step", "training step"} <= set(texts(tmp_path / "all.svg"))


@needs_matplotlib
def test_several_runs_are_named_and_told_apart_by_colour_and_marker(tmp_path):
    one, other = training(tmp_path / "_one"), training(tmp_path / "two $x$", 0.02)
    assert run(one, other, "--metric", "success", "-o", tmp_path / "c.svg").exit_code == 0
    assert {"_one", "two $x$"} <= set(texts(tmp_path / "c.svg"))
    text = (tmp_path / "c.svg").read_text()
    assert "#0072b2" in text
    assert "#d55e00" in text
    markers = set(re.findall(r'<use xlink:href="#(\w+)"[^>]*style="fill: (#\w+)', text))
    by_colour = {colour: shape for shape, colour in markers if colour in ("#0072b2", "#d55e00")}
    assert len(set(by_colour.values())) == 2


@needs_matplotlib
def test_metrics_of_one_plot_are_told_apart_by_their_strokes(tmp_path):
    run(training(tmp_path / "one"), "-o", tmp_path / "c.svg")
    strokes = set(re.findall(r"stroke: #0072b2(; stroke-dasharray|; stroke-width)", (tmp_path / "c.svg").read_text()))
    assert strokes >= {"; stroke-width"}
    assert re.search(r"stroke-dasharray: [^;]+;[^\"]*stroke: #0072b2", (tmp_path / "c.svg").read_text())


@needs_matplotlib
@pytest.mark.parametrize("form", ["svg", "png"])
def test_the_same_numbers_make_the_same_bytes(tmp_path, form, monkeypatch):
    folder = training(tmp_path / "one")
    run(folder, "-o", tmp_path / f"a.{form}")
    import matplotlib as mpl

    monkeypatch.setitem(mpl.rcParams, "lines.linewidth", 9)  # somebody's own taste
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    run(folder, "-o", tmp_path / f"b.{form}")
    assert (tmp_path / f"a.{form}").read_bytes() == (tmp_path / f"b.{form}").read_bytes()


@needs_matplotlib
def test_a_png_is_one(tmp_path):
    run(training(tmp_path / "one"), "-o", tmp_path / "a.PNG", "--metric", "success")
    data = (tmp_path / "a.PNG").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", data[16:24]) == (840, 495)


@needs_matplotlib
def test_smoothing_draws_means_and_says_so_but_leaves_measurements_alone(tmp_path):
    folder = training(tmp_path / "one")
    run(folder, "-o", tmp_path / "raw.svg", "--metric", "success")
    run(folder, "-o", tmp_path / "means.svg", "--metric", "success", "--smooth", 5)
    assert "share of tasks, mean over 5 points" in texts(tmp_path / "means.svg")
    paths = [
        len(re.findall(r'<path d="M [^"]*"[^>]*stroke: #0072b2', (tmp_path / f"{n}.svg").read_text()))
        for n in ("raw", "means")
    ]
    assert paths[1] == paths[0] + 1
    run(folder, "-o", tmp_path / "eval.svg", "--metric", "eval/fidelity", "--smooth", 5)
    assert "share of answers" in texts(tmp_path / "eval.svg")


@needs_matplotlib
def test_the_list_names_what_is_there_with_its_range(tmp_path):
    ended = run(training(tmp_path / "one", odd_one=3), "--list")
    assert ended.exit_code == 0
    lines = {line.split()[0]: line for line in ended.output.splitlines()}
    assert list(lines) == ["eval/fidelity", "odd_one", "reward/act", "reward/rehearse", "success"]
    assert lines["success"].endswith("30 points  0.01 to 0.3")


@needs_matplotlib
def test_a_run_that_measures_things_of_its_own_is_drawn_too(tmp_path):
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "metrics.jsonl").write_text('{"step": 1, "my_number": 2}\n{"step": 2, "my_number": 1e400}\n')
    assert run(folder, "-o", tmp_path / "own.svg").exit_code == 0
    assert "my_number" in texts(tmp_path / "own.svg")


@needs_matplotlib
def test_fidelity_is_drawn_by_tool_with_the_calibration(tmp_path):
    before, after = fidelity(tmp_path / "before.json", "other"), fidelity(tmp_path / "after.json", "done")
    assert run(before, after, "-o", tmp_path / "f.svg").exit_code == 0
    found = texts(tmp_path / "f.svg")
    assert {"Fidelity by tool", "all tools", "get", "put", "before", "after"} <= set(found)
    assert "mean confidence of the answers, share" in found
    assert "right" in [line.split()[0] for line in run(before, "--list").output.splitlines()]
    run(before, "-o", tmp_path / "r.svg", "--metric", "right")
    assert "right, share from 0 to 1" in texts(tmp_path / "r.svg")


@needs_matplotlib
def test_what_is_not_there_is_named(tmp_path):
    folder, result = training(tmp_path / "one"), fidelity(tmp_path / "f.json", "done")
    empty = tmp_path / "empty"
    empty.mkdir()
    for words, said in (
        ((folder, "-o", tmp_path / "a.svg", "--metric", "nope"), "no metric 'nope' is there: --list"),
        ((folder, result, "-o", tmp_path / "a.svg"), "one kind at a time"),
        ((empty, "--list"), "empty: no training run lies in it"),
        ((tmp_path / "none", "--list"), "none: there is no such folder or file"),
        ((folder, "-o", tmp_path / "a.pdf"), "ends in .svg or .png"),
        ((folder,), "-o FILE says where to draw it"),
    ):
        ended = run(*words)
        assert ended.exit_code != 0
        assert said in ended.output + str(ended.exception), words
    assert not (tmp_path / "a.svg").exists()


@needs_matplotlib
def test_more_runs_than_can_be_told_apart_are_refused(tmp_path):
    for number in range(9):
        training(tmp_path / "runs" / str(number))
    ended = run(tmp_path / "runs", "-o", tmp_path / "a.svg")
    assert "9 runs: at most 8" in str(ended.exception)


@needs_matplotlib
def test_a_picture_is_drawn_anew_but_over_nothing_else(tmp_path):
    folder = training(tmp_path / "one")
    for form in ("svg", "png"):
        picture = tmp_path / f"a.{form}"
        words = (folder, "--metric", "success", "-o", picture)
        assert run(*words).exit_code == 0
        assert run(*words).exit_code == 0
        picture.write_text("<svg>mine</svg>")
        assert "--force overwrites it" in run(*words).output
        assert picture.read_text() == "<svg>mine</svg>"
        assert run(*words, "--force").exit_code == 0


@needs_matplotlib
def test_names_of_any_kind_are_drawn(tmp_path):
    name = "日本 <b> -- & %s \\frac{1}{2} ☂"
    assert (
        run(
            training(tmp_path / name, **{name: 1}), training(tmp_path / "b"), "-o", tmp_path / "a.svg", "--metric", name
        ).exit_code
        == 0
    )
    ET.parse(tmp_path / "a.svg")
