"""Worlds in which much has happened: what they remember stays bounded, and calls stay quick."""

import json
from random import Random

import pytest
from cost import cost
from notes_toolset import Session
from things_desk import TOOLS, Desk, desk_environment, made_up_call, recorded

LOOKING = {"get_thing", "list_things", "greet"}
READ = [{**t, "annotations": {"readOnlyHint": True}} if t["name"] in LOOKING else t for t in TOOLS]


def calls(count):
    random = Random("long")
    desk = Desk(random)
    for _ in range(count):
        name, arguments = made_up_call(random, desk)
        desk(name, arguments)
        yield name, arguments


def remembered(session):
    return {name: text for name, text in session.world.state.history.items() if name.startswith(("rehearse.", "~"))}


@pytest.mark.slow
def test_two_thousand_calls_leave_no_more_behind_than_a_few_hundred():
    environment = desk_environment(recorded(), tools=READ)
    session = Session(environment, environment.world())
    play = calls(2_000)

    def some():
        for _ in range(200):
            name, arguments = next(play)
            session(name, **arguments)

    some()
    early = cost(some)
    for _ in range(7):
        some()
    size = sum(map(len, remembered(session).values()))
    assert len(remembered(session)) < 700
    assert cost(some) < 5 * early
    assert sum(map(len, remembered(session).values())) < 1.2 * size


def test_worlds_of_one_environment_do_not_see_each_other_whatever_the_order_of_their_calls():
    environment = desk_environment(recorded(), tools=READ)
    played = list(calls(40))

    def alone(seed):
        session = Session(environment, environment.world(seed=seed))
        return json.dumps([session(name, **arguments).result.content for name, arguments in played])

    both = [Session(environment, environment.world(f"w{seed}", seed=seed)) for seed in (1, 2)]
    told = [[], []]
    for name, arguments in played:
        for answers, session in zip(told, both, strict=True):
            answers.append(session(name, **arguments).result.content)
    assert [json.dumps(answers) for answers in told] == [alone(1), alone(2)]
