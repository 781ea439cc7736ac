"""What calls change is learned from what is shown before and after them."""

from functools import cache
from random import Random

from small_episodes import Failed, understood

from envace_sdk.world.mine.belief import Belief
from envace_sdk.world.mine.effects import Effects
from envace_sdk.world.mine.evaluating import evaluate
from envace_sdk.world.mine.structure import SESSION

SHELVES = ["top", "middle", "bottom"]


def library(seed, length=26, begins=None):
    """A session of a small library, whose books are looked at before and after they are changed."""
    random = Random(seed)
    books = {
        f"b-{n}": {"shelf": random.choice(SHELVES), "home": random.choice(SHELVES), "loans": random.randint(0, 9)}
        for n in range(3)
    }
    books |= begins or {}
    for _ in range(length):
        key = random.choice(list(books))
        book = books[key]
        yield "get_book", {"book_id": key}, {"book_id": key, **book}
        match random.choice(["move", "move", "lend", "lend", "bring_home", "browse"]):
            case "move":
                book["shelf"] = random.choice(SHELVES)
                yield "move", {"book_id": key, "shelf": book["shelf"]}, {"moved": True}
            case "lend":
                book["loans"] += 1
                yield "lend", {"book_id": key}, {"lent": True}
            case "bring_home":
                book["shelf"] = book["home"]
                yield "bring_home", {"book_id": key}, {"done": True}
            case "browse":
                yield "browse", {"book_id": key}, {"pages": random.randint(1, 400)}
        yield "get_book", {"book_id": key}, {"book_id": key, **book}


@cache
def read():
    return understood(*(list(library(seed)) for seed in range(6)), readers=("get_book",))


def test_a_field_that_becomes_an_argument():
    assert read().effects.sets["move", "entity", "shelf"] == "args.shelf"


def test_a_field_that_becomes_another_field():
    assert read().effects.sets["bring_home", "entity", "shelf"] == "entity.home"


def test_a_field_that_counts():
    assert read().effects.sets["lend", "entity", "loans"] in {"entity.loans + 1", "1 + entity.loans"}


def test_what_stays_as_it_was_is_spared():
    effects = read().effects
    assert not effects.touches("move", "entity", "loans")
    assert not effects.touches("lend", "entity", "shelf")
    assert ("lend", "entity", "shelf") not in effects.sets


def test_a_reader_changes_nothing():
    assert not any(read().effects.touches("get_book", "entity", what) for what in ("shelf", "home", "loans"))


def test_a_tool_that_is_only_ever_seen_to_keep_things_changes_nothing():
    assert ("browse", "entity") in read().effects.harmless


def test_known_effects_predict_what_is_not_shown():
    found = read()
    moment = next(m for m in found.moments() if m.step.tool == "lend")
    assert moment.scope["entity"]["loans"] + 1 == moment.after["entity"]["loans"]
    assert moment.scope["args"] == moment.step.args
    assert moment.scope[SESSION] == {}


def test_a_change_that_another_call_may_have_made_teaches_nothing():
    def session(key):
        yield "get_book", {"book_id": key}, {"book_id": key, "shelf": "top"}
        yield "move", {"book_id": key}, {"done": True}
        yield "lend", {"book_id": key}, {"done": True}
        yield "get_book", {"book_id": key}, {"book_id": key, "shelf": "bottom"}

    found = understood([step for n in range(8) for step in session(f"b-{n}")], readers=("get_book",))
    assert found.effects.sets == {}
    assert found.effects.touches("move", "entity", "shelf")


def test_a_failed_call_changes_nothing():
    def session(key):
        yield "get_book", {"book_id": key}, {"book_id": key, "shelf": "top"}
        yield "move", {"book_id": key, "shelf": "bottom"}, Failed("locked")
        yield "get_book", {"book_id": key}, {"book_id": key, "shelf": "top"}

    found = understood([step for n in range(8) for step in session(f"b-{n}")], readers=("get_book",))
    assert not any(place[0] == "move" for place in found.effects.sets)
    moment = next(m for m in found.moments() if m.step.tool == "move")
    assert moment.after["entity"] == moment.scope["entity"]


