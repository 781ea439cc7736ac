import json

import pytest

from envace_sdk.errors import DynamicsError, FixtureError, WorldError
from envace_sdk.recordings import Recording
from envace_sdk.tools import Toolset
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.mine.folder import learn_into

FIRST = {"a": ["ink", "pen"], "b": ["cup"], "c": ["tea", "oil"]}
SECOND = {"d": ["jar", "box"], "e": ["hat"]}


@pytest.fixture
def learned(notes):
    """Learns from recordings into the folder of the notes."""

    def learned(*paths, write=True, recordings=True, **options):
        toolset = Toolset.load(notes)
        lesson = learn_into(notes / "dynamics.yaml", toolset, Recording.load(paths).files, **options)
        return lesson, [path.name for path in lesson.write(recordings=recordings)] if write else []

    return learned


def texts(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_rules_world_and_recordings_lie_side_by_side(learned, notes, record):
    lesson, written = learned(record(**FIRST))
    assert {"recordings.jsonl", "dynamics.yaml"} <= {*written}
    assert Dynamics.load(notes / "dynamics.yaml") == lesson.dynamics
    assert len(Recording.load(notes / "recordings.jsonl").episodes) == 3
    assert lesson.filing.standing["add_note"] == "new"
    assert lesson.dynamics.tools["add_note"].support == sum(
        call.tool == "add_note" for call in lesson.gathered.recording
    )
    assert "unused" not in lesson.dynamics.tools
    assert lesson.advice["unused"] == "never called: record some calls"


def test_the_same_recordings_give_the_same_bytes_and_are_known(learned, notes, record):
    learned(record(**FIRST))
    before = texts(notes)
    lesson, written = learned(record(**FIRST))
    assert (lesson.gathered.added, lesson.gathered.known, written) == (0, 3, [])
    assert learned()[1] == []
    assert texts(notes) == before


def test_what_comes_in_two_parts_is_learned_as_if_it_came_at_once(learned, notes, record):
    learned(record("one.jsonl", **FIRST))
    lesson, _ = learned(record("two.jsonl", **SECOND))
    assert (lesson.gathered.added, lesson.gathered.known) == (2, 0)
    parts = texts(notes)
    for name in ("dynamics.yaml", "recordings.jsonl"):
        (notes / name).unlink()
    learned(record("all.jsonl", **FIRST, **SECOND))
    assert texts(notes) == parts


def test_recordings_may_be_left_out(learned, notes, record):
    assert "dynamics.yaml" in learned(record(**FIRST), recordings=False)[1]
    assert not (notes / "recordings.jsonl").exists()


def test_an_edit_outlives_new_recordings(learned, notes, record):
    learned(record("one.jsonl", **FIRST))
    file = notes / "dynamics.yaml"
    mine = file.read_text(encoding="utf-8").replace("  add_note:\n", "  add_note:   # as it is\n")
    file.write_text(mine, encoding="utf-8")
    lesson, _ = learned(record("two.jsonl", **SECOND))
    assert lesson.filing.standing["add_note"] == "yours"
    assert "  add_note:   # as it is\n" in file.read_text(encoding="utf-8")


def test_an_edited_world_is_kept_and_used(learned, notes, record):
    name = learned(record(**FIRST))[0].dynamics.tools["get_note"].collection
    mine = {"collections": {name: [{"id": "N77", "text": "mine"}]}}
    (notes / "world.json").write_text(json.dumps(mine), encoding="utf-8")
    lesson, _ = learned()
    world = json.loads((notes / "world.json").read_text(encoding="utf-8"))
    assert world["collections"][name][0] == {"id": "N77", "text": "mine"}
    assert any(f"{name} is yours: 1 entity kept" in finding for finding in lesson.findings)


@pytest.mark.parametrize("text", ["tools: [", "tools:\n  add_note: {effect: fly}\n"])
def test_a_broken_file_of_rules_is_refused_and_left_alone(learned, notes, record, text):
    (notes / "dynamics.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(DynamicsError, match=r"dynamics\.yaml"):
        learned(record(**FIRST))
    assert (notes / "dynamics.yaml").read_text(encoding="utf-8") == text


def test_a_broken_world_or_recording_beside_the_rules_is_refused(learned, notes, record):
    (notes / "world.json").write_text('{"collections": 3}', encoding="utf-8")
    with pytest.raises(WorldError, match=r"world\.json"):
        learned(record(**FIRST))
    (notes / "world.json").unlink()
    (notes / "recordings.jsonl").write_text('{"tool": 3}\n', encoding="utf-8")
    with pytest.raises(FixtureError, match=r"recordings\.jsonl:1: tool"):
        learned(record(**FIRST))


def test_there_must_be_something_to_learn_from(learned, notes, tmp_path):
    with pytest.raises(FixtureError, match="hold no call of a tool"):
        learned()
    other = tmp_path / "other.jsonl"
    other.write_text('{"tool": "x", "arguments": {}, "result": 1}\n', encoding="utf-8")
    with pytest.raises(FixtureError, match="has none of the tools that were recorded \\('x'\\)"):
        learned(other)


def test_calls_of_other_tools_are_left_out_and_told_of(learned, record):
    path = record(**FIRST)
    with path.open("a", encoding="utf-8") as file:
        file.write('{"tool": "x", "arguments": {}, "result": 1}\n')
    assert learned(path)[0].findings == ("1 call left out: notes has no 'x'",)


def test_a_write_that_fails_leaves_everything_as_it_was(learned, notes, record, monkeypatch):
    learned(record("one.jsonl", **FIRST))
    before = texts(notes)
    lesson, _ = learned(record("two.jsonl", **SECOND), write=False)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("envace_sdk.world.mine.folder._says_the_same", interrupted)
    with pytest.raises(KeyboardInterrupt):
        lesson.write()
    assert texts(notes) == before


@pytest.mark.parametrize("at", [1, 4, 6, 9])
def test_learning_that_is_interrupted_leaves_everything_as_it_was_and_can_be_done_again(learned, notes, record, at):
    learned(record("one.jsonl", **FIRST))
    more = record("two.jsonl", **SECOND)
    before, steps = texts(notes), []

    def told(*step):
        steps.append(step)
        if len(steps) == at:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learned(more, progress=told)
    assert texts(notes) == before
    learned(more)
    again = texts(notes)
    for name in ("dynamics.yaml", "recordings.jsonl"):
        (notes / name).unlink()
    learned(record("one.jsonl", **FIRST))
    learned(more)
    assert texts(notes) == again


def test_secrets_are_not_in_any_file(learned, notes, tmp_path):
    path = tmp_path / "secret.jsonl"
    lines = [
        {"episode": f"s{n}", "tool": "add_note", "arguments": {"text": "x", "password": "hunter2"}, "result": {"id": n}}
        for n in range(4)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    learned(path)
    assert not any(b"hunter2" in data for data in texts(notes).values())
    for name in ("recordings.jsonl", "dynamics.yaml"):
        (notes / name).unlink()
    learned(path, redacted=False)
    assert b"hunter2" in texts(notes)["recordings.jsonl"]


def test_progress_is_told(learned, record):
    told = []
    learned(record(**FIRST), progress=lambda *said: told.append(said))
    assert ("trying the rules", 0, 3) in told
