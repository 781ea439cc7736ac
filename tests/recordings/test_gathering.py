import json

import pytest

from envace_sdk.recordings import Recording, gather, read_recording


def plain(path, *episodes):
    """A file of calls; an episode is its name and its calls, each a number that is the argument and the answer."""
    lines = [
        {"episode": name, "tool": "t", "arguments": {"n": n}, "result": {"n": n}, "is_error": False}
        for name, *calls in episodes
        for n in calls
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return read_recording(path)


def native(path, *episodes):
    lines = [{"kind": "header", "format": "envace-recording", "version": 2}]
    for name, *calls in episodes:
        lines.append({"kind": "session", "id": name, "at": "2026-05-01T10:00:00Z"})
        lines += [
            {
                "kind": "exchange",
                "session": name,
                "at": 1.0,
                "took": 0.1,
                "method": "tools/call",
                "params": {"name": "t", "arguments": {"n": n}},
                "result": {
                    "content": [{"type": "text", "text": json.dumps({"n": n})}],
                    "structuredContent": {"n": n},
                    "isError": False,
                },
            }
            for n in calls
        ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return read_recording(path)


def shown(recording):
    return {name: [call.arguments["n"] for call in calls] for name, calls in recording.episodes.items()}


def test_new_episodes_are_added_and_known_ones_are_not(tmp_path):
    held = plain(tmp_path / "held.jsonl", ("a", 1, 2), ("b", 3))
    more = plain(tmp_path / "more.jsonl", ("x", 1, 2), ("y", 4))
    found = gather([held], [more])
    assert (found.added, found.continued, found.known) == (1, 0, 1)
    assert shown(found.recording) == {"a": [1, 2], "b": [3], "y": [4]}


def test_equal_episodes_of_one_file_are_several_observations(tmp_path):
    twice = plain(tmp_path / "twice.jsonl", ("a", 1), ("b", 1))
    once = plain(tmp_path / "once.jsonl", ("c", 1))
    assert shown(gather([], [twice]).recording) == {"a": [1], "b": [1]}
    assert shown(gather([once], [twice]).recording) == {"c": [1], "b": [1]}
    assert gather([twice], [twice]).added == 0


def test_an_episode_that_goes_on_takes_the_place_of_its_beginning(tmp_path):
    held = native(tmp_path / "held.jsonl", ("s1", 1, 2), ("s2", 9))
    more = native(tmp_path / "more.jsonl", ("s1", 1, 2, 3))
    found = gather([held], [more])
    assert (found.added, found.continued) == (1, 1)
    assert shown(found.recording) == {"s2": [9], "s1": [1, 2, 3]}
    assert gather([more], [held]).known == 1


def test_another_episode_of_the_same_name_is_renamed_and_still_known_later(tmp_path):
    held = plain(tmp_path / "held.jsonl", ("default", 1))
    more = plain(tmp_path / "more.jsonl", ("default", 2))
    first = gather([held], [more])
    assert shown(first.recording) == {"default": [1], "more/default": [2]}
    first.save(tmp_path / "all.jsonl")
    saved = read_recording(tmp_path / "all.jsonl")
    assert gather([saved], [more]).added == 0
    longer = plain(tmp_path / "more.jsonl", ("default", 2, 3))
    assert shown(gather([saved], [longer]).recording) == {"default": [1], "more/default": [2, 3]}


@pytest.mark.parametrize("make", [plain, native])
def test_what_is_saved_is_known_and_the_same_bytes(tmp_path, make):
    file = make(tmp_path / "file.jsonl", ("a", 1, 2), ("b", 3))
    gather([], [file]).save(tmp_path / "one.jsonl")
    again = gather([read_recording(tmp_path / "one.jsonl")], [file])
    assert (again.added, again.known) == (0, 2)
    again.save(tmp_path / "two.jsonl")
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()


def test_calls_added_to_a_recorders_file_stay_the_calls_they_were(tmp_path):
    both = gather([plain(tmp_path / "plain.jsonl", ("a", 1))], [native(tmp_path / "native.jsonl", ("b", 2), ("c", 1))])
    assert shown(both.recording) == {"a": [1], "b": [2]}
    both.save(tmp_path / "both.jsonl")
    assert shown(Recording.load(tmp_path / "both.jsonl")) == {"a": [1], "b": [2]}
    assert read_recording(tmp_path / "both.jsonl").header.version == 2


def test_secrets_are_taken_out_and_do_not_make_an_episode_another(tmp_path):
    path = tmp_path / "secret.jsonl"
    line = {"tool": "login", "arguments": {"user": "ana", "password": "hunter2"}, "result": "ok"}
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    file = read_recording(path)
    gather([], [file]).save(tmp_path / "out.jsonl")
    assert "hunter2" not in (tmp_path / "out.jsonl").read_text(encoding="utf-8")
    assert gather([read_recording(tmp_path / "out.jsonl")], [file]).known == 1
    gather([], [file], redacted=False).save(tmp_path / "all.jsonl")
    assert "hunter2" in (tmp_path / "all.jsonl").read_text(encoding="utf-8")


def test_what_headers_say_of_matching_and_secrets_is_kept(tmp_path):
    path = tmp_path / "headed.jsonl"
    native(path, ("a", 1))
    lines = path.read_text(encoding="utf-8").splitlines()
    header = {**json.loads(lines[0]), "ignore": ["trace"], "redact_keys": ["pin"], "redact_patterns": ["x[0-9]+"]}
    path.write_text("\n".join([json.dumps(header), *lines[1:], ""]), encoding="utf-8")
    gather([], [read_recording(path)]).save(tmp_path / "out.jsonl")
    made = read_recording(tmp_path / "out.jsonl").header
    assert (made.ignore, made.redact_keys, made.redact_patterns) == (("trace",), ("pin",), ("x[0-9]+",))
