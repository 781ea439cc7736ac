from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envace_sdk.errors import DynamicsError
from envace_sdk.world.dynamics import Dynamics, ToolRule
from envace_sdk.world.rulefile import RuleFile, digest_of, fresh_text

TEXT = """\
# Rules of the lending desk.
format: 1

collections:
  books: {key: isbn, noun: book}   # by ISBN

tools:
  # ---------------- reading
  get_book:
    effect: read
    collection: books
    key: args.isbn

  # ---------------- writing
  add_book:
    effect: create      # never twice
    collection: books
    key:    args.isbn
    set:
      title: >-
        args.title

  drop_book: {effect: delete, collection: books, key: args.isbn}
"""


def edited(text, **rules):
    """The text with other rules of tools; None takes one away."""
    file = RuleFile(text)
    tools = {**file.dynamics.tools, **rules}
    tools = {name: ToolRule.model_validate(rule) for name, rule in tools.items() if rule is not None}
    return file.with_rules(file.dynamics.model_copy(update={"tools": tools}))


def test_nothing_changes_where_no_rule_does():
    assert edited(TEXT) == TEXT
    for path in (Path(__file__).parents[2] / "schemas").glob("*/dynamics.yaml"):
        text = path.read_text(encoding="utf-8")
        assert edited(text) == text


def test_a_rule_is_replaced_where_it_stands_and_all_else_stays():
    rule = {"effect": "read", "collection": "books", "key": "args.id", "missing": "No book {args.id}"}
    assert edited(TEXT, get_book=rule) == TEXT.replace(
        "    key: args.isbn\n\n", "    key: args.id\n    missing: No book {args.id}\n\n"
    )
    other = edited(TEXT, drop_book={"effect": "opaque"})
    assert other == TEXT[: TEXT.index("  drop_book")] + "  drop_book:\n    effect: opaque\n"


def test_a_new_rule_stands_behind_the_one_before_it():
    file = RuleFile(TEXT)
    tools = {}
    for name, rule in file.dynamics.tools.items():
        tools |= {name: rule, f"after_{name}": ToolRule(effect="opaque")}
    made = file.with_rules(file.dynamics.model_copy(update={"tools": {"first": ToolRule(effect="opaque"), **tools}}))
    names = [line.strip() for line in made.splitlines() if line.startswith("  ") and line[2] != " "]
    assert names[1:] == [
        "first:",
        "# ---------------- reading",
        "get_book:",
        "after_get_book:",
        "# ---------------- writing",
        "add_book:",
        "after_add_book:",
        "drop_book: {effect: delete, collection: books, key: args.isbn}",
        "after_drop_book:",
    ]
    assert "\n\n\n" not in made
    assert all(line in made.splitlines() for line in TEXT.splitlines())


def test_a_rule_is_taken_away_and_the_comment_above_it_is_not():
    made = edited(TEXT, add_book=None)
    assert "add_book" not in made
    assert "# ---------------- writing" in made
    assert "args.title" not in made


def test_another_layout_is_no_edit_and_a_comment_is_one():
    file = RuleFile(TEXT)
    rule = file.dynamics.tools["get_book"]
    learned = file.dynamics.model_copy(update={"learned": {"tools": {"get_book": digest_of(rule)}}})
    text = file.with_rules(learned)
    assert RuleFile(text).is_as_learned("tools", "get_book") is True
    assert RuleFile(text).is_as_learned("tools", "add_book") is None
    line = "    effect: read\n    collection: books\n    key: args.isbn\n"
    laid_out = text.replace(line, "      collection: 'books'\n      effect: read\n      key: \"args.isbn\"\n")
    assert RuleFile(laid_out).is_as_learned("tools", "get_book") is True
    assert RuleFile(text.replace(line, line + "    # why?\n")).is_as_learned("tools", "get_book") is False
    assert RuleFile(text.replace(line, line + "    limit: '1'\n")).is_as_learned("tools", "get_book") is False
    assert file.comments("tools", "add_book") == ("# never twice",)


def test_digests_stand_at_the_end_and_are_written_once():
    file = RuleFile(TEXT)
    for digest in ("abcdefgh", "bcdefghi"):
        file = RuleFile(file.with_rules(file.dynamics.model_copy(update={"learned": {"tools": {"get_book": digest}}})))
    assert file.text.startswith(TEXT)
    assert file.text[len(TEXT) :].splitlines() == [
        "",
        "# Digests of the rules as they were learned. One that has changed since is yours, and is kept.",
        "learned:",
        "  tools: {get_book: bcdefghi}",
    ]


def test_the_header_that_was_written_before_is_written_anew_and_a_persons_own_is_not():
    rules = Dynamics.parse(TEXT)
    old = fresh_text(
        rules, "# What each tool does to the world, learned by x.\n# a rule that you change, y.\n# Mine.\n"
    )
    assert RuleFile(old).with_rules(rules, "# New.\n").startswith("# New.\n# Mine.\nformat: 1\n")
    assert RuleFile(TEXT).with_rules(rules, "# New.\n") == TEXT


def test_line_ends_stay_what_they_are():
    assert edited(TEXT.replace("\n", "\r\n"), get_book=None) == edited(TEXT, get_book=None).replace("\n", "\r\n")


@pytest.mark.parametrize(
    "text",
    [
        "{format: 1, tools: {a: {effect: opaque}, b: {effect: opaque}}}",
        "tools: {a: {effect: opaque}, b: {effect: opaque}}\n",
        "tools:\n  a: &same {effect: opaque}\n  b: *same\n",
        "tools: {a: {effect: opaque},\n  b: {effect: opaque}}\n",
    ],
)
def test_rules_that_cannot_stay_as_they_stand_are_told_of(text):
    assert edited(text, a={"effect": "compute"}) is None


def test_a_file_without_some_members_gets_them():
    assert edited("format: 1\n", a={"effect": "opaque"}) == "format: 1\n\ntools:\n  a:\n    effect: opaque\n"
    assert edited("tools: {}\n", a={"effect": "opaque"}) in (None, "tools:\n  a:\n    effect: opaque\n")


def test_what_is_no_dynamics_file_is_refused():
    for text in ("- 1\n", "tools: 3\n", "a: [", "\x00"):
        with pytest.raises(DynamicsError):
            RuleFile(text)


PIECES = st.sampled_from(
    [*TEXT.splitlines(), "", "  # note", "    # note", "   #", "  x:", "    effect: opaque", "learned:"]
)


@given(st.lists(PIECES, max_size=25), st.sampled_from(["get_book", "x", "add_book"]))
def test_whatever_the_layout_the_rules_are_what_they_should_be(lines, name):
    text = "\n".join(lines)
    try:
        file = RuleFile(text)
    except DynamicsError:
        return
    tools = {**file.dynamics.tools, name: ToolRule(effect="compute")}
    wanted = file.dynamics.model_copy(update={"tools": tools, "learned": {"tools": {name: "abcdefgh"}}})
    made = file.with_rules(wanted)
    if made is not None:
        assert Dynamics.parse(made) == wanted
        notes, kept = ([line for line in some if "note" in line] for some in (lines, made.split("\n")))
        # The digests are written anew each time, and a rule that is replaced goes with what stood inside it.
        assert notes == kept or "learned:" in lines or name in file.dynamics.tools
