"""Answers and errors that are texts: the forms they have, and what stands in them."""

import json

import pytest
from small_episodes import Failed, episodes

from envace_sdk.world.mine.failures import Failures, error_text, known_values
from envace_sdk.world.mine.phrasing import FORM, is_generic, take_apart
from envace_sdk.world.mine.wording import error_template, status_of


def weather(places, frame=lambda text: text):
    return [
        ("weather", {"town": town}, frame(f"Weather in {town}: {degrees} degrees, wind from the {wind}"))
        for town, degrees, wind in places
    ]


PLACES = [("Rome", 21, "south"), ("Oslo", -3, "north"), ("Bern", 9, "west"), ("Nice", 24, "east"), ("Kiel", 7, "north")]


def test_texts_of_one_form_become_data():
    recorded = episodes(weather(PLACES))
    phrases = take_apart(recorded)
    assert list(phrases) == [("weather", 0)]
    values = [step.value for step in recorded[0].steps]
    assert all(value[FORM] == 0 for value in values)
    for value, (town, degrees, wind) in zip(values, PLACES, strict=True):
        assert set(value.values()) >= {town, degrees, wind}
    assert [step.answer for step in recorded[0].steps] == [text for _, _, text in weather(PLACES)]


def test_a_text_that_is_the_only_member_of_an_object_becomes_data_there():
    recorded = episodes(weather(PLACES, lambda text: {"result": text}))
    take_apart(recorded)
    assert recorded[0].steps[1].value["result"][FORM] == 0
    assert "Oslo" in recorded[0].steps[1].value["result"].values()


@pytest.mark.parametrize(
    "texts",
    [
        ["yes", "no", "yes", "no", "perhaps"],
        [json.dumps({"a": n}) for n in range(6)],
        ["the sea", "a storm gathers", "old wood burns best", "nobody came", "why?"],
    ],
)
def test_texts_of_no_form_stay_as_they_are(texts):
    recorded = episodes([("tell", {}, {"said": text, "n": 1} if text[0] == "{" else text) for text in texts])
    assert take_apart(recorded) == {}
    assert all(FORM not in str(step.value) for step in recorded[0].steps)


def test_names_that_only_count_are_told_from_names_that_say_something():
    assert is_generic("slot3")
    assert is_generic("weather_rows")
    assert not is_generic("slots_left")


def failing(*texts):
    recorded = episodes([("open", {"door": door}, Failed(text)) for door, text in texts])
    return recorded, Failures(recorded)


def test_errors_of_different_words_are_different_kinds():
    recorded, failures = failing(
        ("a", "no door a"), ("b", "no door b"), ("c", "door c is locked"), ("d", "door d is locked")
    )
    assert len(failures.of_tool["open"]) == 2
    kinds = [failures.of(step) for step in recorded[0].steps]
    assert kinds[0] is kinds[1]
    assert kinds[2] is kinds[3]
    assert kinds[0] is not kinds[2]
    assert len({kind.label for kind in failures.of_tool["open"]}) == 2


def test_phrases_that_stand_in_one_place_are_different_kinds():
    told = [("a", "shut: nobody has a key"), ("b", "shut: wet wood swells")] * 3
    recorded, failures = failing(*told)
    kinds = [failures.of(step) for step in recorded[0].steps]
    assert len(set(map(id, kinds))) == 2
    assert kinds[0] is kinds[2]
    assert {kind.text for kind in kinds} == {text for _, text in told}


def test_errors_in_json_are_told_apart_by_their_texts_alone():
    told = [(door, json.dumps({"error": f"no door {door}", "code": 4})) for door in "abc"]
    recorded, failures = failing(*told)
    (kind,) = failures.of_tool["open"]
    assert json.loads(kind.frame) == {"error": "*", "code": 4}
    assert [error_text(step) for step in recorded[0].steps] == ["no door a", "no door b", "no door c"]


def test_calls_that_succeed_are_of_no_kind():
    recorded = episodes([("open", {}, "open"), ("open", {}, Failed("locked"))])
    failures = Failures(recorded)
    assert failures.of(recorded[0].steps[0]) is None
    assert failures.of(recorded[0].steps[1]).text == "locked"


def test_errors_of_different_tools_that_say_the_same_are_of_one_class():
    recorded = episodes([(tool, {"door": d}, Failed(f"no door {d}")) for tool in ("open", "close") for d in "abc"])
    failures = Failures(recorded)
    assert failures.of_tool["open"][0].text_class == failures.of_tool["close"][0].text_class


def test_the_arguments_are_known_by_their_paths():
    (episode,) = episodes([("open", {"door": {"name": "a"}, "keys": [1, 2]}, "open")])
    assert known_values(episode.steps[0]) == {"args.door.name": "a"}


class At:
    """What a template needs of a moment."""

    def __init__(self, step):
        self.step = step
        self.scope = {"args": dict(step.args), "session": {}}


def test_error_templates_say_what_the_arguments_explain():
    recorded, failures = failing(*((door, f"no door {door} {{here}}") for door in ("red", "blue", "grey")))
    (kind,) = failures.of_tool["open"]
    assert error_template(kind, [At(step) for step in recorded[0].steps]) == "no door {args.door} {{here}}"


def test_error_templates_keep_the_frame():
    recorded, failures = failing(*((d, json.dumps({"error": f'no "{d}"', "code": 4})) for d in ("red", "blue", "grey")))
    (kind,) = failures.of_tool["open"]
    template = error_template(kind, [At(step) for step in recorded[0].steps])
    assert template == '{{"error": "no \\"{args.door}\\"", "code": 4}}'


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("No such file", "not_found"),
        ("User is not logged in", "permission_error"),
        ("Too many requests", "rate_limited"),
        ("Name already taken", "conflict"),
        ("qty must be positive", "validation_error"),
    ],
)
def test_the_words_of_an_error_tell_its_status(text, status):
    assert status_of(text) == status
