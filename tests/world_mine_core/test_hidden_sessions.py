"""What a session holds without showing it."""

from functools import cache
from random import Random

from small_episodes import Failed, episodes

from envace_sdk.world.mine.failures import Failures
from envace_sdk.world.mine.hidden import Change, Hidden, find_hidden


def mailbox(seed, length=16):
    random = Random(seed)
    inside = False
    for _ in range(length):
        match random.choice(["login", "logout", "send", "send", "status"]):
            case "login":
                inside = True
                yield "login", {"name": random.choice(["ann", "bob"])}, "welcome"
            case "logout":
                inside = False
                yield "logout", {}, "bye"
            case "send":
                yield (
                    "send",
                    {"text": f"t{random.randint(1, 99)}"},
                    "sent" if inside else Failed("you are not logged in"),
                )
            case _:
                yield "status", {}, {"inside": inside}


@cache
def found():
    recorded = episodes(*(list(mailbox(seed)) for seed in range(12)))
    return recorded, find_hidden(recorded, Failures(recorded), {})


def test_a_login_that_errors_tell_of_is_found_and_called_what_answers_call_it():
    _, hidden = found()
    assert Change("login", "inside", "", "true") in hidden.changes
    assert Change("logout", "inside", "", "false") in hidden.changes
    assert hidden.start["inside"] is False
    assert hidden.shown["status", "inside"] == "inside"


def test_the_state_is_known_before_and_after_each_call():
    recorded, hidden = found()
    for episode in recorded:
        for step in episode.steps:
            if step.tool == "send":
                assert hidden.before(step)["inside"] is step.ok
            if step.tool in {"login", "logout"}:
                assert hidden.after(step)["inside"] is (step.tool == "login")


def test_what_is_explained_already_is_left_alone():
    recorded, _ = found()
    hidden = find_hidden(recorded, Failures(recorded), {("status", "inside"): "inside"})
    assert "inside" not in hidden.start
    assert not any(change.field == "inside" for change in hidden.changes)


def test_fields_that_others_follow_are_forgotten():
    recorded = episodes(*(list(mailbox(seed)) for seed in range(12)))
    hidden = find_hidden(recorded, Failures(recorded), {})
    hidden.forget({"inside"})
    assert "inside" not in hidden.start
    assert "inside" not in hidden.shown.values()
    assert not any(change.field == "inside" for change in hidden.changes)
    assert all("inside" not in state for states in hidden.states.values() for state in states)


def test_of_unknown_episodes_nothing_is_known():
    (episode,) = episodes([("look", {}, "nothing")])
    assert Hidden().before(episode.steps[0]) == Hidden().after(episode.steps[0]) == {}


def test_calls_that_fail_by_chance_tell_of_no_flag():
    def session(seed):
        random = Random(seed)
        for _ in range(16):
            failed = random.random() < 0.5
            yield random.choice(["send", "look", "login"]), {}, Failed("bad luck") if failed else "fine"

    recorded = episodes(*(list(session(seed)) for seed in range(12)))
    assert find_hidden(recorded, Failures(recorded), {}).changes == []
