"""Scopes of any size: the work is bounded."""

import time
from random import Random

import pytest

from envace_sdk.world.mine.explain import Example, explain

random = Random(0)
WIDE = {f"field_{n}": n for n in range(3_000)}
LONG = "\n".join(f"line {n} of many" for n in range(5_000))
DEEP = {"a": 1}
for _ in range(60):
    DEEP = {"a": DEEP, "b": [1]}


def wide(n):
    return {"args": {**WIDE, "n": n}}


def long_text(n):
    return {"args": {"n": n, "text": f"{n}\n{LONG}"}}


def long_list(n):
    return {"args": {"n": n}, "entity": {"items": [{"id": m, "size": m % 7} for m in range(n, n + 1_000)]}}


def deep(n):
    return {"args": {"n": n}, "entity": DEEP}


def many_texts(n):
    return {"args": {f"t{m}": f"{m} {n}, and /so/{m}/on-{n}.txt" for m in range(80)}}


@pytest.mark.parametrize("scope", [wide, long_text, long_list, deep, many_texts])
@pytest.mark.parametrize("target", ["number", "text", "truth", "list", "object"])
def test_what_cannot_be_explained_is_given_up_soon(scope, target):
    chance = Random(target)
    make = {
        "number": lambda: chance.randint(0, 10**6),
        "text": lambda: "".join(chance.choice("abcdef") for _ in range(200)),
        "truth": lambda: chance.random() < 0.5,
        "list": lambda: [chance.choice("abc") for _ in range(10)],
        "object": lambda: {"x": chance.choice("abcdefgh"), "y": chance.randint(1, 99)},
    }[target]
    examples = [Example(scope(n), make()) for n in range(40)]
    began = time.process_time()
    found = explain(examples)
    assert time.process_time() - began < 8
    assert found == []


@pytest.mark.parametrize("scope", [wide, long_text, long_list, deep])
def test_what_can_be_explained_is_found_among_much(scope):
    found = explain([Example(scope(n), f"number {n}") for n in range(100, 140)])
    assert found[0].source == "'number ' + string(args.n)"


def test_a_long_text_is_copied_and_extended():
    pairs = [({"args": {"text": f"{n}{LONG}", "more": f"end {n * 7}"}}, f"{n}{LONG}end {n * 7}") for n in range(9)]
    assert explain([Example(scope, target) for scope, target in pairs])[0].source == "args.text + args.more"


def test_constants_that_cannot_be_written_are_not():
    assert explain([Example({"args": {}}, 2**80)] * 3) == []
    assert explain([Example({"args": {"n": 2**80}}, 2**80)] * 3)[0].source == "args.n"


def test_many_examples_are_explained_from_a_few_of_them():
    examples = [Example({"args": {"a": n % 97, "b": n % 89}}, (n % 97) * 3 - n % 89) for n in range(10_000)]
    began = time.process_time()
    found = explain(examples)
    assert time.process_time() - began < 5
    assert found[0].source == "args.a * 3 - args.b"
    assert found[0].hits == 10_000
