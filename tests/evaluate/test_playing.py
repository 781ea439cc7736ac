import asyncio
import json

from examined import Scripted, episode, exam_of, report_on, toolset
from notes_toolset import DYNAMICS, TOOLS

from envace_sdk.evaluate import Rehearsing, examine, fidelity
from envace_sdk.rehearse import Environment
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.dynamics import Dynamics

STORY = [
    ("add_note", {"title": "Tea"}, {"id": "N-57", "title": "Tea", "made": "2026-05-06T07:08:09Z"}),
    ("get_note", {"id": "N-57"}, {"id": "N-57", "title": "Tea", "made": "2026-05-06T07:08:09Z"}),
    ("say", {"about": "N-57"}, "Note N-57 is about Tea."),
]


def own_names(fixture, call):
    """Answers as recorded, in a world where the note is called X-1."""
    return json.loads(json.dumps(fixture.result.value()).replace("N-57", "X-1").replace("2026-05-06", "2026-01-01"))


def test_in_the_closed_loop_a_player_may_use_the_names_it_made_up():
    held_out = [episode("a", *STORY)]
    player = Scripted(held_out, own_names)
    report = asyncio.run(examine(exam_of(held_out), [player]))[0]
    assert player.asked[1].arguments == {"id": "X-1"}
    assert report.overall.right == 1.0
    assert report.renamed == 2


def test_in_the_open_loop_names_are_the_recorded_ones_and_the_player_is_told_what_was_true():
    held_out = [episode("a", *STORY)]
    player = Scripted(held_out, own_names)
    report = asyncio.run(examine(exam_of(held_out), [player], loop="open"))[0]
    assert player.asked[1].arguments == {"id": "N-57"}
    assert [result for _, result in player.observed] == [fixture.result for fixture in held_out[0].calls]
    assert report.overall.right < 1.0


def test_what_a_player_makes_up_about_the_initial_state_is_not_taken_for_another_name():
    held_out = [
        episode("a", ("get_note", {"id": 1}, {"title": "Bread roll"}), ("get_note", {"id": 1}, {"title": "Bread roll"}))
    ]
    report = report_on(held_out, lambda fixture, call: {"title": "Something else"})
    assert report.renamed == 0
    assert report.overall.entailed == 0.0


def environment(**options):
    return Environment(Toolset.from_definitions(TOOLS, name="notes"), dynamics=Dynamics.parse(DYNAMICS), **options)


def observed_story(made):
    tea = {"note_id": made, "title": "Tea", "created_at": "2026-01-01T09:00:00Z"}
    return [
        ("list_notes", {}, {"notes": [], "total": 0}),
        ("add_note", {"title": "Tea"}, tea),
        ("read_note", {"note_id": made}, tea),
        ("drop_note", {"note_id": made}, {"note_id": made, "deleted": True}),
        ("list_notes", {}, {"notes": [], "total": 0}),
    ]


def test_an_environment_plays_each_episode_in_a_fresh_world():
    held_out = [episode("a", *observed_story("N-1")), episode("b", *observed_story("N-1"))]
    report = asyncio.run(fidelity(environment(), held_out))
    assert report.overall.right == 1.0
    assert {layer.name for layer in report.layers} == {"dynamics"}


def test_an_environment_goes_on_from_the_recorded_answers_in_the_open_loop():
    report = asyncio.run(fidelity(environment(), [episode("a", *observed_story("N-975"))], loop="open"))
    assert report.overall.status == 1.0
    assert report.tools["read_note"].right == 1.0


def test_a_call_of_a_tool_that_the_environment_lacks_is_a_miss():
    held_out = [episode("a", ("fly", {}, {"up": True}), ("list_notes", {}, {"notes": [], "total": 0}))]
    for loop in ("closed", "open"):
        report = asyncio.run(fidelity(environment(), held_out, loop=loop))
        assert report.overall.missed == 1
        assert report.overall.status == 0.5


def test_calls_can_be_given_instead_of_episodes():
    calls = episode("a", *observed_story("N-1")).calls
    report = asyncio.run(fidelity(Rehearsing(environment()), calls, toolset=toolset("add_note")))
    assert report.overall.calls == 5
