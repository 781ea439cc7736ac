"""YAML, JSON and tables that strangers wrote: data, the same for every reader, in bounded time and memory."""

import json
from contextlib import suppress

import pytest
from file_hazards import HAZARDS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envace_sdk import Environment
from envace_sdk.errors import DynamicsError, EnvaceError, FaultError, PolicyError, TaskError, ToolsetError, WorldError
from envace_sdk.faults import fault_plan
from envace_sdk.guard import load_policy, parse_policy
from envace_sdk.models import load_model
from envace_sdk.recordings import read_recording
from envace_sdk.roles.formats import FORMATS
from envace_sdk.tasks import load_tasks
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.files import read_file
from envace_sdk.yaml import YAMLError, load_yaml

TOOLS = {"tools": [{"name": "a", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object"}}]}


def beside(name):
    """Reads a toolset beside whose catalogue a file of that name lies, and opens a world of it."""

    def read(folder, data):
        (folder / "tools.json").write_text(json.dumps(TOOLS))
        (folder / name).write_bytes(data)
        return Environment.load(str(folder)).world(seed=1)

    return read


def file(name, reader):
    def read(folder, data):
        (folder / name).write_bytes(data)
        return reader(folder / name)

    return read


def calls(form):
    return lambda _, data: form.parse(data.decode(errors="replace"))


READERS = {
    "catalogue in JSON": file("tools.json", Toolset.load),
    "catalogue in YAML": file("tools.yaml", Toolset.load),
    "catalogue in either": file("tools", Toolset.load),
    "dynamics": beside("dynamics.yaml"),
    "start": beside("world.json"),
    "fixtures": beside("fixtures.jsonl"),
    "tasks": file("tasks.jsonl", load_tasks),
    "policy": file("policy.yaml", load_policy),
    "fault plan": file("plan.yaml", fault_plan),
    "recording": file("r.jsonl", read_recording),
    "data in JSON": file("d.json", read_file),
    "data in lines": file("d.jsonl", read_file),
    "data in YAML": file("d.yaml", read_file),
    "table": file("d.csv", read_file),
    "scripted model": file("s.jsonl", lambda path: load_model(f"scripted:{path}")),
    **{f"calls in {name}": calls(form) for name, form in FORMATS.items()},
}
LONGEST = 20_000
"""Characters of a message: what is quoted in it may be of any length."""


def read(reader, folder, data):
    """What is read, or None; any other end than a clean one fails the test."""
    try:
        return READERS[reader](folder, data)
    except EnvaceError as refused:
        said = str(refused)
    assert said
    assert len(said) < LONGEST
    return None


@pytest.mark.parametrize("hazard", list(HAZARDS))
@pytest.mark.parametrize("reader", list(READERS))
def test_whatever_is_in_a_file_it_is_read_or_refused(reader, hazard, tmp_path):
    read(reader, tmp_path, HAZARDS[hazard])


def fuzzed(reader, tmp_path_factory, data):
    read(reader, tmp_path_factory.mktemp("f"), data)


_FRAGMENTS = st.sampled_from(
    [
        *(rb"""{ } [ ] : , " ' \ # | > - ? 1 a null true false 1e999 -0 NaN .nan \ud800 2026-13-45""".split()),
        *(b"name tools inputSchema rules faults collections kind call result id tool_call".split()),
        *(b"<tool_call> [TOOL_CALLS] <|python_tag|> --- ... %YAML envace.recording".split()),
        *(b"\n", b"\n  ", b"- ", b"? ", b"&a ", b"*a", b"!!int ", b"!!set ", b"<<: ", b"|\n"),
        *(b"\xff", b"\x00", b"\xef\xbb\xbf", b"9" * 400),
    ]
)
_KEYS = st.sampled_from(
    [
        *(
            "tools",
            "name",
            "inputSchema",
            "outputSchema",
            "type",
            "properties",
            "rules",
            "when",
            "then",
            "faults",
            "kind",
        ),
        *(
            "kind",
            "format",
            "collections",
            "key",
            "effect",
            "requires",
            "id",
            "user",
            "checks",
            "call",
            "result",
            "clock",
            "a",
        ),
    ]
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | _KEYS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=5),
    max_leaves=12,
)
DATA = (
    st.lists(_FRAGMENTS, max_size=25).map(b"".join)
    | st.binary(max_size=40)
    | _JSON.map(lambda value: json.dumps(value).encode())
    | st.lists(_JSON, max_size=3).map(lambda lines: b"\n".join(json.dumps(line).encode() for line in lines))
)
_FUZZ = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
}


@pytest.mark.parametrize("reader", list(READERS))
@settings(max_examples=25, **_FUZZ)
@given(data=DATA)
def test_any_bytes_are_read_or_refused(reader, tmp_path_factory, data):
    fuzzed(reader, tmp_path_factory, data)


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("reader", list(READERS))
@settings(max_examples=5000, **_FUZZ)
@given(data=DATA)
def test_any_bytes_are_read_or_refused_all_night(reader, tmp_path_factory, data):
    fuzzed(reader, tmp_path_factory, data)


@pytest.mark.parametrize(
    ("text", "reader", "error"),
    [
        ("rules: [{name: a, when: 'true', then: block}]\nrules: []\n", parse_policy, PolicyError),
        ("rules:\n  - {name: a, when: 'true', then: block, then: commit}\n", parse_policy, PolicyError),
        ("tools:\n  a: {effect: opaque}\n  a: {effect: compute}\n", Dynamics.parse, DynamicsError),
    ],
)
def test_a_key_that_stands_twice_is_refused_where_a_reader_would_keep_the_last(text, reader, error):
    with pytest.raises(error, match="stands twice"):
        reader(text)


def test_a_fault_or_a_catalogue_with_a_key_twice_is_refused(tmp_path):
    (tmp_path / "plan.yaml").write_text("faults: [{kind: latency, tools: ['*'], tools: ['a']}]\n")
    with pytest.raises(FaultError, match="stands twice"):
        fault_plan(tmp_path / "plan.yaml")
    (tmp_path / "tools.yaml").write_text("tools:\n  - {name: a, name: b, inputSchema: {type: object}}\n")
    with pytest.raises(ToolsetError, match="stands twice"):
        Toolset.load(tmp_path / "tools.yaml")


def test_what_a_mapping_merges_may_be_said_anew():
    assert load_yaml("p: {q: {r: &s {<<: {a: 1}, a: 2}}}\nt: {<<: *s, a: 3}\n") == {
        "p": {"q": {"r": {"a": 2}}},
        "t": {"a": 3},
    }
    with pytest.raises(YAMLError, match="line 2"):
        load_yaml("a: 1\na: 2")


@pytest.mark.parametrize(
    "text",
    [
        "!!python/object/apply:os.mkdir [made]",
        "!!python/name:os.system",
        "!!python/module:os",
        "a: !!python/object/new:os.mkdir [made]",
        "!unknown a",
    ],
)
def test_a_tag_makes_no_object_of_anything(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(YAMLError):
        load_yaml(text)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("text", ['{"a": 1e999}', '{"a": NaN}', '{"a": -Infinity}'])
def test_a_number_that_is_none_reaches_no_world(text, tmp_path):
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    (tmp_path / "world.json").write_text(f'{{"collections": {{"things": [{text}]}}}}')
    with pytest.raises(WorldError), suppress(AssertionError):
        Environment.load(str(tmp_path)).world(seed=1)


def test_of_very_many_mistakes_the_first_are_told(tmp_path):
    (tmp_path / "tasks.jsonl").write_text(json.dumps({f"k{n}": n for n in range(5_000)} | {"x" * 5_000: 1}))
    with pytest.raises(TaskError, match="more") as refused:
        load_tasks(tmp_path / "tasks.jsonl")
    assert len(str(refused.value)) < 10_000
