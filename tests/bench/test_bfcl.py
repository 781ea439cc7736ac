"""BFCL by its own package: items as it has them, answers as its checker judges them."""

import asyncio
import json

import pytest
from click.testing import CliRunner
from envace_sdk.training.bench import Asking, Bfcl, run_bfcl

from envace_sdk.cli.bench_commands import bench
from envace_sdk.errors import TrainingError
from envace_sdk.models import Completion, NativeCall, ScriptedModel
from envace_sdk.roles import tool_format

pytestmark = pytest.mark.filterwarnings("ignore")  # of the many libraries that the package imports

FORM = tool_format("hermes")
CATEGORIES = ["simple_python", "multiple", "parallel", "parallel_multiple", "live_simple"]


@pytest.fixture(scope="module")
def bfcl():
    return Bfcl()


def right_calls(bfcl, category, item):
    """The calls that the package holds to be right, with the first of the values that it allows."""
    entries = bfcl._utils.load_ground_truth_entry(category)
    (truth,) = (entry["ground_truth"] for entry in entries if entry["id"] == item.id)
    calls = []
    for call in truth:
        ((name, allowed),) = call.items()
        arguments = {key: plain(values[0]) for key, values in allowed.items() if values[0] != ""}
        calls.append((name.replace(".", "_"), arguments))
    return calls


def plain(value):
    """A value of the truth, in which each member of an object stands among those that are allowed too."""
    if isinstance(value, dict):
        return {key: plain(one[0]) for key, one in value.items() if one[0] != ""}
    return [plain(one) for one in value] if isinstance(value, list) else value


def run(answers, category, limit=4, form=FORM, **options):
    model = answers if isinstance(answers, ScriptedModel) else ScriptedModel(answers)
    report = asyncio.run(run_bfcl(model, Asking(form), [category], limit=limit, **options))
    return report.categories[0]


@pytest.mark.parametrize("category", CATEGORIES)
def test_right_calls_are_right(bfcl, category):
    items = bfcl.items(category, 6)
    said = ["\n".join(FORM.render_call(*call) for call in right_calls(bfcl, category, item)) for item in items]
    found = run(said, category, limit=6)
    assert (found.correct, found.total) == (6, 6)


def test_calls_of_endpoints_are_judged_alike(bfcl):
    items = bfcl.items("simple_python", 3)
    calls = [right_calls(bfcl, "simple_python", item) for item in items]
    said = [Completion("", tool_calls=tuple(NativeCall(n, json.dumps(a)) for n, a in one)) for one in calls]
    assert run(said, "simple_python", limit=3, form=tool_format("openai")).correct == 3


def test_wrong_calls_words_and_malformed_calls_are_wrong_and_told_apart(bfcl):
    names = [item.tools[0].name for item in bfcl.items("simple_python", 4)]
    said = [
        FORM.render_call(names[0], {"nothing": 1}),
        "I would rather talk.",
        f"<tool_call>{names[2]}</tool_call>",
        Completion("", finish_reason="error", error="too long"),
    ]
    found = run(said, "simple_python")
    assert (found.correct, found.total, found.malformed, found.failed) == (0, 4, 1, 1)
    assert found.errors["ast_decoder:decoder_failed"] == 2
    assert sum(found.errors.values()) == 3


def test_where_no_tool_fits_words_are_right_and_calls_and_failures_are_wrong(bfcl):
    names = [item.tools[0].name for item in bfcl.items("irrelevance", 3)]
    said = ["No tool fits.", FORM.render_call(names[1], {}), Completion("", finish_reason="error", error="too long")]
    found = run(said, "irrelevance", limit=3)
    assert (found.correct, found.total, found.failed) == (1, 3, 1)


def test_items_of_every_category_can_be_asked(bfcl):
    for category in bfcl.categories:
        for item in bfcl.items(category):
            request = Asking(FORM).request(item)
            assert all(tool.name in request.messages[0].content for tool in item.tools)


def test_the_same_seed_draws_the_same_items_and_another_others(bfcl):
    drawn = [[item.id for item in bfcl.items("multiple", 10, seed)] for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    everything = [item.id for item in bfcl.items("multiple")]
    assert sorted(drawn[0], key=everything.index) == drawn[0]


def test_categories_of_several_turns_are_refused(bfcl):
    with pytest.raises(TrainingError, match="single-turn"):
        bfcl.items("multi_turn_base")


def test_a_run_is_written_down(tmp_path):
    run(["No."] * 3, "irrelevance", limit=3, folder=tmp_path)
    assert len((tmp_path / "answers" / "irrelevance.jsonl").read_text().splitlines()) == 3
    assert json.loads((tmp_path / "report.json").read_text())["categories"]["irrelevance"]["accuracy"] == 1.0


def test_the_command_prints_a_table_or_json(tmp_path):
    script = tmp_path / "answers.jsonl"
    script.write_text('"No."\n' * 4)
    given = ["bfcl", "--model", f"scripted:{script}", "--category", "irrelevance", "--limit", "2", "--batch", "1"]
    table = CliRunner().invoke(bench, given)
    assert table.exit_code == 0
    assert "2/2" in table.output
    found = json.loads(CliRunner().invoke(bench, [*given, "--json"]).stdout)
    assert found["benchmark"].startswith("bfcl-eval ")
    assert found["categories"]["irrelevance"]["correct"] == 2


@pytest.mark.slow
def test_a_small_real_model_is_evaluated():
    done = CliRunner().invoke(
        bench,
        ["bfcl", "--model", "smollm2-135m", "--limit", "1", "--max-tokens", "8", "--json"],
        catch_exceptions=False,
    )
    found = json.loads(done.stdout)
    assert found["format"] == "hermes"
    assert found["categories"]["simple_python"]["total"] == 1
    assert 0 < found["categories"]["simple_python"]["tokens"] <= 8
