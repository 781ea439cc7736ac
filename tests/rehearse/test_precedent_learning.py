"""The parts that learn from recorded cases, each on its own."""

from datetime import UTC, datetime, timedelta, timezone
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envace_sdk.rehearse.precedents.events import Event, words
from envace_sdk.rehearse.precedents.explained import explain
from envace_sdk.rehearse.precedents.features import features
from envace_sdk.rehearse.precedents.forms import form_of, likeness, structure
from envace_sdk.rehearse.precedents.fresh import Maker, find_fresh, renamed, tokens
from envace_sdk.rehearse.precedents.harmless import harmless_deeds
from envace_sdk.rehearse.precedents.likeness import Likeness
from envace_sdk.rehearse.precedents.origins import Origin, equal, value_of
from envace_sdk.rehearse.precedents.scene import Scene
from envace_sdk.rehearse.precedents.stamps import stamped, stamps, time_of, without_stamps
from envace_sdk.rehearse.precedents.tree import grow
from envace_sdk.rehearse.precedents.wording import same_sentences


def happened(tool, arguments, value, *, is_error=False):
    return Event(tool, arguments, value, is_error=is_error)


def scene(tool="look", past=(), **arguments):
    return Scene(tool, arguments, list(past), None)


# when calls go one way or another


def test_a_tree_splits_where_the_cases_give_it_reason_and_nowhere_else():
    rows = [{"known": "yes" if n % 2 else "no", "noise": str(n % 3)} for n in range(40)]
    tree = grow(rows, ["fine" if row["known"] == "yes" else "lost" for row in rows])
    assert tree.feature == "known"
    assert tree.shares({"known": "yes"})["fine"] > 0.9
    assert tree.shares({"known": "no"})["lost"] > 0.9
    assert grow(rows, ["fine" if n % 5 else "lost" for n in range(40)]).feature == ""


def test_two_cases_are_no_reason():
    assert grow([{"a": "1"}, {"a": "2"}], ["x", "y"]).feature == ""


labelled = st.lists(st.tuples(st.dictionaries(st.sampled_from("abcd"), st.sampled_from("123")), st.sampled_from("xyz")))


@given(labelled.filter(bool), st.dictionaries(st.sampled_from("abcd"), st.sampled_from("123")))
def test_shares_are_of_the_labels_and_together_one(cases, situation):
    shares = grow([row for row, _ in cases], [label for _, label in cases]).shares(situation)
    assert shares.keys() == {label for _, label in cases}
    assert sum(shares.values()) == pytest.approx(1)
    assert all(0 <= share <= 1 for share in shares.values())


def test_what_a_call_names_is_known_once_a_success_has_said_so():
    fail = happened("get", {"id": "T-1"}, "no", is_error=True)
    made = happened("add", {"name": "tent"}, {"id": "T-1"})
    assert features(scene(id="T-1"))["known:/id"] == "new"
    assert features(scene(id="T-1", past=[fail]))["known:/id"] == "refused"
    assert features(scene(id="T-1", past=[fail, made]))["known:/id"] == "shown"
    assert features(scene(name="tent", past=[made]))["known:/name"] == "given"
    assert features(scene(path="/a/tent", past=[made]))["known:/path"] == "part"


def test_what_is_harmless_is_told_by_answers_that_stayed():
    quiet, loud = frozenset({"look"}), frozenset({"look", "write"})
    assert harmless_deeds([(quiet, False)] * 3 + [(loud, True)] * 3) == {"look"}
    assert harmless_deeds([(loud, True)] * 3) == frozenset()
    assert harmless_deeds([(quiet, False)] * 2 + [(quiet, True)]) == frozenset()


def test_sentences_that_differ_in_one_word_are_one_when_three_words_were_seen_there():
    said = [f"T is with {name} already" for name in ("Ada", "Bo", "Cy")]
    assert set(same_sentences([*said, "Nothing is known of T"]).values()) == {"T is with … already"}
    assert same_sentences(said[:2]) == {}


# forms


def test_answers_of_a_form_differ_in_values_only():
    given_values = [("/id", "T-1", "T-1")]
    one = form_of("Nothing is known of 'T-1'", is_error=True, given=given_values)
    other = form_of("Nothing is known of 'T-2'", is_error=True, given=[("/id", "T-2", "T-2")])
    assert one.name == other.name != form_of("T-1 is lent", is_error=True, given=given_values).name
    assert form_of({"a": 1}, is_error=False, given=()).name == form_of({"a": 2.5}, is_error=False, given=()).name


def test_json_in_a_text_counts_as_what_it_says():
    assert structure({"text": '[{"name": "a"}]'}) > {"{}", "/text:str"}
    assert "/text¶/*/name:str" in structure({"text": '[{"name": "a"}]'})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(max_size=6), children, max_size=4),
    max_leaves=20,
)


@given(json_values, json_values)
def test_likeness_is_a_share_and_one_for_the_same(one, other):
    assert likeness(structure(one), structure(one)) == 1
    assert 0 <= likeness(structure(one), structure(other)) <= 1


# which case is most like a call


def test_what_answers_hang_on_weighs_most():
    rows = [{"city": str(n % 4), "day": str(n % 7)} for n in range(56)]
    answers = [row["city"] for row in rows]
    found = Likeness(rows, answers, [str(n % 8) for n in range(56)])
    call = {"city": "1", "day": "2"}
    assert found.score(call, {"city": "1", "day": "5"}) > found.score(call, {"city": "3", "day": "2"})


# where values come from


