import pytest
from examined import episode, report_on, toolset

from envace_sdk.evaluate import Played
from envace_sdk.tools.model import ToolResult

TOOLS = toolset(
    add_note={"annotations": {"readOnlyHint": False}},
    drop_note={"annotations": {"readOnlyHint": False}},
    get_note={"annotations": {"readOnlyHint": True}},
    list_notes={"annotations": {"readOnlyHint": True}},
)
MILK = {"id": "N-100", "title": "Oat milk"}
STORY = [
    ("list_notes", {}, {"notes": []}),
    ("add_note", {"title": "Oat milk"}, MILK),
    ("get_note", {"id": "N-100"}, MILK),
    ("get_note", {"id": "N-100"}, MILK),
    ("list_notes", {}, {"notes": [MILK]}),
    ("drop_note", {"id": "N-100"}, {"dropped": "N-100"}),
    ("get_note", {"id": "N-100"}, "no note N-100", True),
    ("list_notes", {}, {"notes": []}),
]


def scores(changes=(), story=STORY, **options):
    """The scores of who answers as recorded, but for some calls by their place."""
    held_out = [episode("a", *story)]
    answers = dict(changes)
    report = report_on(
        held_out, lambda fixture, call: answers.get(fixture.position, fixture.result), tools=TOOLS, **options
    )
    return report.overall


def test_who_answers_as_recorded_is_consistent_and_was_asked_everything():
    found = scores()
    assert (found.repeated_reads, found.read_after_write, found.created, found.gone) == (1.0, 1.0, 1.0, 1.0)
    assert found.asked["repeated_reads"] == 1
    assert found.asked["gone"] == 2
    assert found.asked["created"] == 3
    assert found.asked["read_after_write"] == 4


def test_equal_reads_must_be_answered_alike():
    assert scores({3: {**MILK, "title": "Tea"}}).repeated_reads == 0.0
    assert scores({2: {**MILK, "title": "Tea"}, 3: {**MILK, "title": "Tea"}}).repeated_reads == 1.0


def test_reads_that_the_real_environment_answered_differently_need_not_be_answered_alike():
    story = [("get_note", {"id": "N-1"}, "", True), ("get_note", {"id": "N-1"}, "[]", True)]
    assert scores(story=story).repeated_reads is None


REFUSED = [
    ("get_note", {"id": "N-100"}, MILK),
    ("drop_note", {"id": "N-100"}, "locked", True),
    ("get_note", {"id": "N-100"}, MILK),
    ("drop_note", {"id": "N-100"}, "locked", True),
]


def test_what_failed_in_between_is_no_write():
    tea = {**MILK, "title": "Tea"}
    assert scores(story=REFUSED).repeated_reads == 1.0
    assert scores({2: tea}, story=REFUSED).repeated_reads == 0.5
    assert scores({3: ToolResult.text("no note", is_error=True)}, story=REFUSED).repeated_reads == 0.5


def test_who_has_written_there_all_the_same_is_not_asked_for_the_answer_before_it():
    gone, tea = {"dropped": "N-100"}, {**MILK, "title": "Tea"}
    found = scores({1: gone, 2: tea, 3: gone}, story=REFUSED)
    assert (found.repeated_reads, found.asked["repeated_reads"]) == (None, 0)
    found = scores({2: tea, 3: gone}, story=REFUSED)
    assert (found.repeated_reads, found.asked["repeated_reads"]) == (0.0, 2)


def test_two_misses_are_not_alike():
    assert scores({2: Played.miss("?"), 3: Played.miss("?")}).repeated_reads == 0.0


def test_a_read_must_show_what_was_written():
    found = scores({2: {"id": "N-100", "title": "Tea"}, 3: {"id": "N-100", "title": "Tea"}})
    assert found.read_after_write == 0.5
    assert found.gone == 1.0


def test_what_was_created_must_be_found_and_listed():
    missing = "no note N-100"
    assert scores({4: {"notes": []}}).created == pytest.approx(2 / 3)
    failed = ToolResult.text(missing, is_error=True)
    assert scores({2: failed, 3: failed}).created == pytest.approx(1 / 3)


def test_what_was_deleted_must_be_gone():
    assert scores({6: MILK}).gone == pytest.approx(1 / 2)
    assert scores({7: {"notes": [MILK]}}).gone == pytest.approx(1 / 2)


def test_what_was_there_from_the_start_is_not_counted_as_created():
    story = [
        ("list_notes", {}, {"notes": [MILK]}),
        ("get_note", {"id": "N-100"}, MILK),
        ("get_note", {"id": "N-1"}, "no note N-1", True),
    ]
    assert scores(story=story).created is None


def test_a_thing_of_other_episodes_that_a_write_names_first_is_not_taken_for_new():
    known = [episode("known", ("list_notes", {}, {"notes": [MILK]}))]
    story = [("drop_note", {"id": "N-100"}, {"dropped": "N-100"}), ("get_note", {"id": "N-100"}, "no note N-100", True)]
    again = [*story, ("add_note", {"id": "N-100"}, {"ok": 1}), ("get_note", {"id": "N-100"}, {"id": "N-100"})]
    assert scores(story=again, known=known).created is None
