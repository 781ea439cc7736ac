import asyncio

import pytest
from examined import Scripted, episode, exam_of, report_on, result, toolset

from envace_sdk.evaluate import Played, examine
from envace_sdk.tools.model import ToolResult

NOTES = [(f"N-{100 + place}", f"title {place}") for place in range(10)]
HELD_OUT = [episode("a", *(("get", {"id": name}, {"id": name, "title": title}) for name, title in NOTES))]


def test_an_answer_of_the_wrong_status_has_nothing_right():
    report = report_on(HELD_OUT, lambda fixture, call: ToolResult.text("no", is_error=True))
    assert (report.overall.status, report.overall.structure, report.overall.entailed) == (0.0, None, 0.0)


def test_balanced_status_weighs_successes_and_errors_alike():
    calls = [("get", {"id": place}, {"id": place}) for place in range(9)]
    held_out = [episode("a", *calls, ("get", {"id": 9}, "no", True))]
    report = report_on(held_out, lambda fixture, call: {"id": 1})
    assert (report.overall.status, report.overall.balanced_status) == (0.9, 0.5)


def test_answers_that_say_too_much_are_not_right():
    def more(fixture, call):
        return {**fixture.result.value(), "twin": fixture.result.value()["id"]}

    report = report_on(HELD_OUT, more)
    assert report.overall.entailed < 1.0
    assert report.overall.structure == pytest.approx(4 / 5)
    assert report.overall.right == 0.0


def test_free_values_do_not_count_as_entailed():
    report = report_on(HELD_OUT, lambda fixture, call: {"id": call.arguments["id"], "title": "guess"})
    assert (report.overall.entailed, report.overall.free, report.overall.right) == (1.0, 0.0, 1.0)


def test_calibration_compares_confidence_with_what_is_right():
    def played(fixture, call):
        good = fixture.position < 6
        answer = fixture.result if good else result({"id": "wrong"})
        return Played(answer, "fixture" if good else "schema", 0.95 if fixture.position < 8 else 0.3)

    report = report_on(HELD_OUT, played)
    assert [(one.least, one.calls, one.right) for one in report.calibration if one.calls] == [
        (0.0, 2, 0.0),
        (0.9, 8, 0.75),
    ]
    assert (report.sure.calls, report.sure.right) == (8, 0.75)
    assert {layer.name: (layer.calls, layer.right) for layer in report.layers} == {
        "fixture": (6, 1.0),
        "schema": (4, 0.0),
    }


def test_a_confidence_of_exactly_nine_tenths_is_a_sure_one():
    report = report_on(HELD_OUT, lambda fixture, call: Played(fixture.result, "x", (0.9, 1.0)[fixture.position % 2]))
    assert (report.sure.calls, report.sure.right) == (10, 1.0)


def test_successes_are_held_to_the_output_schema():
    schema = {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}}
    tools = toolset(get={"outputSchema": schema})
    report = report_on(HELD_OUT, lambda fixture, call: {"id": 5} if fixture.position else fixture.result, tools=tools)
    assert report.overall.valid == pytest.approx(1 / 10)
    assert report_on(HELD_OUT).overall.valid is None


def test_only_the_named_tools_are_scored_but_all_are_played():
    held_out = [episode("a", ("add", {"id": "N-100"}, {"id": "N-100"}), ("get", {"id": "N-100"}, {"id": "N-100"}))]
    player = Scripted(held_out)
    report = asyncio.run(examine(exam_of(held_out), [player], only=["get"]))[0]
    assert len(player.asked) == 2
    assert list(report.tools) == ["get"]
    assert report.ceiling.calls == report.overall.calls == 1


def test_the_worst_answers_come_first_and_every_tool_has_its_turn():
    calls = [("get", {"id": f"N-{100 + place}"}, {"id": f"N-{100 + place}", "x": place}) for place in range(5)]
    held_out = [episode("a", *calls, ("put", {"id": "N-9"}, {"id": "N-9", "at": "x"}))]

    def played(fixture, call):
        if fixture.call.name == "put":
            return {"id": "N-9"}
        return ToolResult.text("no", is_error=True) if fixture.position == 3 else {"id": "?", "x": 1}

    worst = report_on(held_out, played).worst(3)
    assert [(case.mark.tool, case.position) for case in worst][:2] == [("get", 3), ("put", 5)]


def test_episodes_that_the_player_has_seen_are_noticed():
    seen = episode("a", ("get", {"id": "N-1"}, {"id": "N-1"}))
    again = episode("b", *(("get", {"id": "N-1"}, {"id": "N-1"}),))
    assert exam_of([again], [seen]).overlap == 1
    assert exam_of(HELD_OUT, [seen]).overlap == 0
