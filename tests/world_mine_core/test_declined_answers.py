"""Answers that say what is wrong with a call, and are no errors."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mined_calls import answered, recorded, toolset
from small_episodes import Failed, episodes

from envace_sdk.world.mine import learn
from envace_sdk.world.mine.declined import note_declined


def declined(*answers, tool="do"):
    """Which of the answers of one tool are taken to decline."""
    found = episodes([(tool, {"n": n}, answer) for n, answer in enumerate(answers)])
    note_declined(found)
    steps = [step for episode in found for step in episode.steps]
    assert not any(step.ok and step.is_declined for step in steps)
    return [step.is_declined for step in steps]


FINE = [{"id": 1}, "done", [1, 2]]


@pytest.mark.parametrize(
    "answer",
    [
        {"error": "Please log in"},
        {"Error": "Please log in", "code": 401},
        [{"error": "Please log in"}],
        {"exception": "KeyError: 'x'"},
        "Error: no such file",
        "  failed to open it",
        "Traceback (most recent call last):\n  File",
    ],
)
def test_what_says_that_something_is_wrong_declines(answer):
    assert declined(answer, answer, *FINE) == [True, True, False, False, False]


@pytest.mark.parametrize(
    "answer",
    [
        {"error": ""},
        {"error": None},
        {"error": {"code": 1}},
        {"errors": []},
        {"error": "x", "id": 1, "name": "y"},
        [{"error": "x"}, {"error": "y"}],
        [[{"error": "x"}]],
        "errors: 0",
        "No error was found",
        "",
        None,
    ],
)
def test_what_only_speaks_of_errors_does_not(answer):
    assert not any(declined(answer, answer, *FINE))


def test_once_is_not_enough():
    assert not any(declined({"error": "x"}, *FINE))


def test_a_tool_whose_answers_mostly_look_so_means_something_else():
    assert not any(declined(*[{"error": "x"}] * 3, {"id": 1}))
    assert any(declined(*[{"error": "x"}] * 3, *FINE))


def test_each_tool_is_judged_by_its_own_answers():
    found = episodes(
        [("log", {}, {"error": "x"})] * 4 + [("do", {}, {"error": "x"})] * 2 + [("do", {}, answer) for answer in FINE]
    )
    note_declined(found)
    assert {step.tool for step in found[0].steps if step.is_declined} == {"do"}


def test_errors_stay_errors():
    found = episodes([("do", {}, Failed("Error: no"))] * 3 + [("do", {}, answer) for answer in FINE])
    note_declined(found)
    assert [step.ok for step in found[0].steps] == [False] * 3 + [True] * 3
    assert not any(step.is_declined for step in found[0].steps)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["", "error", "Error: x", "failure \n", "é"]),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.sampled_from(["error", "Errors", "id"]), part),
    max_leaves=6,
)


@given(st.lists(ANYTHING, max_size=12))
def test_whatever_is_answered_at_most_half_of_it_declines(answers):
    assert 2 * sum(declined(*answers)) <= len(answers)


class Locker:
    """Boxes for people who are logged in; it never fails, but says what is wrong."""

    TOOLS = toolset(
        log_in={"user": "string"},
        log_out={},
        put_box={"label": "string", "size": "integer"},
        get_box={"box_id": "string"},
    )

    def __init__(self):
        self.user, self.boxes = None, {}

    def wish(self, random):
        tool = random.choice(["log_in", "log_in", "log_out", "put_box", "put_box", "put_box", "get_box", "get_box"])
        boxes = [*self.boxes, *self.boxes, f"B-{random.randint(800, 999)}"]
        return tool, {
            "log_in": {"user": random.choice(["ada", "bo"])},
            "log_out": {},
            "put_box": {
                "label": f"{random.choice(['red', 'blue'])} {random.randint(1, 400)}",
                "size": random.randint(1, 9),
            },
            "get_box": {"box_id": random.choice(boxes)},
        }[tool]

    def log_in(self, user):
        self.user = user
        return {"message": f"Welcome {user}"}

    def log_out(self):
        self.user = None
        return {"message": "Bye"}

    def put_box(self, label, size):
        if self.user is None:
            return {"error": "Please log in first."}
        key = f"B-{len(self.boxes) + 100}"
        self.boxes[key] = {"box_id": key, "label": label, "size": size}
        return dict(self.boxes[key])

    def get_box(self, box_id):
        return dict(self.boxes[box_id]) if box_id in self.boxes else {"error": f"There is no box '{box_id}'."}


@cache
def locker():
    return learn(Locker.TOOLS, recorded(Locker, episodes=14, length=30))


def test_they_are_learned_as_requirements_that_are_answered_instead_of_refused():
    asked = {name: rule.requires for name, rule in locker().dynamics.tools.items()}
    [login], [there] = asked["put_box"], asked["get_box"]
    assert (login.status, login.error) == ("success", '{{"error": "Please log in first."}}')
    assert (there.status, there.that) == ("success", "entity != null")


def test_fresh_calls_are_declined_as_the_server_does_and_errors_there_are_none():
    result = locker()
    told = [
        (said, got)
        for tool, _, said, got in answered(result.dynamics, result.start, Locker.TOOLS, Locker, episodes=6, length=30)
        if tool in {"put_box", "get_box"}
    ]
    declining = [(said, got) for said, got in told if "error" in said[1]]
    assert len(declining) > 15
    assert sum(said == got for said, got in told) > 0.95 * len(told)
    assert sum(said == got for said, got in declining) > 0.95 * len(declining)
