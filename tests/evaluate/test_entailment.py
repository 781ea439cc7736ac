import pytest
from examined import episode, exam_of


def kinds(calls, known=(), others=()):
    """By path, the kinds of the leaves of the last answer of an episode."""
    held_out = episode("held out", *calls)
    *_, last = exam_of([held_out, *others], known).questions(held_out)
    return dict(last.kinds)


def kind(calls, path, known=(), others=()):
    return kinds(calls, known, others)[path]


def test_an_answer_that_repeats_its_arguments_is_entailed_by_them():
    found = kinds([("add", {"title": "Oat milk", "count": 2}, {"title": "Oat milk", "count": 2, "id": "N-57"})])
    assert found == {"/title": "entailed", "/count": "entailed", "/id": "free"}


def test_a_boolean_is_given_under_the_same_name():
    assert kinds([("set", {"loud": True}, {"loud": True, "dark": True})]) == {"/loud": "entailed", "/dark": "free"}


def test_a_small_number_is_given_only_under_the_same_name():
    assert kind([("add", {"count": 7}, {"rank": 7, "x": "y"})], "/rank") == "free"


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("Ada Lovelace", "ada lovelace"),
        ("5012", 5012),
        ("first line\nsecond line", "second line"),
        ("/srv/files/plan.txt", "plan.txt"),
        ("/srv/files/plan.txt", "/srv/files"),
        ("ada@example.org", "example.org"),
        ("2026-03-04T05:06:07Z", "2026-03-04"),
        ("red, green, blue", "green"),
    ],
)
def test_a_listed_transform_of_an_argument_is_entailed(told, shown):
    assert kind([("add", {"given": told}, {"made": shown, "other": 1})], "/made") == "entailed"


def test_what_an_earlier_answer_showed_is_entailed_and_what_a_later_one_shows_is_not():
    calls = [("add", {}, {"id": "N-57", "x": 1}), ("list", {}, {"ids": ["N-57", "N-58"]})]
    assert kinds(calls) == {"/ids/0": "entailed", "/ids/1": "free"}


def test_what_a_fixture_shows_of_something_else_entails_nothing():
    known = [episode("known", ("get", {"id": "N-1"}, {"id": "N-1", "title": "Bread"}))]
    assert kind([("get", {"id": "N-2"}, {"id": "N-2", "title": "Bread"})], "/title", known) == "free"


def test_what_a_fixture_shows_of_the_same_thing_is_entailed():
    known = [episode("known", ("list", {}, {"notes": [{"id": "N-100", "title": "Bread", "done": True}]}))]
    found = kinds([("get", {"id": "N-100"}, {"id": "N-100", "title": "Bread", "done": True, "size": 3})], known)
    assert found == {"/id": "entailed", "/title": "entailed", "/done": "entailed", "/size": "free"}


def test_a_boolean_is_not_entailed_by_just_any_boolean():
    calls = [("set", {"id": "N-100", "loud": True}, {"ok": True}), ("get", {"id": "N-200"}, {"done": True, "x": "y"})]
    assert kind(calls, "/done") == "free"


def test_a_value_of_an_enumeration_is_not_entailed_by_being_seen_anywhere():
    tickets = [{"id": f"T-{number}", "state": "open" if number % 2 else "closed"} for number in range(100, 120)]
    others = [episode("others", *(("get", {"id": ticket["id"]}, ticket) for ticket in tickets))]
    calls = [
        ("get", {"id": "T-500"}, {"id": "T-500", "state": "open"}),
        ("get", {"id": "T-501"}, {"id": "T-501", "state": "open"}),
    ]
    assert kind(calls, "/state", others=others) == "free"
    again = [calls[0], ("tell", {"id": "T-500"}, {"id": "T-500", "state": "open"})]
    assert kind(again, "/state", others=others) == "entailed"


def test_a_value_that_all_answers_of_a_tool_have_is_constant():
    known = [episode("known", *(("add", {"title": f"note {place}"}, {"ok": True, "n": place}) for place in range(3)))]
    assert kinds([("add", {"title": "tea"}, {"ok": True, "n": 9})], known) == {"/ok": "constant", "/n": "free"}


def test_a_sentence_is_entailed_when_its_slots_are():
    known = [
        episode(
            "known", *(("add", {"title": title}, {"id": 1, "said": f"Note {title!r} was added"}) for title in titles)
        )
        for titles in [["tea", "milk", "bread", "salt"]]
    ]
    found = kinds([("add", {"title": "honey"}, {"id": 2, "said": "Note 'honey' was added"})], known)
    assert found["/said"] == "entailed"
    assert kinds([("add", {"title": "honey"}, {"id": 2, "said": "Note 'sugar' was added"})], known)["/said"] == "free"


def test_a_count_of_what_is_known_is_entailed():
    text = "one two three\nfour"
    calls = [
        ("write", {"path": "plan.txt", "text": text}, {"ok": 1}),
        ("count", {"path": "plan.txt"}, {"words": 4, "x": ""}),
    ]
    assert kind(calls, "/words") == "entailed"
    assert kind([calls[0], ("count", {"path": "other.txt"}, {"words": 4, "x": ""})], "/words") == "free"


def test_a_balance_changed_by_an_argument_is_entailed():
    calls = [("get", {}, {"balance": 1000.25, "x": 1}), ("pay", {"amount": 100.5}, {"balance": 899.75, "fee": 3.17})]
    assert kinds(calls) == {"/balance": "entailed", "/fee": "free"}


def test_fixtures_and_nothing_else_are_what_is_known_beforehand():
    others = [episode("other", ("list", {}, {"notes": [{"id": "N-100", "title": "Bread"}]}))]
    assert kind([("get", {"id": "N-100"}, {"id": "N-100", "title": "Bread"})], "/title", others=others) == "free"


def test_the_next_number_of_a_counter_is_entailed_and_another_small_one_is_not():
    first = ("add", {"title": "tea"}, {"number": 4, "x": "y"})
    assert kind([first, ("add", {"title": "milk"}, {"number": 5, "x": "z"})], "/number") == "entailed"
    assert kind([first, ("add", {"title": "milk"}, {"number": 7, "x": "z"})], "/number") == "free"