def test_what_others_show_under_the_name_of_a_field_is_not_the_field():
    def session(seed):
        random = Random(seed)
        size = random.randint(1, 9)
        for n in range(6):
            yield "get_box", {"box_id": f"x{seed}"}, {"box_id": f"x{seed}", "size": size, "message": "a box"}
            yield "get_box", {"box_id": f"x{seed}"}, {"box_id": f"x{seed}", "size": size, "message": "a box"}
            size = n + seed
            yield "resize", {"box_id": f"x{seed}", "size": size}, {"box_id": f"x{seed}", "message": f"now {size}"}
        yield "get_box", {"box_id": f"x{seed}"}, {"box_id": f"x{seed}", "size": size, "message": "a box"}

    found = understood(*(list(session(seed)) for seed in range(5)), readers=("get_box",))
    assert ("resize", "boxes", "message") in found.effects.foreign
    assert found.effects.sets["resize", "entity", "size"] == "args.size"
    last = next(m for m in reversed(found.moments()) if m.step.tool == "get_box")
    assert last.scope["entity"]["message"] == "a box"


def test_a_reader_with_an_option_that_shows_a_field_otherwise_is_not_believed():
    def session(seed):
        key = f"d{seed}"
        for n in range(4):
            whole = f"line {n} and much more of {seed}"
            yield "read_doc", {"doc_id": key}, {"doc_id": key, "text": whole}
            yield "read_doc", {"doc_id": key}, {"doc_id": key, "text": whole}
            yield "read_doc", {"doc_id": key, "head": 6}, {"doc_id": key, "text": whole[:6]}
            yield "read_doc", {"doc_id": key}, {"doc_id": key, "text": whole}
            yield "write_doc", {"doc_id": key, "text": f"line {n + 1} and much more of {seed}"}, {"done": True}

    found = understood(*(list(session(seed)) for seed in range(5)), learn=False)
    for episode in found.episodes:
        for step in episode.steps:
            if "head" in step.args:
                step.viewer = "read_doc(head)"
    effects = found.learn(readers=("read_doc",))
    assert ("read_doc(head)", "docs", "text") in effects.foreign
    assert not any(viewer == "read_doc" for viewer, _, _ in effects.foreign)
    assert effects.sets["write_doc", "entity", "text"] == "args.text"


def test_what_is_shown_anew_each_time_is_no_field():
    def session(seed):
        random = Random(seed)
        key = f"d{seed}"
        for _ in range(6):
            yield "ping", {"host_id": key}, {"host_id": key, "took": random.randint(100, 999)}

    found = understood(*(list(session(seed)) for seed in range(5)))
    assert ("ping", "hosts", "took") in found.effects.foreign


def test_an_effect_that_later_sightings_contradict_is_given_up():
    found = understood(*(list(library(seed)) for seed in range(4)), learn=False)
    found.effects = Effects(sets={("lend", "entity", "loans"): "entity.loans + 2"})
    effects = found.learn(readers=("get_book",))
    assert ("lend", "entity", "loans") not in effects.sets


def test_known_makers_and_removers_make_and_remove_what_the_moments_know():
    def session(key):
        yield "put_card", {"card_id": key, "text": "new"}, {"card_id": key, "text": "new"}
        yield "get_card", {"card_id": key}, {"card_id": key, "text": "new"}
        yield "drop_card", {"card_id": key}, {"done": True}
        yield "get_card", {"card_id": key}, Failed("no such card")

    found = understood([step for n in range(5) for step in session(f"c{n}")], readers=("get_card",))
    found.effects.makes["put_card", "entity"] = ""
    found.effects.removes.add(("drop_card", "entity"))
    existed = [(m.step.tool, m.existed["entity"]) for m in found.moments()][:4]
    assert existed == [("put_card", None), ("get_card", True), ("drop_card", True), ("get_card", False)]
    dropped = next(m for m in found.moments() if m.step.tool == "drop_card")
    assert dropped.scope["entity"] == {"card_id": "c0", "text": "new"}
    assert dropped.after["entity"] is None


