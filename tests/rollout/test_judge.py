"""What a judge remembers, and for how long."""

import asyncio

import pytest
from envace_sdk.training.judge import Judge
from envace_sdk.training.trajectory import Trajectory

from envace_sdk.models import ScriptedModel
from envace_sdk.tasks import Task

CHECKLIST = [{"id": "it", "says": "-", "that": "true"}]
TASK = Task.model_validate({"id": "add", "instruction": "Add a note.", "checklist": CHECKLIST})
HOLDS = '{"reason": "so it is", "holds": true}'
REMEMBERED = "envace_sdk.training.judge._REMEMBERED"


def asked(judge, *questions):
    trajectory = Trajectory("add", 0, "grounded", answers=["Done."])
    return asyncio.run(judge.ask([(TASK, trajectory, question) for question in questions]))


def judge():
    model = ScriptedModel(lambda _: HOLDS)
    return model, Judge(model, retries=0)


@pytest.mark.parametrize("questions", [("old?", "new?"), ("new?", "old?"), ("old?", "new?", "newer?", "old?")])
def test_a_known_answer_is_given_even_where_new_ones_take_its_place(monkeypatch, questions):
    monkeypatch.setattr(REMEMBERED, 1)
    model, own = judge()
    assert asked(own, "old?") == [True]
    assert asked(own, *questions) == [True] * len(questions)
    assert len(model.requests) == len(set(questions)), "what is known is not asked again"


def test_more_questions_than_are_remembered_are_all_answered(monkeypatch):
    monkeypatch.setattr(REMEMBERED, 2)
    model, own = judge()
    assert asked(own, "a?", "b?", "c?", "d?") == [True] * 4
    assert asked(own, "c?", "d?") == [True] * 2
    assert len(model.requests) == 4, "the newest are remembered"
    assert asked(own, "a?") == [True]
    assert len(model.requests) == 5, "the oldest are not"
