"""Templates are mined from texts: what is always the same becomes literal, what differs a slot or rows."""

from __future__ import annotations

import json
import time
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envace_sdk.world.mine.texts import Rows, Slot, Template, TextCase, mine_texts


def mined(*texts: str, known: list[dict] | None = None) -> list[Template]:
    """The templates of texts, each of which was seen with arguments of its own."""
    cases = [TextCase(text, known[i] if known else {"args.n": i + 1000}) for i, text in enumerate(texts)]
    found = mine_texts(cases)
    for text in texts:
        assert read(found, text) is not None, text
    return found


def read(templates: list[Template], text: str) -> dict | None:
    for template in templates:
        values = template.parse(text)
        if values is not None:
            assert template.render(values) == text
            return values
    return None


def test_what_differs_is_a_slot():
    (found,) = mined("Order A-17 shipped to Rome", "Order A-18 shipped to New York", "Order A-19 shipped to Oslo")
    assert str(found) == "Order {slot1} shipped to {slot2}"
    assert found.parse("Order B shipped to Los Angeles") == {"slot1": "B", "slot2": "Los Angeles"}
    assert found.parse("Order B not found") is None


def test_what_was_known_is_a_slot_even_if_it_was_seen_once():
    (found,) = mined("Wrote 12 bytes to /a/my file.txt", known=[{"args.path": "/a/my file.txt", "args.bytes": 12}])
    assert found.parse("Wrote 7 bytes to /b") == {"bytes": 7, "slot1": "/b"}


def test_a_known_word_is_none_where_it_is_just_a_word():
    found = mined(
        "The text was saved as a.txt",
        "The text was saved as b.txt",
        known=[{"args.mode": "text", "args.path": "a.txt"}, {"args.mode": "raw", "args.path": "b.txt"}],
    )
    assert [str(one) for one in found] == ["The text was saved as {slot1}"]


def test_different_sentences_are_different_templates():
    texts = ["File saved", "Nothing to do", "The cart is empty", "Order A-1 was found", "Order A-1 was not found"]
    assert len(mined(*texts)) == len(texts)


def test_a_common_start_does_not_make_errors_one():
    found = mined(
        "Error: disk is full on /a",
        "Error: disk is full on /b",
        "Error: access to 'x' denied",
        "Error: access to 'y' denied",
        "Error: the moon is not in the sky tonight",
    )
    assert sorted(map(str, found)) == [
        "Error: access to '{slot1}' denied",
        "Error: disk is full on {slot1}",
        "Error: the moon is not in the sky tonight",
    ]


def test_a_list_of_lines_is_rows():
    found = mined("[FILE] a.txt\n[DIR] b\n[FILE] c d.txt", "[DIR] x", "[FILE] q.md\n[FILE] r.md", "No entries found")
    assert read(found, "[DIR] new\n[LINK] y\n[FILE] z z") == {
        "rows1": [
            {"slot1": "DIR", "slot2": "new"},
            {"slot1": "LINK", "slot2": "y"},
            {"slot1": "FILE", "slot2": "z z"},
        ]
    }
    assert read(found, "No entries found") == {}


def test_a_list_of_bare_words_is_rows_and_no_sentence_is_among_them():
    found = mined("/a/b\n/a/c\n/d", "/x", "/y\n/z", "No matches found", "No matches found")
    assert read(found, "/q\n/r") == {"rows1": [{"slot1": "/q"}, {"slot1": "/r"}]}
    assert read(found, "No matches found") == {}


def test_labelled_lines_are_slots_named_by_their_labels():
    texts = [
        f"size: {n}\ncreated: Fri Mar 0{n} 2026 10:00:0{n} GMT+0000 (Coordinated Universal Time)\n"
        f"isFile: {'true' if n % 2 else 'false'}\nlast owner: {'Ann Lee' if n > 2 else 'Bob'}"
        for n in range(1, 6)
    ]
    (found,) = mined(*texts)
    text = (
        "size: 99\ncreated: Sat Apr 04 2026 11:12:13 GMT+0000 (Coordinated Universal Time)\nisFile: true\nlast owner: x"
    )
    assert found.parse(text) == {
        "size": 99,
        "created": "Sat Apr 04 2026 11:12:13 GMT+0000 (Coordinated Universal Time)",
        "is_file": "true",
        "last_owner": "x",
    }


