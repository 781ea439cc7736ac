"""How items of a benchmark are put to a model, and what is read of its answers."""

import asyncio
import json

import pytest
from envace_sdk.training.bench import Asking, CategoryReport, Item
from envace_sdk.training.bench.asking import ask
from hypothesis import given
from hypothesis import strategies as st

from envace_sdk.errors import ModelError
from envace_sdk.models import Completion, Message, NativeCall, Sampling, ScriptedModel
from envace_sdk.roles import tool_format
from envace_sdk.tools.model import Tool, ToolCall

WEATHER = Tool({"name": "weather", "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}}})
ITEM = Item("simple_0", (Message("system", "Be brief."), Message("user", "Rain in Ghent?")), (WEATHER,))
GREEDY = Sampling(temperature=0)


def answer(said, form="hermes"):
    return asyncio.run(ask(ScriptedModel([said]), Asking(tool_format(form)), [ITEM]))[0]


def test_tools_stand_in_the_prompt_after_the_items_own_instructions():
    system, user = Asking(tool_format("hermes")).request(ITEM).messages
    assert system.content.startswith("Be brief.\n\n")
    assert '"weather"' in system.content
    assert "<tool_call>" in system.content
    assert user == Message("user", "Rain in Ghent?")


def test_in_a_native_format_tools_travel_beside_the_text():
    request = Asking(tool_format("openai")).request(ITEM)
    assert [tool["function"]["name"] for tool in request.tools] == ["weather"]
    assert "weather" not in request.messages[0].content


def test_all_calls_of_an_answer_are_read():
    call = tool_format("hermes").render_call("weather", {"city": "Ghent"})
    assert answer(f"{call}\n{call}").calls == (ToolCall("weather", {"city": "Ghent"}),) * 2


def test_calls_that_a_server_parsed_are_read():
    said = Completion("", tool_calls=(NativeCall("weather", '{"city": "Ghent"}', "c1"),))
    (found,) = answer(said, "openai").calls
    assert (found.name, found.arguments) == ("weather", {"city": "Ghent"})


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ("It rains.", None),
        ("<tool_call>weather</tool_call>", "malformed"),
        (Completion("<tool_call>{", finish_reason="length"), "cut off"),
        (Completion("It rai", finish_reason="length"), "cut off"),
        (Completion("", finish_reason="error", error="too long"), "failed"),
    ],
)
def test_an_answer_without_calls_says_why(said, problem):
    found = answer(said)
    assert found.calls == ()
    assert found.problem == problem


class Trained(ScriptedModel):
    """Loaded from a folder."""

    folder = None


def test_a_trained_model_is_asked_as_it_was_trained(tmp_path):
    (tmp_path / "envace.json").write_text(json.dumps({"tool_format": "llama3", "style": "compact"}))
    model = Trained([])
    model.folder = tmp_path
    found = Asking.of(model, None, GREEDY)
    assert (found.form.name, found.style) == ("llama3", "compact")
    assert Asking.of(model, "json", GREEDY).form.name == "json"


@pytest.mark.parametrize("text", ["{", '{"style": "loud"}', '{"tool_format": "smoke"}'])
def test_a_folder_that_says_nothing_usable_is_an_error_that_names_it(tmp_path, text):
    (tmp_path / "envace.json").write_text(text)
    model = Trained([])
    model.folder = tmp_path
    with pytest.raises(ModelError, match=r"envace\.json|smoke"):
        Asking.of(model, None, GREEDY)


def test_an_endpoint_is_asked_natively_and_others_in_hermes():
    assert Asking.of(ScriptedModel([], name="openai:m"), None, GREEDY).form.name == "openai"
    assert Asking.of(ScriptedModel([]), None, GREEDY).form.name == "hermes"


def report(correct, total):
    return CategoryReport("c", correct, total, 0, 0, 0, {}, 0, 1.0)


def test_the_interval_is_wilsons():
    # Worked by hand: z = 1.96, p = 0.5, n = 10.
    assert report(5, 10).interval() == pytest.approx((0.2366, 0.7634), abs=1e-4)


@given(st.integers(1, 400), st.data())
def test_the_interval_holds_the_accuracy_and_lies_between_0_and_1(total, data):
    found = report(data.draw(st.integers(0, total)), total)
    low, high = found.interval()
    assert 0 <= low <= found.accuracy + 1e-12
    assert found.accuracy - 1e-12 <= high <= 1
