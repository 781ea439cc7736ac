from hypothesis import given
from hypothesis import strategies as st

from envace_sdk.evaluate.texts import Wording, words_of

PLACE = ("list", False, "")


def learned(*texts, said=()):
    wording = Wording()
    for text in texts:
        wording.learn(PLACE, text, words_of(said))
    return wording


def read(wording, text):
    return [tuple(line) for line in wording.read(PLACE, text)]


def test_words_that_different_lines_share_are_fixed_and_the_rest_are_values():
    wording = learned("[FILE] a.txt\n[DIR] src", "[FILE] b.txt\n[DIR] docs", "[FILE] c.txt\n[DIR] lib")
    assert read(wording, "[DIR] new\n[FILE] z.txt") == [("[DIR] ~", ("new",)), ("[FILE] ~", ("z.txt",))]


def test_a_key_with_a_colon_starts_a_line_though_few_values_follow_it():
    wording = learned("isFile: true", "isFile: false", "isFile: true")
    assert read(wording, "isFile: false") == [("isFile: ~", ("false",))]


def test_a_sentence_that_is_said_again_and_again_is_fixed_as_a_whole():
    said = "nothing to commit, working tree clean"
    assert read(learned(said, said, said), said) == [(said, ())]


def test_a_line_that_was_an_argument_is_a_value_however_often_it_is_shown():
    line = "the budget was approved by the board"
    wording = learned(line, line, line)
    wording.learn_said([f"{line}\nmore"])
    assert read(wording, line) == [("~", (line,))]


def test_words_of_the_arguments_are_no_fixed_words():
    wording = Wording()
    for name in ("a.txt", "b.txt", "c.txt"):
        wording.learn(PLACE, f"found tea in {name}", words_of(["tea"]))
    assert read(wording, "found tea in z.txt") == [("found ~ in ~", ("tea", "z.txt"))]


def test_what_is_rarely_said_is_a_value_as_a_whole():
    assert read(learned("Hello there, World"), "Hello there, World") == [("~", ("Hello there, World",))]


@given(st.lists(st.text(max_size=60), max_size=6), st.text(max_size=60))
def test_any_text_can_be_read_and_every_line_that_is_not_blank_is_there(texts, text):
    lines = learned(*texts).read(PLACE, text)
    assert len(lines) == sum(bool(line.strip()) for line in text.splitlines())
    for line in lines:
        assert line.pattern.split().count("~") >= len(line.values) or "~" in text
