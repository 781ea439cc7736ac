"""`registers` and `chosen_registers`: values that a session holds."""

from __future__ import annotations

import posixpath
from random import Random

from envace_sdk.json import UNSET
from envace_sdk.world.mine.conditions import (
    Event,
    Update,
    after,
    chosen_registers,
    follow,
    hidden_flags,
    registers,
)


def shell(random: Random, length: int = 14) -> list[Event]:
    """A current directory, whose beginning differs, and which only `pwd` shows."""
    here, events = random.choice(["/home", "/srv/data", "/work"]), []
    for _ in range(length):
        match random.choice(["cd", "cd", "pwd", "ls"]):
            case "cd":
                folder = random.choice(["a", "b", "..", "docs"])
                if folder == ".." and here.count("/") < 2:
                    events.append(Event("cd", {"folder": folder}, True, "at the root"))
                    continue
                here = posixpath.normpath(posixpath.join(here, folder))
                events.append(Event("cd", {"folder": folder}, answer={}))
            case "pwd":
                events.append(Event("pwd", {}, answer={"directory": here}))
            case tool:
                events.append(Event(tool, {"all": True}, answer={"files": ["x", "y"]}))
    return events


def posts(random: Random, length: int = 16) -> list[Event]:
    """Someone logs in, and what is made bears the name."""
    user, events = None, []
    for number in range(length):
        match random.choice(["login", "make", "make", "look", "logout"]):
            case "login":
                name, password = random.choice(["ann", "bo", "cy"]), random.choice(["", "secret", "hidden"])
                user = name if password else user
                events.append(Event("login", {"name": name, "password": password}, answer={"ok": bool(password)}))
            case "logout":
                user = None
                events.append(Event("logout", {}, answer={}))
            case "make":
                if user is None:
                    events.append(Event("make", {"title": "x"}, True, "log in first"))
                else:
                    answer = {"id": number, "by": user}
                    events.append(Event("make", {"title": random.choice(["x", "y"])}, answer=answer))
            case tool:
                events.append(Event(tool, {}, answer={"n": random.randint(1, 5)}))
    return events


def test_a_directory_is_followed_through_derived_changes():
    random = Random(1)
    (found,) = registers([shell(random) for _ in range(30)])
    assert found.name == "directory"
    assert found.updates == (Update("cd", "", "joinpath(session.directory, args.folder)"),)
    assert found.initially is UNSET
    assert found.wrong == 0
    assert after(found, "/a/b", Event("cd", {"folder": ".."})) == "/a"
    assert after(found, "/a/b", Event("cd", {"folder": ".."}, True, "at the root")) == "/a/b"


def test_what_is_first_seen_was_so_from_the_beginning():
    random = Random(1)
    (found,) = registers([shell(random) for _ in range(30)])
    episode = [
        Event("ls", {}),
        Event("pwd", {}, answer={"directory": "/x"}),
        Event("cd", {"folder": "y"}, answer={}),
        Event("ls", {}),
    ]
    assert [state["directory"] for state in follow(episode, registers=[found])] == ["/x", "/x", "/x", "/x/y", "/x/y"]
    unseen = follow(episode[2:], registers=[found])
    assert [state["directory"] for state in unseen] == [UNSET, UNSET, UNSET]


def test_a_user_is_set_by_a_login_that_succeeds_and_cleared_by_a_logout():
    random = Random(2)
    episodes = [posts(random) for _ in range(40)]
    (found,) = registers(episodes, hidden_flags(episodes))
    assert found.name == "by"
    assert set(found.updates) == {
        Update("login", "args.password != ''", "args.name"),
        Update("logout", "", "null"),
    }
    assert (found.initially, found.cleared) == (None, True)


def test_a_sum_is_followed():
    random = Random(3)
    episodes = []
    for _ in range(25):
        total, events = 0, []
        for _ in range(14):
            match random.choice(["add", "take", "total", "look"]):
                case "add":
                    price = random.randint(1, 30)
                    total += price
                    events.append(Event("add", {"price": price}))
                case "take":
                    amount = random.randint(1, 9)
                    total -= amount
                    events.append(Event("take", {"amount": amount}))
                case "total":
                    events.append(Event("total", {}, answer={"sum": total}))
                case tool:
                    events.append(Event(tool, {}))
        episodes.append(events)
    (found,) = registers(episodes)
    assert set(found.updates) == {
        Update("add", "", "session.sum + args.price"),
        Update("take", "", "session.sum - args.amount"),
    }
    assert found.initially == 0


def test_what_belongs_to_an_entity_is_no_register():
    random = Random(4)
    episodes = []
    for _ in range(30):
        owners, events = {}, []
        for _ in range(14):
            key = random.choice(["k1", "k2", "k3"])
            if random.random() < 0.5 or key not in owners:
                owners[key] = random.choice(["ann", "bo", "cy"])
                events.append(Event("assign", {"key": key, "owner": owners[key]}))
            else:
                events.append(Event("read", {"key": key}, answer={"key": key, "owner": owners[key]}))
        episodes.append(events)
    assert registers(episodes) == []


def test_values_that_vary_by_chance_are_no_register():
    random = Random(5)
    tools = ["one", "two", "three"]
    episodes = [
        [
            Event(random.choice(tools), {"n": random.randint(1, 9)}, answer={"v": random.randint(1, 9)})
            for _ in range(12)
        ]
        for _ in range(30)
    ]
    assert registers(episodes) == []


def test_a_choice_that_only_errors_show_is_found():
    random = Random(6)
    episodes = []
    for _ in range(40):
        chosen, events = None, []
        for _ in range(12):
            match random.choice(["choose", "open", "open", "look"]):
                case "choose":
                    chosen = random.choice(["north", "south", "east"])
                    events.append(Event("choose", {"door": chosen}))
                case "open":
                    door = random.choice(["north", "south", "east"])
                    failed = door != chosen
                    events.append(Event("open", {"name": door}, failed, "not chosen" if failed else ""))
                case tool:
                    events.append(Event(tool, {}))
        episodes.append(events)
    found = chosen_registers(episodes)
    assert [(one.name, one.updates) for one in found] == [("door", (Update("choose", "", "args.door"),))]
    assert found[0].initially is None


def test_the_same_episodes_give_the_same_registers():
    random = Random(7)
    episodes = [posts(random) for _ in range(20)]
    assert registers(episodes) == registers(episodes)


def test_no_episodes_hold_nothing():
    assert registers([]) == []
    assert chosen_registers([[]]) == []
