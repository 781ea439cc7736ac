"""Recorded sessions at the lending desk of the documentation, as plain calls."""

import asyncio
import json
from pathlib import Path
from random import Random

from envace_sdk.rehearse import Environment
from envace_sdk.tools.model import ToolCall

LENDING = Path(__file__).parents[2] / "docs" / "examples" / "lending"
TOOLS = LENDING / "tools.json"
READERS = ["Ana", "Ben", "Cleo"]
BOOKS = [("Emma", "Austen"), ("Moby-Dick", "Melville"), ("Ulysses", "Joyce"), ("Dracula", "Stoker")]


def sessions(count, seed=0, calls=14):
    """Sessions of calls that a caller who knows no better makes."""
    environment = Environment.load(LENDING)
    random = Random(seed)
    lines = []
    for number in range(count):
        world = environment.world(f"w{number}", seed=number)
        books, loans = ["B-9999"], ["L-9999"]
        for place in range(calls):
            name, arguments = _call(random, place, books, loans)
            result = asyncio.run(environment.call(world, ToolCall(name, arguments))).result
            value = result.first_text if result.is_error else result.value()
            if name == "add_book" and not result.is_error:
                books.append(value["book_id"])
            if name == "borrow_book" and not result.is_error:
                loans.append(value["loan_id"])
            lines.append(
                {"episode": f"{seed}-{number}", "tool": name, "arguments": arguments, "result": value,
                 "is_error": result.is_error}
            )  # fmt: skip
    return lines


def write(path, lines):
    """The lines as a file; its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return path


def _call(random, place, books, loans):
    name = (
        "add_book"
        if place < 2
        else random.choice(["borrow_book", "borrow_book", "return_book", "find_books", "add_book"])
    )
    if name == "add_book":
        title, author = random.choice(BOOKS)
        return name, {"title": title, "author": author, "copies": random.randint(1, 2)}
    if name == "borrow_book":
        return name, {"book_id": random.choice(books[-3:] + books[:1]), "reader": random.choice(READERS)}
    if name == "return_book":
        return name, {"loan_id": random.choice(loans[-3:] + loans[:1])}
    return name, {"text": random.choice(["em", "DICK", "joyce", "xyz"])}
