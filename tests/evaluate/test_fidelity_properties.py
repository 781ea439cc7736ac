import asyncio
import json
import time
from dataclasses import replace

import pytest
from examined import Scripted, episode, exam_of, report_on, result
from hypothesis import given, settings
from hypothesis import strategies as st

from envace_sdk.evaluate import AXES, Episode, examine, replays
from envace_sdk.tools.model import ToolResult

WORDS = st.sampled_from(["tea", "Milk 2", "open", "closed", "N-100", "/a/b.txt", "", "true", "12", "two lines\nof it"])
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-5, 2000), st.floats(), WORDS, st.text(max_size=12))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["id", "name", "state", "items"]), inner, max_size=3),
    ),
    max_leaves=8,
)
RESULTS = st.one_of(
    st.builds(lambda value: ToolResult.json(value, structured=False), VALUES),
    st.builds(lambda value: ToolResult.json(value, structured=True), VALUES),
    st.builds(ToolResult.text, st.text(max_size=40)),
    st.just(ToolResult(())),
)
ARGUMENTS = st.dictionaries(st.sampled_from(["id", "name", "path"]), VALUES, max_size=2)
CALLS = st.tuples(
    st.sampled_from(["get_note", "add_note", "drop_note", "spin"]), ARGUMENTS, RESULTS, st.booleans()
).map(lambda call: (call[0], call[1], replace(call[2], is_error=call[3])))
EPISODES = st.lists(st.lists(CALLS, min_size=1, max_size=6), min_size=1, max_size=3).map(
    lambda found: [episode(f"e{place}", *calls) for place, calls in enumerate(found)]
)


def values(scores):
    return {axis: getattr(scores, axis) for axis in (*AXES, "on_successes", "on_errors")}


@settings(deadline=None)
@given(EPISODES, EPISODES, st.sampled_from(["closed", "open"]))
def test_who_answers_as_recorded_has_everything_right(held_out, known, loop):
    report = report_on(held_out, known=known, loop=loop)
    assert {axis: value for axis, value in values(report.overall).items() if value not in (None, 1.0)} == {}
    assert all(case.mark.right for case in report.cases)
    assert report.renamed == 0


@settings(deadline=None)
@given(EPISODES, EPISODES, st.data())
def test_every_score_is_a_share(held_out, known, data):
    exam = exam_of(held_out, known)
    anything = Scripted(held_out, lambda fixture, call: data.draw(RESULTS))
    fixtures = [fixture for each in known for fixture in each.calls]
    for report in asyncio.run(examine(exam, [anything, *replays(exam.toolset, fixtures)])):
        for scores in (report.overall, *report.tools.values()):
            assert all(value is None or 0.0 <= value <= 1.0 for value in values(scores).values())
        limits = (report.ceiling.status, report.ceiling.structure, report.ceiling.entailed)
        assert all(value is None or 0.0 <= value <= 1.0 for value in limits)
        assert report.overall.calls == sum(len(each.calls) for each in held_out)
        json.dumps(report.as_json(), allow_nan=False)


@settings(deadline=None)
@given(EPISODES, EPISODES, st.randoms(use_true_random=False))
def test_the_order_of_episodes_and_of_keys_does_not_matter(held_out, known, random):
    def worse(fixture, call):
        return result({"id": "N-100", "state": "open"}) if fixture.position % 2 else fixture.result

    def turned(value):
        if isinstance(value, dict):
            return {name: turned(value[name]) for name in reversed(value)}
        return [turned(item) for item in value] if isinstance(value, list) else value

    def shuffled(each):
        calls = []
        for fixture in each.calls:
            structured = turned(fixture.result.structured)
            call = replace(fixture.call, arguments=turned(fixture.call.arguments))
            calls.append(replace(fixture, call=call, result=replace(fixture.result, structured=structured)))
        return Episode(each.name, tuple(calls))

    before = report_on(held_out, worse, known=known)
    others = [shuffled(each) for each in held_out]
    random.shuffle(others)
    after = report_on(others, worse, known=known[::-1])
    ours, theirs = values(before.overall), values(after.overall)
    assert {axis: value and round(value, 9) for axis, value in ours.items()} == {
        axis: value and round(value, 9) for axis, value in theirs.items()
    }


@settings(deadline=None, max_examples=30)
@given(EPISODES, EPISODES)
def test_the_same_answers_get_the_same_marks(held_out, known):
    first, second = (
        json.dumps(report_on(held_out, lambda fixture, call: "tea", known=known).as_json()) for _ in range(2)
    )
    assert first == second


@pytest.mark.slow
def test_two_thousand_calls_to_four_players_take_seconds():
    def story(name):
        notes = [
            {"id": f"{name}-{place}", "title": f"note {place} of {name}", "tags": ["a", "b"]} for place in range(10)
        ]
        made = [("add_note", {"title": note["title"]}, note) for note in notes]
        read = [("get_note", {"id": note["id"]}, note) for note in notes]
        return episode(name, *made, *read, *[("list_notes", {}, {"notes": notes})] * 5)

    held_out, known = [story(f"A{n}") for n in range(80)], [story(f"B{n}") for n in range(80)]
    fixtures = [fixture for each in known for fixture in each.calls]
    begin = time.process_time()
    exam = exam_of(held_out, known)
    reports = asyncio.run(examine(exam, [Scripted(held_out), *replays(exam.toolset, fixtures)]))
    assert reports[0].overall.calls == 2_000
    assert time.process_time() - begin < 25
