"""Traces that somebody's exporter mangled, or somebody hostile wrote: reading them ends, and what is kept is calls."""

import json
from pathlib import Path
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envace_sdk.errors import FixtureError
from envace_sdk.recordings import Recording
from envace_sdk.tools.recordings import Recorded

DATA = Path(__file__).parent / "data"
FILES = sorted(DATA.glob("*.json*"))

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                ["key", "value", "attributes", "type", "id", "content", "stringValue", "kvlistValue", "spans"]
            )
            | st.text(max_size=3),
            inner,
            max_size=2,
        )
    ),
    max_leaves=5,
)


def documents(path):
    text = path.read_text()
    if path.name.endswith(".console.json"):
        decoder, at, found = json.JSONDecoder(), 0, []
        while at < len(text):
            value, at = decoder.raw_decode(text, at)
            found.append(value)
            at += 1
        return found
    return [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else [json.loads(text)]


def mangled(value, draw):
    """With one part, anywhere in it, replaced, left out, or there twice."""
    if not isinstance(value, dict | list) or not value or draw(st.integers(0, 5)) == 0:
        return draw(anything)
    place = draw(st.sampled_from(list(value) if isinstance(value, dict) else range(len(value))))
    deed = draw(st.sampled_from(["deeper", "deeper", "deeper", "deeper", "leave out", "twice"]))
    copy = value.copy()
    if deed == "leave out":
        del copy[place]
    elif deed == "twice" and isinstance(copy, list):
        copy.insert(place, copy[place])
    else:
        copy[place] = mangled(value[place], draw)
    return copy


@given(data=st.data(), path=st.sampled_from(FILES), form=st.sampled_from(["theirs", "plain", "native"]))
def test_a_trace_that_was_changed_somewhere_is_read_to_its_end(tmp_path_factory, data, path, form):
    lines = documents(path)
    if form != "theirs":
        converted = tmp_path_factory.mktemp("r") / "converted.jsonl"
        Recording.load(path).save(converted, form=form)
        lines = documents(converted) or [{}]
    for _ in range(data.draw(st.integers(1, 3))):
        n = data.draw(st.integers(0, len(lines) - 1))
        lines[n] = mangled(lines[n], data.draw)
    changed = tmp_path_factory.mktemp("r") / "trace.jsonl"
    changed.write_text("".join(json.dumps(line) + "\n" for line in lines))
    try:
        recording = Recording.load(changed)
    except FixtureError as error:
        if "upgrade" in str(error):  # the header has another version now
            return
        raise
    assert all(isinstance(call.tool, str) and isinstance(call.arguments, dict) for call in recording)
    Recorded.of(recording.files)
    recording.save(changed.with_name("saved"))
    assert len(Recording.load(changed.with_name("saved"), strict=True)) == len(recording)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
@pytest.mark.parametrize("part", [0.3, 0.7, 0.999])
def test_a_file_that_was_cut_off_keeps_the_calls_that_are_whole(tmp_path, path, part):
    data = path.read_bytes()
    cut = tmp_path / path.name
    cut.write_bytes(data[: int(len(data) * part)])
    recording = Recording.load(cut)
    whole = {json.dumps(call.to_json()) for call in Recording.load(path)}
    told = [call for call in recording if "conversation" not in call.episode]  # a cut list is another conversation
    assert {json.dumps(call.to_json()) for call in told if path.suffix == ".jsonl"} <= whole
    assert any(finding.severity == "error" for finding in recording.findings)


HUGE = 10_000


def spans_of_one_id():
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t", "gen_ai.tool.call.id": "c"}
    for n in range(HUGE):
        told = {**attributes, "gen_ai.tool.call.arguments": f'{{"n": {n}}}', "gen_ai.tool.call.result": "x"}
        yield {"name": "x", "trace_id": "t", "span_id": str(n), "parent_id": str(n - 1), "attributes": told}


def calls_that_nobody_answers():
    call = {"type": "tool_call", "name": "t", "args": {}}
    yield {"messages": [{**call, "id": "c"} for _ in range(HUGE)]}
    yield {"messages": [{**call, "args": {"n": n}} for n in range(HUGE)]}
    yield {"messages": [{**call, "id": "c", "args": {"n": n}} for n in range(HUGE)]}


def runs_within_runs():
    for n in range(HUGE):
        yield {"id": str(n), "parent_run_id": str(n - 1), "run_type": "chain", "inputs": {}}


def names_of_many_parts():
    deep = "gen_ai.prompt." + "0." * HUGE
    yield {"name": "x", "trace_id": "t", "attributes": {deep: 1, "llm.input_messages." + "a." * 25: 2}}


@pytest.mark.parametrize(
    "made",
    [spans_of_one_id, calls_that_nobody_answers, runs_within_runs, names_of_many_parts],
    ids=lambda f: f.__name__,
)
def test_hostile_traces_take_no_longer_than_they_are(tmp_path, made):
    path = tmp_path / "trace.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in made()))
    begun = perf_counter()
    Recording.load(path)
    assert perf_counter() - begun < 60