def test_values_that_arguments_give_are_explained_by_them():
    cases = [(scene(name=name, size=n), {"called": name, "size": n}) for n, name in enumerate(["Ann", "Ben", "Cid"], 5)]
    wholes = explain(cases).wholes
    assert wholes["/called"][0] == Origin("argument", ("name",))
    assert wholes["/size"][0] == Origin("argument", ("size",))


def test_parts_of_texts_are_explained_too():
    cases = [(scene(path=f"/home/{n}.txt"), f"Wrote {n}.txt in /home") for n in ("note", "todo", "plan")]
    found = explain(cases).parts[""]
    assert Origin("argument", ("path",), "base") in found


def test_what_agrees_by_chance_explains_nothing():
    cases = [(scene(page=n % 3), {"total": 1}) for n in range(9)]
    assert "/total" not in explain(cases).wholes


def test_what_was_said_last_of_a_thing_is_an_origin():
    cases = []
    for n, who in enumerate(["Ada", "Bo", "Cy"]):
        past = [
            happened("add", {"name": "tent"}, {"id": f"T-{n}", "name": "tent", "with": None}),
            happened("lend", {"id": f"T-{n}", "to": who}, {"with": who}),
        ]
        cases.append((scene("get", past, id=f"T-{n}"), {"id": f"T-{n}", "name": "tent", "with": who}))
    found = explain(cases).wholes["/with"]
    origin = next(origin for origin in found if origin.kind == "about")
    past = [happened("add", {}, {"id": "T-7", "with": "Zoe"}), happened("lend", {"id": "T-7"}, {"with": "Eve"})]
    assert value_of(origin, scene("get", past, id="T-7")) == "Eve"


def test_what_is_usual_without_an_argument_is_learned():
    cases = [(scene(name=n, **({"room": n} if n != "x" else {})), {"room": n if n != "x" else "hall"}) for n in "abxx"]
    assert explain(cases).defaults["/room"] == "hall"


def test_equal_values_are_of_one_kind():
    assert equal(2, 2.0)
    assert not equal(1, True)
    assert not equal("1", 1)


# what is made anew


def counted(numbers):
    """Cases of one episode in which these ids were given out."""
    past, cases = [], []
    for number in numbers:
        cases.append((scene("add", list(past), name=f"n{number}"), {"id": number}))
        past.append(happened("add", {"name": f"n{number}"}, {"id": number}))
    return cases


def test_numbers_that_count_on_go_on_counting():
    fresh = find_fresh(counted([7, 8, 9, 10]) + counted([7, 8]))["/id"]
    assert fresh.first == 7
    made = Maker(counted([7, 8, 9])[-1][0], "seed").make("/id", fresh, 7)
    assert made == 9


def test_numbers_that_do_not_count_are_not_made_anew():
    assert find_fresh(counted([3, 14, 15, 92, 65])) == {}
    assert find_fresh(counted([5, 5, 5, 5])) == {}


def test_keys_made_by_chance_keep_how_they_begin_and_are_new():
    keys = [f"R{Random(n).randrange(16**6):06x}" for n in range(6)]
    fresh = find_fresh([(scene("add", name=key[::-1]), {"id": key}) for key in keys])["/id"]
    past = [happened("add", {}, {"id": key}) for key in keys]
    made = {Maker(scene("add", past), str(seed)).make("/id", fresh, keys[0]) for seed in range(20)}
    assert made.isdisjoint(keys)
    assert all(key.startswith("R") and len(key) == 7 for key in made)


def test_points_in_time_are_no_keys():
    cases = [(scene("add", name=str(n)), {"at": f"2026-01-0{n}T10:0{n}:00Z"}) for n in range(1, 7)]
    assert find_fresh(cases) == {}


def test_a_word_is_renamed_in_its_own_form_and_always_alike():
    assert tokens("commit 3f2a9c1d7e by Ada on day 12") == ["3f2a9c1d7e"]
    other = renamed("3f2a9c1d7e", "seed", 0)
    assert other == renamed("3f2a9c1d7e", "seed", 0) != "3f2a9c1d7e"
    assert set(other) <= set("0123456789abcdef")


# points in time


moments = st.datetimes(datetime(1000, 1, 2), datetime(9998, 12, 30)).map(  # noqa: DTZ001
    lambda when: when.replace(microsecond=0)
)
offsets = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(moments, offsets, st.sampled_from(["T", " "]), st.integers(0, 999))
def test_a_point_in_time_is_written_as_it_was_read(when, zone, between, thousandth):
    local = when.replace(tzinfo=zone, microsecond=thousandth * 1000)
    text = local.isoformat(between, "milliseconds")
    assert stamps(f"at {text}, they say") == [text]
    assert time_of(text) == local
    assert stamped(local, text) == text
    assert stamped(local.astimezone(UTC), text) == text


@pytest.mark.parametrize(
    "text",
    [
        "Mon Nov 30 2026 00:25:47 GMT+0000",
        "Mon, 30 Nov 2026 00:25:47 GMT",
        "2026-11-30 00:25",
        "2026-11-30T00:25:47.123456789Z",
        "2026-01-01 14:00:00 +0000",
    ],
)
def test_other_forms_are_read_and_written_too(text):
    when = time_of(text)
    assert when is not None
    assert stamped(when + timedelta(days=1, hours=1), text) != text
    assert time_of(stamped(when + timedelta(days=1, hours=1), text)) - when == timedelta(days=1, hours=1)
    assert without_stamps(f"<{text}>") == "<>"


def test_a_day_that_there_is_not_is_no_point_in_time():
    assert time_of("2026-02-30T10:00:00Z") is None
    assert time_of("tomorrow") is None


@given(st.text())
def test_any_text_is_borne(text):
    words(text)
    tokens(text)
    for stamp in stamps(text):
        time_of(stamp)
