"""`hidden_flags`: truths of a session that errors and answers follow from."""

from __future__ import annotations

from random import Random

from envace_sdk.world.mine.conditions import Event, Trigger, follow, hidden_flags

LOGIN = "not logged in"


def session(random: Random, length: int = 14, begins: bool = False) -> list[Event]:
    """A server on which posting needs a login, and logging in a password."""
    inside, events = begins, []
    for _ in range(length):
        match random.choice(["login", "logout", "post", "post", "look", "status"]):
            case "login":
                password = random.choice(["", "secret"])
                inside = inside or bool(password)
                events.append(Event("login", {"name": "ann", "password": password}, answer={"ok": bool(password)}))
            case "logout":
                inside = False
                events.append(Event("logout", {}, answer="bye"))
            case "post" if random.random() < 0.15:
                events.append(Event("post", {"text": ""}, True, "empty text"))
            case "post":
                text = random.choice(["a", "b", "c"])
                failed = not inside
                events.append(Event("post", {"text": text}, failed, LOGIN if failed else ""))
            case "status":
                events.append(Event("status", {}, answer={"inside": inside}))
            case tool:
                events.append(Event(tool, {"page": random.randint(1, 9)}, answer={"n": random.randint(1, 9)}))
    return events


def only(tools: set[str], events: list[Event]) -> list[Event]:
    return [event for event in events if event.tool in tools]


def test_a_login_is_found_from_the_errors_of_what_needs_it():
    random = Random(1)
    episodes = [only({"login", "logout", "post", "look"}, session(random)) for _ in range(30)]
    (flag,) = hidden_flags(episodes)
    assert flag.set_by == (Trigger("login", "args.password != ''"),)
    assert flag.cleared_by == (Trigger("logout", ""),)
    assert (flag.initially, flag.wrong) == (False, 0)
    assert [reading.what for reading in flag.shown_by] == [LOGIN]


def test_an_answer_that_shows_the_flag_names_it():
    random = Random(2)
    (flag,) = hidden_flags([session(random) for _ in range(30)])
    assert flag.name == "inside"
    assert {reading.tool for reading in flag.shown_by} == {"post", "status"}


def test_sessions_may_begin_either_way():
    random = Random(3)
    (flag,) = hidden_flags([session(random, begins=number % 2 == 0) for number in range(40)])
    assert flag.initially is None
    assert flag.set_by == (Trigger("login", "args.password != ''"),)


def test_an_error_that_happens_while_the_flag_is_true_is_the_same_flag_inverted():
    random = Random(4)
    episodes = []
    for _ in range(30):
        running, events = False, []
        for _ in range(12):
            tool = random.choice(["start", "stop", "look"])
            if tool == "look":
                events.append(Event("look", {}))
                continue
            failed = running == (tool == "start")
            events.append(Event(tool, {}, failed, f"cannot {tool}" if failed else ""))
            running = running if failed else tool == "start"
        episodes.append(events)
    (flag,) = hidden_flags(episodes)
    assert {reading.tool: reading.inverted for reading in flag.shown_by}["start"] != {
        reading.tool: reading.inverted for reading in flag.shown_by
    }["stop"]
    assert {trigger.tool for trigger in (*flag.set_by, *flag.cleared_by)} == {"start", "stop"}
    assert flag.wrong == 0


def test_errors_that_happen_by_chance_are_no_flag():
    random = Random(5)
    episodes = []
    for _ in range(40):
        events = []
        for _ in range(12):
            failed = random.random() < 0.3
            tool = random.choice(["one", "two", "three"])
            events.append(Event(tool, {"n": random.randint(1, 3)}, failed, "bad luck" if failed else ""))
        episodes.append(events)
    assert hidden_flags(episodes) == []


def test_following_says_what_holds_before_each_call():
    random = Random(1)
    (flag,) = hidden_flags([session(random) for _ in range(30)])
    episode = [
        Event("post", {"text": "a"}, True, LOGIN),
        Event("login", {"name": "ann", "password": "secret"}),
        Event("look", {}),
        Event("logout", {}),
    ]
    assert [state[flag.name] for state in follow(episode, [flag])] == [False, False, True, True, False]


def test_no_episodes_and_empty_ones_hide_nothing():
    assert hidden_flags([]) == []
    assert hidden_flags([[], []]) == []
