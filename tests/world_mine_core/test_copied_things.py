"""Calls after which a thing is as another one is."""

from random import Random

from small_episodes import understood

WORDS = ["plum", "pear", "fig", "kiwi", "lime", "date"]


def shelf(seed, *, copies=2, tool="copy_box"):
    """A session in which boxes are looked at, and made like others that were looked at."""
    random = Random(seed)
    boxes = {}
    for n in range(3):
        key = f"b{seed}-{n}"
        boxes[key] = {"fruit": random.choice(WORDS), "count": random.randint(1, 99)}
        for _ in range(2):
            yield "get_box", {"box_id": key}, {"box_id": key, **boxes[key]}
    for n in range(4):
        source, target = random.choice(list(boxes)), f"c{seed}-{n}"
        made = boxes[source] if copies > n % 2 else {"fruit": random.choice(WORDS), "count": random.randint(1, 99)}
        yield tool, {"box_id": source, "new_box_id": target}, {"done": True}
        boxes[target] = dict(made)
        yield "get_box", {"box_id": target}, {"box_id": target, **made}


def learned(sessions=6, readers=("get_box",), **how):
    return understood(*(list(shelf(seed, **how)) for seed in range(sessions)), readers=readers)


def copying(found, tool="copy_box"):
    """What becomes like what, in the words of the arguments."""
    sources = {named.name: named.source for named in found.casts[tool].named}
    return {(sources[name], sources[other]) for (of, name), other in found.effects.likes.items() if of == tool}


def test_what_has_all_that_another_had_was_made_like_it():
    assert copying(learned()) == {("args.new_box_id", "args.box_id")}


def test_its_key_is_its_own():
    found = learned()
    [(_, name)] = found.effects.likes
    found.effects.makes["copy_box", name] = ""
    moment = next(m for m in found.moments() if m.step.tool == "copy_box")
    names = {named.source: named.name for named in found.casts["copy_box"].named}
    made, source = moment.after[names["args.new_box_id"]], moment.scope[names["args.box_id"]]
    assert made == {**source, "box_id": moment.step.args["new_box_id"]}


def test_what_was_made_otherwise_is_like_nothing():
    assert copying(learned(copies=0)) == set()


def test_what_was_often_made_otherwise_is_like_nothing_either():
    assert copying(learned(copies=1)) == set()


def test_a_tool_that_only_looks_makes_nothing_alike():
    found = learned(readers=("get_box", "compare_boxes"), tool="compare_boxes")
    assert copying(found, "compare_boxes") == set()
