from examined import episode, toolset

from envace_sdk.evaluate.roles import Roles


def roles(tools, *episodes):
    found = Roles(tools, episodes)
    return {tool.name: found.of(tool.name) for tool in tools}


def test_hints_and_names_tell_where_no_recording_does():
    tools = toolset(
        "add_note",
        "get_note",
        spin={"annotations": {"readOnlyHint": True}},
        frob={"annotations": {"readOnlyHint": False}},
    )
    assert roles(tools) == {"add_note": "create", "get_note": "read", "spin": "read", "frob": "write"}


def test_a_tool_between_two_different_answers_to_equal_calls_writes():
    calls = [("peek", {}, {"n": 1}), ("peek", {}, {"n": 1}), ("frob", {}, "done"), ("peek", {}, {"n": 2})]
    assert roles(toolset("peek", "frob"), episode("a", *calls)) == {"peek": "unknown", "frob": "write"}


def test_a_tool_that_answers_differently_twice_in_a_row_writes():
    calls = [("tick", {}, {"n": 1}), ("tick", {}, {"n": 2}), ("tick", {}, {"n": 3})]
    assert roles(toolset("tick"), episode("a", *calls)) == {"tick": "write"}


def test_a_failed_call_is_no_suspect():
    calls = [
        ("peek", {}, {"n": 1}),
        ("peek", {}, {"n": 1}),
        ("frob", {}, "no", True),
        ("mop", {}, "ok"),
        ("peek", {}, {"n": 2}),
    ]
    assert roles(toolset("peek", "frob", "mop"), episode("a", *calls))["frob"] == "unknown"


def test_among_several_suspects_the_one_that_accounts_for_most_writes():
    peek = ("peek", {}, {"n": 1})
    first = episode("a", peek, peek, ("frob", {}, "ok"), ("look", {}, "x"), ("peek", {}, {"n": 2}))
    second = episode("b", peek, ("frob", {}, "ok"), ("spy", {}, "x"), ("peek", {}, {"n": 2}))
    third = episode("c", peek, ("look", {}, "x"), ("spy", {}, "x"), peek)
    found = roles(toolset("peek", "frob", "look", "spy"), first, second, third)
    assert found["frob"] == "write"
    assert (found["look"], found["spy"]) == ("unknown", "unknown")


def test_a_tool_that_never_makes_a_difference_reads():
    peek = ("peek", {}, {"n": 1})
    calls = [peek, peek, ("look", {}, "x"), peek, ("look", {}, "y"), peek]
    assert roles(toolset("peek", "look"), episode("a", *calls))["look"] == "read"


def test_recordings_outweigh_what_a_name_suggests():
    peek = ("peek", {}, {"n": 1})
    calls = [
        ("get_note", {"x": 1}, "taken"),
        ("peek", {}, {"n": 2}),
        ("get_note", {"x": 2}, "taken"),
        ("peek", {}, {"n": 3}),
    ]
    tools = toolset("peek", "get_note", "add_note")
    assert roles(tools)["get_note"] == "read"
    assert roles(tools, episode("a", peek, peek, *calls))["get_note"] == "write"