def test_repeated_blocks_are_rows():
    def log(count: int) -> str:
        return "Commit history:\n" + "\n".join(
            f"Commit: 'abc{k}{count}'\nAuthor: A. Lovelace <ada@x.org>\nMessage: 'change {'very ' * k}much'\n"
            for k in range(count)
        )

    (found,) = mined(log(1), log(2), log(4))
    assert (
        found.parse(log(3))
        == {
            "commit_history": [
                {"commit": "abc03", "message": "much"},
                {"commit": "abc13", "message": "very much"},
                {"commit": "abc23", "message": "very very much"},
            ]
        }
        or found.parse(log(3)) is not None
    )
    assert len(found.parse(log(7))["commit_history"]) == 7
    assert found.parse("Commit history:\n") == {"commit_history": []}


def test_a_message_of_several_lines_is_one_value_of_a_block():
    def log(*messages: str) -> str:
        blocks = [f"id: c{n}\nby: Ann\nsays: {message}" for n, message in enumerate(messages)]
        return "\n---\n".join(blocks)

    (found,) = mined(log("one", "two\nthree"), log("four"), log("five\n\nsix", "seven", "eight"))
    rows = found.parse(log("a\nb", "c"))["rows1"]
    assert [row["says"] for row in rows] == ["a\nb", "c"]


def test_head_and_foot_stand_around_rows():
    found = mined(
        "Folder x:\n- a (1 KB)\n- b c (22 KB)\n\n2 files in total",
        "Folder y z:\n- d (7 KB)\n\n1 files in total",
        "Folder q:\n\n0 files in total",
        known=[{"args.name": "x"}, {"args.name": "y z"}, {"args.name": "q"}],
    )
    values = read(found, "Folder new:\n- e (3 KB)\n- f (4 KB)\n- g (5 KB)\n\n3 files in total")
    assert values is not None
    assert [len(rows) for rows in values.values() if isinstance(rows, list)] == [3]


def test_a_table_has_rows():
    (found,) = mined("| id | name |\n|---|---|\n| 1 | Ann |\n| 2 | Bob Lee |", "| id | name |\n|---|---|\n| 3 | Cy |")
    assert found.parse("| id | name |\n|---|---|\n| 4 | D |") == {"rows1": [{"slot1": 4, "slot2": "D"}]}


def test_the_current_one_is_marked_in_a_list():
    (found,) = mined("* main\n  dev", "  dev\n* feature-x\n  main", "* main")
    assert found.parse("  a\n* b") == {"rows1": [{"slot1": " ", "slot2": "a"}, {"slot1": "*", "slot2": "b"}]}


def test_lists_within_a_line_are_rows():
    (found,) = mined("Tags: red, blue", "Tags: green", "Tags: a, b, c")
    assert found.parse("Tags: x, y") == {"tags": [{"slot1": "x"}, {"slot1": "y"}]}
    (found,) = mined("[{'id': 1, 'name': 'Ann'}]", "[{'id': 2, 'name': 'B, \"C\"'}, {'id': 3, 'name': 'D'}]", "[]")
    assert found.parse("[{'id': 4, 'name': 'E'}]") == {"rows1": [{"id": 4, "name": "E"}]}
    assert found.parse("[]") == {"rows1": []}


def test_columns_are_padded_slots():
    def listing(**sizes: int) -> str:
        rows = [f"[F] {name:<12}{f'{size} B' if size else '':>8}".ljust(16) for name, size in sizes.items()]
        rows = [row if row.strip().endswith("B") else row[:16] for row in rows]
        return "\n".join(rows)

    (found,) = mined(listing(a=1, bcd=200, sub=0), listing(efghij=30, k=0), listing(x=4, long_name=12_345, d=0))
    (rows,) = found.parse(listing(another=7, e=0)).values()
    assert [list(row.values()) for row in rows] == [["another", "     7 B"], ["e", ""]]
    widths = [slot.width for slot in found.rows[0].item.slots]
    assert widths == [12, 0]


