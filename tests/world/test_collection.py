"""Collections against a model of plain dicts."""

import json

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule

from envace_sdk.errors import WorldError
from envace_sdk.world import index
from envace_sdk.world.collection import Collection

keys = st.sampled_from([f"k{n}" for n in range(12)])
values = st.sampled_from([None, True, False, 0, 1, 1.0, 2, "1", "a", [1], [1.0], {"a": 1}, {}])
documents = st.fixed_dictionaries({}, optional={"f": values, "g": values, "deep": st.fixed_dictionaries({"f": values})})
FIELDS = ["f", "g", "deep.f"]


def same(left, right):
    """JSON equality by way of text, in which 1 and 1.0 are made alike."""

    def plain(value):
        if isinstance(value, float) and value.is_integer():
            return int(value)
        if isinstance(value, list):
            return [plain(item) for item in value]
        return {name: plain(item) for name, item in value.items()} if isinstance(value, dict) else value

    return json.dumps(plain(left)) == json.dumps(plain(right))


class Model:
    def __init__(self, held=(), removed=()):
        self.held = dict(held)
        self.removed = set(removed)

    def put(self, key, document):
        made = Model(self.held, self.removed - {key})
        made.held[key] = document
        return made

    def remove(self, key):
        made = Model(self.held, self.removed | ({key} if key in self.held else set()))
        made.held.pop(key, None)
        return made

    def find(self, field, value):
        def at(document):
            for part in field.split("."):
                document = document.get(part) if isinstance(document, dict) else None
            return document

        return [document for document in self.held.values() if same(at(document), value)]


class CollectionMachine(RuleBasedStateMachine):
    """Several relatives at once: what one does must never show in another."""

    forks = Bundle("forks")

    @initialize(target=forks, start=st.dictionaries(keys, documents, max_size=8))
    def begin(self, start):
        return Collection(start.items()), Model(start)

    @rule(target=forks, fork=consumes(forks), key=keys, document=documents)
    def put(self, fork, key, document):
        return fork[0].put(key, document), fork[1].put(key, document)

    @rule(target=forks, fork=consumes(forks), key=keys)
    def remove(self, fork, key):
        return fork[0].remove(key), fork[1].remove(key)

    @rule(target=forks, fork=forks, key=keys, document=documents)
    def fork(self, fork, key, document):
        return multiple((fork[0].put(key, document), fork[1].put(key, document)), fork)

    @rule(fork=forks, field=st.sampled_from(FIELDS), value=values)
    def find(self, fork, field, value):
        collection, model = fork
        assert list(collection.find(field, value)) == model.find(field, value)
        assert collection.count(field, value) == len(model.find(field, value))

    @rule(fork=forks, field=st.sampled_from(FIELDS), value=values, after=st.integers(-1, 20))
    def find_after(self, fork, field, value, after):
        everything = list(fork[0].find_entries(field, value))
        assert list(fork[0].find_entries(field, value, after=after)) == [e for e in everything if e.sequence > after]

    @rule(fork=forks, after=st.integers(-1, 20), skip=st.integers(0, 10))
    def page(self, fork, after, skip):
        everything = [entry for entry in fork[0].entries() if entry.sequence > after]
        assert list(fork[0].entries(after=after, skip=skip)) == everything[skip:]

    @rule(fork=forks)
    def restore(self, fork):
        collection, model = fork
        again = Collection.restore(collection.entries(), collection.removed(), collection.next_sequence)
        assert again == collection
        assert list(again.items()) == list(model.held.items())

    @rule(fork=forks, key=keys)
    def look(self, fork, key):
        collection, model = fork
        assert collection.get(key) == model.held.get(key)
        assert (key in collection) is (key in model.held)
        assert collection.was_removed(key) is (key in model.removed)
        assert len(collection) == len(model.held)
        assert list(collection.items()) == list(model.held.items())
        assert collection.removed() == sorted(model.removed)
        sequences = [entry.sequence for entry in collection.entries()]
        assert sequences == sorted(set(sequences))
        assert all(sequence < collection.next_sequence for sequence in sequences)

    @invariant()
    def all_fields_are_indexed(self):
        assert len(FIELDS) <= index.MAX_INDEXES  # else nothing here would be indexed


CollectionMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
test_collections_and_their_forks_behave_like_dicts = CollectionMachine.TestCase


def test_a_key_that_is_put_again_keeps_its_place_and_one_made_anew_comes_last():
    collection = Collection([("a", {}), ("b", {})]).put("a", {"x": 1})
    assert list(collection) == ["a", "b"]
    again = collection.remove("a").put("a", {"x": 2})
    assert list(again) == ["b", "a"]
    assert not again.was_removed("a")


def test_two_documents_under_one_key_are_refused():
    with pytest.raises(WorldError, match="'a'"):
        Collection([("a", {}), ("b", {}), ("a", {})])


def test_finding_by_many_paths_keeps_a_bounded_number_of_indexes():
    collection = Collection([("a", {f"f{n}": n for n in range(100)})])
    for n in range(100):
        assert len(list(collection.find(f"f{n}", n))) == 1
        assert collection.put("b", {f"f{n}": n}).count(f"f{n}", n) == 2
    assert len(collection._start.indexes) == index.MAX_INDEXES


def test_forks_share_the_index_of_their_start():
    collection = Collection([(f"k{n}", {"f": n % 3}) for n in range(9)])
    fork = collection.put("k0", {"f": 9})
    assert [document["f"] for document in fork.find("f", 0)] == [0, 0]
    assert fork._start.indexes["f"] is collection._start.indexes["f"]
    assert collection.count("f", 0) == 3


def test_a_large_collection_grown_by_puts_keeps_its_order():
    collection = Collection()
    for n in range(1000):
        collection = collection.put(f"k{n}", {"even": n % 2 == 0})
    list(collection.find("even", True))
    for n in range(0, 1000, 3):
        collection = collection.remove(f"k{n}")
    left = [n for n in range(1000) if n % 3]
    assert [int(key[1:]) for key in collection] == left
    assert [e.sequence for e in collection.find_entries("even", True, after=500)] == [
        n for n in left if n > 500 and n % 2 == 0
    ]
