import asyncio
from pathlib import Path

from envace_sdk.rehearse import Environment
from envace_sdk.tools.model import ToolCall

LENDING = Path(__file__).parents[2] / "docs" / "examples" / "lending"


def play(*calls):
    environment = Environment.load(LENDING)
    world = environment.world()
    return [asyncio.run(environment.call(world, ToolCall(name, arguments))) for name, arguments in calls]


def test_a_lent_copy_is_missing_until_it_is_returned():
    answers = play(
        ("add_book", {"title": "Moby-Dick", "author": "Melville"}),
        ("borrow_book", {"book_id": "B-0001", "reader": "Ana"}),
        ("borrow_book", {"book_id": "B-0001", "reader": "Ben"}),
        ("return_book", {"loan_id": "L-0001"}),
        ("find_books", {"text": "melv"}),
    )
    assert answers[1].result.value() == {
        "loan_id": "L-0001", "book_id": "B-0001", "reader": "Ana", "due": "2026-01-15", "returned": False,
    }  # fmt: skip
    assert answers[2].outcome == "conflict"
    assert answers[2].result.first_text == "All 1 copies of 'Moby-Dick' are out"
    assert answers[3].result.first_text == "Thank you, Ana."
    assert answers[4].result.value() == {
        "books": [{"book_id": "B-0001", "title": "Moby-Dick", "author": "Melville", "available": 1}],
        "total": 1,
    }


def test_a_reader_has_at_most_five_books_out():
    borrow = ("borrow_book", {"book_id": "B-0001", "reader": "Ana"})
    answers = play(("add_book", {"title": "Emma", "copies": 9}), *[borrow] * 6)
    assert [answer.outcome for answer in answers[1:]] == ["success"] * 5 + ["permission_error"]
