"""Templates read texts into values, write them back, and become templates of the rule language."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envace_sdk.errors import ExpressionError
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.expressions import Scope, compile_template
from envace_sdk.world.mine.texts import Rows, Slot, Template
from envace_sdk.world.state import State

LISTING = Template(
    (
        "Files in ",
        Slot("folder"),
        ":\n",
        Rows("files", Template(("[", Slot("kind", "word"), "] ", Slot("name"), " (", Slot("size", "integer"), ")"))),
        "\nTotal: ",
        Slot("total", "number"),
    )
)


def written(template: Template, values: dict, sources: dict[str, str]) -> str:
    state = State.start(dynamics=Dynamics())
    return compile_template(template.cel(sources))(Scope({"values": values}, state))


def test_slots_and_rows_hold_texts_and_numbers():
    text = "Files in a: b:\n[FILE] x.txt (12)\n[DIR] my (old) dir (0)\nTotal: 1.5"
    values = LISTING.parse(text)
    assert values == {
        "folder": "a: b",
        "files": [
            {"kind": "FILE", "name": "x.txt", "size": 12},
            {"kind": "DIR", "name": "my (old) dir", "size": 0},
        ],
        "total": 1.5,
    }
    assert LISTING.render(values) == text


def test_a_text_of_another_form_is_not_parsed():
    assert LISTING.parse("Files in a:\n[FILE] x.txt (many)\nTotal: 1") is None
    assert LISTING.parse("") is None
    assert Template(("same",)).parse("same") == {}
    assert Template(("same",)).parse("same\n") is None


def test_no_rows_are_an_empty_list():
    assert LISTING.parse("Files in a:\n\nTotal: 0") == {"folder": "a", "files": [], "total": 0}
    rows = Template((Rows("rows", Template((Slot("name"),))),))
    assert rows.parse("") == {"rows": []}
    assert rows.parse("\n") == {"rows": [{"name": ""}, {"name": ""}]}


def test_numbers_that_would_not_print_the_same_stay_texts():
    template = Template((Slot("value", "number"),))
    cases = ["007", "1.50", "1e3", "-0", "12345678901234567890123", "0.1", "5", "-5"]
    assert [template.parse(text) for text in cases] == [
        {"value": value} for value in ("007", "1.50", "1e3", "-0", "12345678901234567890123", 0.1, 5, -5)
    ]
    assert all(template.render(template.parse(text)) == text for text in cases)


def test_digits_after_a_number_may_belong_to_what_follows():
    assert Template((Slot("n", "integer"), "00 metres")).parse("500 metres") == {"n": 5}


def test_columns_are_read_without_their_padding():
    template = Template((Slot("name", width=8), Slot("size", "integer", width=-5), "|"))
    assert template.parse("a b        12|") == {"name": "a b", "size": 12}
    assert template.render({"name": "a b", "size": 12}) == "a b        12|"
    assert template.parse("a very long name   12|") == {"name": "a very long name", "size": 12}
    assert template.parse("short 1|") is None


def test_json_within_a_text_is_data():
    for style, text in ((None, '{"a": [1, "x"]}'), (0, '{"a":[1,"x"]}'), (2, '{\n  "a": [\n    1,\n    "x"\n  ]\n}')):
        template = Template(("Made: ", Slot("made", "json", style=style), "."))
        values = template.parse(f"Made: {text}.")
        assert values == {"made": {"a": [1, "x"]}}
        assert template.render(values) == f"Made: {text}."
        assert written(template, values, {"made": "values.made"}) == f"Made: {text}."


def test_json_is_indented_by_a_few_blanks_at_most():
    scope = Scope({}, State.start(dynamics=Dynamics()))
    assert compile_template("{json([1, {'a': now}], 0)}")(scope) == '[1,{"a":"2026-01-01T09:00:00Z"}]'
    with pytest.raises(ExpressionError, match="0 to 8"):
        compile_template("{json([], 9)}")(scope)


def test_json_that_would_not_be_written_the_same_stays_text():
    template = Template((Slot("made", "json"),))
    for text in ('{"a":1}', '{"a": 1.10}', '{"a": 1, "a": 1}', '{"a": 1e999}', "[" * 500 + "1" + "]" * 500):
        values = template.parse(text)
        assert values is not None
        assert template.render(values) == text
    assert template.parse('{"a": 1') is None
    assert template.parse("17") is None


def test_a_choice_is_one_of_its_options():
    template = Template((Slot("mark", "choice", (" ", "*")), " ", Slot("name")))
    assert template.parse("  main") == {"mark": " ", "name": "main"}
    assert template.parse("- main") is None


def test_a_template_of_the_rule_language_writes_the_same_text():
    text = "Files in {x}:\n[FILE] it's {a} (12)\n[DIR] b\\c (0)\nTotal: 1.5"
    sources = {"folder": "values.folder", "files": "values.files", "total": "values.total"}
    assert written(LISTING, LISTING.parse(text), sources) == text
    listed = {**sources, "files": "[1, 2]", "files.kind": "'N'", "files.name": "item", "files.size": "item * 2"}
    assert written(LISTING, LISTING.parse(text), listed) == "Files in {x}:\n[N] 1 (2)\n[N] 2 (4)\nTotal: 1.5"


def test_a_list_of_texts_is_joined_as_it_is():
    template = Template(("Found ", Rows("names", Template((Slot("name"),)), ", ")))
    assert template.cel({"names": "args.names", "names.name": "item"}) == "Found {args.names.join(', ')}"
    assert template.cel({"names": "found"}) == "Found {found.map(item, item.name).join(', ')}"


def test_hostile_texts_take_no_longer_than_long_ones():
    item = Template((Slot("a"), " ", Slot("b"), " ", Slot("c", "lines"), "x", Slot("d", "number")))
    template = Template((Rows("outer", Template((Rows("inner", item, ""), Slot("rest")))), "!", Slot("end", "word")))
    start = time.perf_counter()
    for text in (" " * 20_000, "x1 " * 10_000, "\n".join(" x 1" for _ in range(5_000)), "a b x1\n!" * 3_000):
        template.parse(text)
    assert time.perf_counter() - start < 10


TEXTS = st.text(st.sampled_from("ab 1.-\n{}'\\\"éx"), max_size=6)
COLUMNS = ["word", "text", "integer", "number"]
SLOTS = st.builds(Slot, st.just("slot"), st.sampled_from([*COLUMNS, "lines", "space", "json"]))
SLOTS |= st.builds(Slot, st.just("slot"), st.sampled_from(COLUMNS), width=st.sampled_from([4, -4]))
SLOTS |= st.builds(Slot, st.just("slot"), st.just("choice"), st.tuples(TEXTS, TEXTS))


def templates(depth: int = 2):
    part = TEXTS | SLOTS
    if depth:
        part |= st.builds(Rows, st.just("rows"), templates(depth - 1), TEXTS)

    def named(parts):
        renamed = []
        for index, one in enumerate(parts):
            if isinstance(one, Slot):
                one = Slot(f"s{index}", one.kind, one.options, one.width)
            elif isinstance(one, Rows):
                one = Rows(f"r{index}", one.item, one.separator)
            renamed.append(one)
        return Template(tuple(renamed))

    return st.lists(part, max_size=5).map(named)


def value(slot: Slot):
    return {
        "word": st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1, max_size=5),
        "text": st.text(max_size=5).filter(lambda text: "\n" not in text),
        "integer": st.integers(-(2**63), 2**63 - 1),
        "number": st.integers(-99, 99) | st.floats(-1e6, 1e6).map(lambda x: round(x, 3) + 0.0),
        "lines": st.text(max_size=5),
        "json": st.dictionaries(st.text(max_size=2), st.lists(st.integers() | st.text(max_size=2), max_size=2)),
        "space": st.text(st.sampled_from(" \t"), max_size=3),
        "choice": st.sampled_from(slot.options or ("",)),
    }[slot.kind]


def values(template: Template):
    fields = {slot.name: value(slot) for slot in template.slots}
    fields |= {rows.name: st.lists(values(rows.item), max_size=3) for rows in template.rows}
    return st.fixed_dictionaries(fields)


@given(st.data())
def test_what_a_template_writes_it_reads(data):
    template = data.draw(templates())
    text = template.render(data.draw(values(template)))
    found = template.parse(text)
    if not any(slot.width for slot in every_slot(template)):
        assert found is not None
    assert found is None or template.render(found) == text


def every_slot(template: Template):
    yield from template.slots
    for rows in template.rows:
        yield from every_slot(rows.item)


@given(templates(), st.text(st.sampled_from("ab 1.-\n{}'"), max_size=30))
def test_any_text_is_read_exactly_or_not_at_all(template, text):
    found = template.parse(text)
    assert found is None or template.render(found) == text


@given(st.data())
@settings(deadline=None)
def test_the_rule_language_writes_what_the_template_writes(data):
    template = data.draw(templates(1))
    text = template.render(data.draw(values(template)).copy())
    found = template.parse(text)
    if found is not None and text.isprintable():
        sources = {name: f"values.{name}" for name in found}
        assert written(template, found, sources) == text