def test_what_is_shown_later_of_a_new_thing_was_given_to_it_by_its_maker():
    def session(seed):
        for n in range(4):
            key, text = f"note-{seed}-{n}", f"text {seed * n}"
            yield "write", {"body": text}, {"note_id": key}
            yield "read", {"note_id": key}, {"note_id": key, "content": text, "stars": 0}

    found = understood(*(list(session(seed)) for seed in range(4)), readers=("read",))
    assert found.casts["write"].primary.fresh
    assert found.effects.sets["write", "entity", "content"] == "args.body"
    assert found.effects.sets["write", "entity", "stars"] == "0"


def test_belief_tells_what_is_known_for_certain():
    belief = Belief({"cards": {"0": {}, "1": {"text": "old"}, "9": {}}}, {"cards": "id"})
    assert belief.document("cards", 1) == {"id": "1", "text": "old"}
    assert belief.document("cards", "2") is None
    assert belief.document("cards", None) is None
    thing = belief.thing("cards", "1")
    assert (thing.assumed, thing.exists, belief.thing("cards", "2").exists) == (True, True, None)
    thing.forget()
    assert belief.document("cards", 1) == {"id": "1"}
    assert [thing.key for thing in belief.heard_of("cards")] == ["1", "2"]
    assert belief.document("cards", "0") == {"id": "0"}
    assert [thing.key for thing in belief.heard_of("cards")] == ["0", "1", "2"]


def shelved(seed, *, seen_before=True):
    """A session of calls that move a book only if they are told where to."""
    random = Random(seed)
    for n in range(12):
        key, shelf = f"b{seed}-{n}", random.choice(SHELVES)
        if seen_before and n % 2:
            for _ in range(2):
                yield "get_book", {"book_id": key}, {"book_id": key, "shelf": shelf}
        args = {"book_id": key} if n % 3 else {"book_id": key, "shelf": random.choice(SHELVES)}
        yield "tidy", args, {"done": True}
        yield "get_book", {"book_id": key}, {"book_id": key, "shelf": args.get("shelf", shelf)}


def test_what_may_stay_as_it_is_is_told_by_the_calls_before_which_it_was_known():
    found = understood(*(list(shelved(seed)) for seed in range(6)), readers=("get_book",))
    source = found.effects.sets["tidy", "entity", "shelf"]
    scope = {"args": {"shelf": "new"}, "session": {}, "entity": {"shelf": "old"}}
    assert evaluate(source, scope) == "new"
    assert evaluate(source, {**scope, "args": {}}) == "old"


def test_what_was_never_known_before_is_not_told_so():
    found = understood(*(list(shelved(seed, seen_before=False)) for seed in range(6)), readers=("get_book",))
    assert ("tidy", "entity", "shelf") not in found.effects.sets


def stamped(books, *, seen_before=False):
    """A session in which some books are stamped, each of which is red afterwards."""
    for n in range(books):
        look = {"book_id": f"b-{n}"}
        for _ in range(2 * seen_before):
            yield "get_book", look, {**look, "colour": "plain"}
        yield "stamp", look, {"done": True}
        for _ in range(2):
            yield "get_book", look, {**look, "colour": "red"}


def colour_after(*sessions):
    found = understood(*map(list, sessions), readers=("get_book",))
    return found.effects.sets.get(("stamp", "entity", "colour"))


def test_what_is_the_same_after_a_few_calls_may_have_been_so_before_them():
    assert colour_after(*(stamped(2) for _ in range(4))) is None


def test_what_is_the_same_after_many_calls_is_their_doing():
    assert colour_after(*(stamped(5) for _ in range(4))) == "'red'"


def test_what_was_seen_to_become_the_same_is_their_doing_though_they_are_few():
    assert colour_after(*(stamped(2, seen_before=True) for _ in range(4))) == "'red'"
