"""Texts that show things line by line, and how calls move what they show."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from notes_toolset import Session, tool

from envace_sdk.rehearse import Environment
from envace_sdk.rehearse.precedents.board import Board, board_of
from envace_sdk.rehearse.precedents.boards import Boards, View
from envace_sdk.rehearse.precedents.book import Book
from envace_sdk.rehearse.precedents.cases import cases_of, events_of
from envace_sdk.rehearse.precedents.events import Event
from envace_sdk.rehearse.precedents.scene import Scene
from envace_sdk.rehearse.precedents.sheet import sheet_of
from envace_sdk.rehearse.precedents.vocabulary import Vocabulary
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import ToolCall, ToolResult
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.dynamics import Dynamics

STARTS = (("bread", "milk", "salt"), ("nails", "paint"), ("soap", "bread", "tea", "rice"), ("lamp", "rope", "glue"))
HINTS = {"look": False, "take": True, "pay": True, "smell": False}
TOOLS = [
    tool("look", {}),
    tool("smell", {}),
    tool("pay", {}),
    tool("take", {"names": {"type": "array", "items": {"type": "string"}}}),
]
OPAQUE = Dynamics.parse(
    "tools: {look: {effect: opaque}, smell: {effect: opaque}, pay: {effect: opaque}, take: {effect: opaque}}"
)


class Shop:
    """A shop with a shelf and a basket; `take` with `*` takes all, `pay` empties the basket."""

    def __init__(self, goods):
        self.shelf, self.basket = sorted(goods), []

    def look(self):
        lines = ["You see:"]
        if self.basket:
            lines += ["In the basket:", *(f"  + {name}" for name in sorted(self.basket)), ""]
        if self.shelf:
            lines += ["On the shelf:", *(f"  - {name}" for name in sorted(self.shelf)), ""]
        return "\n".join([*lines, "A basket waits to be paid." if self.basket else "The basket is empty."])

    def call(self, tool, **arguments):
        answer, is_error = "Done", False
        if tool == "look":
            answer = self.look()
        elif tool == "take":
            names = self.shelf if arguments["names"] == ["*"] else [n for n in self.shelf if n in arguments["names"]]
            answer = "Taken" if names else "Nothing to take"
            self.basket, self.shelf = self.basket + list(names), [n for n in self.shelf if n not in names]
        elif tool == "smell":
            answer = f"It smells of {self.basket[0]}" if self.basket else "It smells of nothing"
        elif tool == "pay":
            answer, is_error = ("Paid", False) if self.basket else ("The basket is empty", True)
            self.basket = []
        result = ToolResult.text(answer, is_error=is_error)
        return Event(tool, arguments, answer, is_error=is_error, result=result)


def episode(random, goods):
    shop = Shop(goods)
    yield shop.call("look")
    for _ in range(random.randint(4, 10)):
        tool = random.choice(["look", "take", "take", "pay", "smell"])
        some = random.sample(sorted(goods), random.randint(1, len(goods)))
        yield shop.call(tool, **({"names": random.choice([some, some, ["*"]])} if tool == "take" else {}))
        if random.random() < 0.7:
            yield shop.call("look")


def recorded(count=24, seed=1):
    random = Random(seed)
    return {f"e{n:02}": list(episode(random, STARTS[n % len(STARTS)])) for n in range(count)}


@pytest.fixture(scope="module")
def board():
    found = board_of("look", recorded(), HINTS)
    assert found is not None
    return found


def told(event, name):
    return Event(event.tool, event.arguments, event.value, is_error=event.is_error, result=event.result, told=name)


def text(board, *past, named=()):
    items, _ = board.state(board.usual, past, named)
    return board.sheet.write(items)


def test_a_text_is_read_as_who_stands_where_and_written_as_it_was():
    texts = [event.value for events in recorded().values() for event in events if event.tool == "look"]
    sheet = sheet_of(texts)
    assert all(sheet.write(sheet.read(one).items) == one for one in texts)
    shop = Shop(["bread", "tea"])
    shop.call("take", names=["tea"])
    shown = sheet.read(shop.look())
    assert {name: place.section for name, place in shown.items.items()} == {
        "tea": "In the basket:",
        "bread": "On the shelf:",
    }


def test_sections_that_never_stood_together_are_put_together():
    frames = [
        "List\nA:\n- {}\n\nB:\n- {}\n\nend",
        "List\nB:\n- {}\n\nC:\n- {}\n\nend",
        "List\nA:\n- {}\n\nend",
        "List\nC:\n- {}\n\nend",
    ]
    words = [f"w{n}" for n in range(40)]
    texts = [frame.format(words[n], words[n + 1]) for n in range(0, 36, 4) for frame in frames]
    sheet = sheet_of(texts)
    first, last = sheet.read(frames[2].format("x")), sheet.read(frames[3].format("y"))
    assert sheet.write({**last.items, **first.items}) == "List\nA:\n- x\n\nC:\n- y\n\nend"


def test_what_was_shown_and_what_was_done_since_tell_what_is_shown(board):
    shop = Shop(["bread", "milk", "salt"])
    past = [shop.call("look"), shop.call("take", names=["milk"])]
    assert text(board, *past) == shop.look()
    past += [shop.call("pay"), shop.call("take", names=["*"])]
    assert text(board, *past) == shop.look()


def test_things_that_were_never_recorded_are_moved_alike(board):
    shop = Shop(["anvil", "tongs", "hammer"])
    past = [shop.call("look"), shop.call("take", names=["tongs"])]
    assert text(board, *past) == shop.look()


def test_a_world_began_as_the_session_that_held_what_is_named(board):
    guessed = told(Shop(STARTS[1]).call("look"), "e01")
    shop = Shop(STARTS[3])
    taken = shop.call("take", names=["rope"])
    assert text(board, guessed, told(taken, "e05")) == shop.look()
    assert text(board, guessed) == Shop(STARTS[1]).look()


def test_what_moves_things_is_told_by_hints_or_by_what_changed():
    assert board_of("look", recorded(), {}).movers == {"take", "pay"}


def test_features_say_what_a_call_would_move():
    boards = Boards(recorded(), HINTS)
    shop = Shop(STARTS[0])
    past = [shop.call("look"), shop.call("take", names=["milk"])]

    def features(tool, **arguments):
        return boards.view(Scene(tool, arguments, past, None)).features

    assert features("take", names=["bread"])["moves:look"] == "yes"
    assert features("take", names=["milk"])["moves:look"] == "no"
    assert features("pay")["holds:look:In the basket:"] == "yes"
    assert features("take", names=["bread"])["stands:look"] == "On the shelf:"


def test_a_tool_whose_texts_change_for_no_reason_has_no_board():
    random = Random(3)
    episodes = {
        name: [Shop(random.choice(STARTS)).call("look") if event.tool == "look" else event for event in events]
        for name, events in recorded().items()
    }
    assert board_of("look", episodes, HINTS) is None


def test_the_same_recordings_give_the_same_board():
    shop = Shop(STARTS[2])
    past = [shop.call("take", names=["tea", "soap"]), shop.call("pay"), shop.call("take", names=["*"])]
    first, second = (board_of("look", recorded(), HINTS) for _ in range(2))
    assert text(first, *past) == text(second, *past)


LINES = st.lists(
    st.sampled_from(["", "a", "b", "x: a", "x: b", "x: c", "- d", "- e", "- f", "Head:", "'q'"]), max_size=6
)


def fixtures():
    return [
        Fixture(ToolCall(event.tool, event.arguments), event.result, name, place)
        for name, events in recorded().items()
        for place, event in enumerate(events)
    ]


def test_the_precedent_of_a_call_is_the_same_call_where_the_same_was_shown():
    boards = Boards(events_of(fixtures(), lambda call: call.arguments), HINTS)
    cases = cases_of(fixtures(), {}, {"smell"}, {"look", "take", "pay"})
    book = Book("smell", cases, Vocabulary(cases), boards)

    def precedent(goods, taken):
        shop = Shop(goods)
        scene = Scene("smell", {}, [shop.call("look"), shop.call("take", names=taken)], None)
        return book.same_state(scene.key, boards.view(scene)), shop

    seen = set()
    for goods in STARTS:
        for taken in [list(goods), list(goods[:1]), list(goods[1:])]:
            case, shop = precedent(goods, taken)
            if case is not None:
                assert (
                    boards.view(case.scene).things == boards.view(Scene("smell", {}, [shop.call("look")], None)).things
                )
                seen.add(goods)
    assert len(seen) > 1
    assert precedent(["anvil", "tongs"], ["tongs"])[0] is None


def twin():
    environment = Environment(Toolset.from_definitions(TOOLS, name="shop"), dynamics=OPAQUE, precedents=fixtures())
    return Session(environment, environment.world())


def test_what_is_answered_in_the_same_state_is_answered_again():
    session, shop = twin(), Shop(STARTS[0])
    for names in (["milk", "bread", "salt"], ["milk"]):
        assert session("take", names=names).result.first_text == shop.call("take", names=names).value
    assert session("smell").result.first_text == shop.call("smell").value == "It smells of bread"
    assert session("pay").result.first_text == shop.call("pay").value == "Paid"
    assert session("smell").result.first_text == shop.call("smell").value == "It smells of nothing"


def test_a_twin_shows_what_was_done_and_refuses_what_cannot_be():
    session, shop = twin(), Shop(STARTS[2])
    for name, arguments in [
        ("take", {"names": ["tea", "rice"]}),
        ("look", {}),
        ("take", {"names": ["tea"]}),
        ("pay", {}),
        ("pay", {}),
        ("look", {}),
        ("take", {"names": ["soap"]}),
        ("look", {}),
    ]:
        real, played = shop.call(name, **arguments), session(name, **arguments).result
        assert (name, played.first_text, played.is_error) == (name, real.value, real.is_error)


@given(st.lists(LINES.map("\n".join), max_size=12))
def test_what_is_written_is_read_as_what_was_to_be_shown(texts):
    sheet = sheet_of(texts)
    shown = [one for text in texts if sheet is not None and (one := sheet.read(text)) is not None]
    for one in shown:
        for other in shown:
            items = {**one.items, **other.items}
            again = sheet.write(items)
            assert again is None or sheet.read(again).items == items


VALUES = st.sampled_from([None, True, 1, "", "a", "b", ["a"], ["b", "d"], {"x": "e"}])
EVENTS = st.lists(
    st.builds(
        lambda tool, names, value, is_error: Event(tool, {"names": names}, value, is_error=is_error),
        st.sampled_from(["look", "take"]),
        VALUES,
        LINES.map("\n".join) | VALUES,
        st.booleans(),
    ),
    max_size=6,
)


@given(st.dictionaries(st.sampled_from("abc"), EVENTS, max_size=3), EVENTS)
def test_whatever_happened_it_can_be_followed(episodes, past):
    texts = [event.value for events in episodes.values() for event in events if isinstance(event.value, str)]
    sheet = sheet_of(texts)
    board = None if sheet is None else Board("look", sheet, episodes, {})
    boards = {} if board is None else {"look": board}
    for event in past:
        view = View(boards, Scene(event.tool, event.arguments, past, None))
        assert view.text is None or isinstance(view.text, str)
        assert view.alike <= episodes.keys()
        assert all(isinstance(value, str) for value in view.features.values())