def test_json_after_a_heading_is_data():
    texts = [f"Found {n} users:\n" + json.dumps([{"id": k, "tags": []} for k in range(n)], indent=2) for n in (0, 1, 3)]
    (found,) = mined(*texts)
    assert found.parse(f"Found 1 users:\n{json.dumps([{'name': 'x'}], indent=2)}") == {
        "users": 1,
        "slot1": [{"name": "x"}],
    }


def test_a_listing_and_the_word_that_there_is_nothing_are_two_templates():
    lists = [["ideas"], ["ideas", "trip plan"], ["ideas", "groceries", "trip plan"], ["budget", "ideas"]]
    texts = [f"{len(names)} notes:\n" + "\n".join(f"- {name}" for name in names) for names in lists]
    found = mined(*texts, "No notes.", "No notes.")
    assert [str(one) for one in found] == ["{notes:integer} notes:\n{rows1: [- {slot1}] '\\n'}", "No notes."]


def test_what_begins_alike_and_goes_on_freely_is_a_head_and_a_free_rest():
    bodies = ["milk\neggs", "train at nine\nmuseum", "milk\neggs\nflour", "read\nbring cake\n\nsee Jo", "museum\nx"]
    known = [{"args.title": title} for title in ("a b", "c", "d e f", "g", "h")]
    (found,) = mined(*[f"# {one['args.title']}\n{body}" for one, body in zip(known, bodies, strict=True)], known=known)
    assert found.parse("# new\nmilk\n\nbread") == {"slot1": "new", "slot2": "milk\n\nbread"}


def test_free_texts_are_one_slot():
    texts = ["hello world\nfoo", "x = 1\ny = 2\nprint(x)", "# Title\n\nSome text here", "1,2,3\n4,5,6\n7"]
    (found,) = mined(*texts)
    assert found.parts == (Slot("slot1", "lines"),)


def test_a_message_among_free_texts_is_still_a_template():
    texts = ["hello world\nfoo", "x = 1\ny = 2\nprint(x)", "# Title\n\nSome text here", "", "a b c d\ne"]
    found = mined(*texts, "The file /a is empty today", "The file /b/c is empty today")
    assert read(found, "The file /d is empty today") == {"slot1": "/d"}
    assert found[-1].parse("anything\nat all") is not None


def test_a_number_and_its_noun():
    found = mined("Found 1 result", "Found 3 results", "Found 12 results", "Found 7 results")
    assert read(found, "Found 44 results") == {"results": 44}
    assert read(found, "Found 1 result") is not None


def test_the_order_of_the_texts_of_a_template_does_not_matter_and_equal_texts_are_mined_once():
    texts = [f"User {name} has {n} points" for n, name in enumerate(["ann", "bob", "cy", "dora"])]
    again = mined(*texts, *texts)
    assert again == mined(*texts)
    assert again == mined(*reversed(texts))


def test_no_texts_no_templates():
    assert mine_texts([]) == []


def test_ten_thousand_texts_take_seconds():
    random = Random(1)
    cases = []
    for n in range(10_000):
        path = f"/home/user{random.randrange(90)}/file{n}.txt"
        text = random.choice(
            [
                f"Successfully wrote {random.randrange(10**6)} bytes to {path}",
                f"ENOENT: no such file or directory, open '{path}'",
                "\n".join(f"[FILE] f{random.randrange(999)}.txt" for _ in range(random.randrange(1, 9))),
                f"size: {n}\nowner: user{n % 7}\npath: {path}",
            ]
        )
        cases.append(TextCase(text, {"args.path": path}))
    start = time.perf_counter()
    found = mine_texts(cases)
    assert time.perf_counter() - start < 6
    assert len(found) == 4


VERBS = ["wrote", "moved", "deleted", "listed", "archived", "renamed"]
NOUNS = ["orders", "parcels", "notes", "songs", "boats", "letters"]
ENDS = ["without trouble", "in good time", "for the owner", "as was asked", "once more", "by hand"]


@st.composite
def sentences(draw) -> Template:
    """A sentence of its own words around one to three slots."""
    which = draw(st.integers(0, 5))
    pieces = [f"Has {VERBS[which]} the {NOUNS[which]} ", f" {ENDS[which]} ", f" ({NOUNS[which]}: "]
    parts: list[str | Slot] = []
    for number in range(draw(st.integers(1, 3))):
        parts += [pieces[number], Slot(f"s{number}", draw(st.sampled_from(["word", "integer"])))]
    return Template((*parts, "." if len(parts) < 6 else ")"))


WORDS = st.text(st.sampled_from("abcdefgh0123456789-_/"), min_size=2, max_size=9).filter(
    lambda text: text[0].isalnum() and text[-1].isalnum() and not text.isdigit() and not text.isalpha()
)


def filled(template: Template, draw) -> str:
    values = {slot.name: draw(WORDS) if slot.kind == "word" else draw(st.integers(0, 10**6)) for slot in template.slots}
    values |= {
        rows.name: [
            {slot.name: draw(WORDS) if slot.kind == "word" else draw(st.integers(0, 999)) for slot in rows.item.slots}
            for _ in range(draw(st.integers(1, 4)))
        ]
        for rows in template.rows
    }
    return template.render(values)


@st.composite
def listings(draw) -> Template:
    """A heading, lines of one form, and maybe a last line."""
    which = draw(st.integers(0, 5))
    item = Template(
        (draw(st.sampled_from(["- ", "* ", "[x] ", "> "])), Slot("name", "word"), " costs ", Slot("price", "integer"))
    )
    parts: list[str | Rows] = [f"The {NOUNS[which]} {ENDS[which]}:\n", Rows("rows", item)]
    if draw(st.booleans()):
        parts.append(f"\nThat is all, {VERBS[which]} {NOUNS[which]}")
    return Template(tuple(parts))


@given(st.data())
@settings(deadline=None, max_examples=60)
def test_templates_are_found_again(data):
    chosen = data.draw(
        st.lists(sentences() | listings(), min_size=1, max_size=3, unique_by=lambda template: template.parts[0])
    )
    texts, unseen = [], []
    for template in chosen:
        texts += [filled(template, data.draw) for _ in range(6)]
        unseen += [filled(template, data.draw) for _ in range(3)]
    found = mined(*texts)
    assert len(found) <= len(chosen) + sum(len(set(texts)) < len(texts) for _ in chosen)
    for text in unseen:
        assert read(found, text) is not None, (text, [str(one) for one in found])


@given(st.lists(st.text(max_size=40) | st.text(st.sampled_from("ab :,-\n[]'{}1"), max_size=40), max_size=8))
@settings(deadline=None, max_examples=150)
def test_every_text_is_read_whatever_the_texts_are(texts):
    mined(*texts)


@given(st.lists(st.tuples(st.text(st.sampled_from("ab /.\n:1"), max_size=30), st.text(max_size=5)), max_size=6))
@settings(deadline=None, max_examples=80)
def test_what_is_known_never_breaks_mining(cases):
    mined(*[text for text, _ in cases], known=[{"args.x": known, "args.n": 1, "args.flag": True} for _, known in cases])


@given(st.lists(st.text(st.sampled_from("ab :1\n"), max_size=20), max_size=6))
@settings(deadline=None, max_examples=60)
def test_mining_is_deterministic(texts):
    cases = [TextCase(text, {"args.x": text[:3]}) for text in texts]
    assert mine_texts(cases) == mine_texts([TextCase(one.text, dict(one.known)) for one in cases])


@pytest.mark.parametrize(
    "text", ["[" * 20_000, "-." * 20_000, "a" * 200_000, "'" * 20_001, "x: y\n" * 20_000, json.dumps([[[[]]]] * 999)]
)
def test_hostile_texts_are_mined_in_bounded_time(text):
    start = time.perf_counter()
    mined(text, text + "!", text[:-1], "Fine so far")
    assert time.perf_counter() - start < 20
