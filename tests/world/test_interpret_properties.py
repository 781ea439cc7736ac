"""Whatever the rules of CRUD shape and whatever the calls: what was written is read, forks are apart, all repeats."""

import hashlib
import json
import os
import subprocess
import sys

import crud_story
from crud_story import Story, dynamics, fields, shapes, told
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from envace_sdk.world.diff import diff
from envace_sdk.world.keys import key_text
from envace_sdk.world.state import State


def alike(left, right):
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


class Crud(RuleBasedStateMachine):
    @initialize(shape=shapes, seed=st.integers(0, 3))
    def begin(self, shape, seed):
        self.story = Story(dynamics(shape), seed=seed)
        self.keys = {name: key for name, (key, _) in shape.items()}
        self.model = {name: {} for name in shape}
        self.gone = {name: set() for name in shape}
        self.frozen = []

    def name(self, pick):
        return sorted(self.model)[pick % len(self.model)]

    def some_key(self, name, pick):
        known = [*self.model[name], *sorted(self.gone[name]), "nothing"]
        return known[pick % len(known)]

    @rule(pick=st.integers(0, 5), values=fields)
    def create(self, pick, values):
        name = self.name(pick)
        answer = self.story.write(f"create_{name}", values)
        key = key_text(answer.value[self.keys[name]])
        assert key not in self.model[name]
        assert key not in self.gone[name]
        assert alike({field: answer.value[field] for field in values}, values)
        self.model[name][key] = dict(answer.value)

    @rule(pick=st.integers(0, 5), key=st.integers(0, 50), values=fields)
    def update(self, pick, key, values):
        name = self.name(pick)
        key = self.some_key(name, key)
        before = self.story.state
        answer = self.story.write(f"update_{name}", {**values, self.keys[name]: key})
        if key in self.model[name]:
            changes = self.model[name][key].get("changes", 0) + 1
            self.model[name][key] = {**self.model[name][key], **values, "changes": changes}
            assert alike(answer.value, self.model[name][key])
        else:
            assert answer.outcome == "not_found"
            assert self.story.state is before

    @rule(pick=st.integers(0, 5), key=st.integers(0, 50))
    def delete(self, pick, key):
        name = self.name(pick)
        key = self.some_key(name, key)
        answer = self.story.write(f"delete_{name}", {self.keys[name]: key})
        if key in self.model[name]:
            del self.model[name][key]
            self.gone[name].add(key)
            assert answer.outcome == "success"
        else:
            assert answer.outcome == "not_found"

    @rule(pick=st.integers(0, 5), key=st.integers(0, 50))
    def read(self, pick, key):
        name = self.name(pick)
        key = self.some_key(name, key)
        answer = self.story.call(f"get_{name}", {self.keys[name]: key})
        assert answer.state is self.story.state
        if key in self.model[name]:
            assert alike(answer.value, self.model[name][key])
        else:
            assert answer.outcome == "not_found"
        again = self.story.call(f"get_{name}", {self.keys[name]: key})
        assert (again.value, again.error) == (answer.value, answer.error)

    @rule(
        pick=st.integers(0, 5),
        field=st.sampled_from(["title", "status"]),
        value=st.sampled_from(["open", "closed", "é"]),
    )
    def search(self, pick, field, value):
        name = self.name(pick)
        answer = self.story.call(f"list_{name}", {field: value})
        found = [document for document in self.model[name].values() if document.get(field) == value]
        assert answer.value["total"] == len(found)
        assert sorted(json.dumps(item, sort_keys=True) for item in answer.value["items"]) == sorted(
            json.dumps(document, sort_keys=True) for document in found
        )
        for emitted, item in zip(answer.entities, answer.value["items"], strict=True):
            assert self.story.state.get(emitted.collection, emitted.key) is item

    @rule()
    def freeze(self):
        self.frozen.append((self.story.state, json.dumps(self.story.state.to_json())))

    @rule(pick=st.integers(0, 9))
    def go_back_or_reload(self, pick):
        if pick == 0:
            self.story.state = State.from_json(json.loads(json.dumps(self.story.state.to_json())))

    @invariant()
    def earlier_states_have_not_moved(self):
        if getattr(self, "frozen", None):
            state, text = self.frozen[-1]
            assert json.dumps(state.to_json()) == text

    @invariant()
    def the_world_is_the_model(self):
        if not hasattr(self, "story"):
            return
        for name, documents in self.model.items():
            held = self.story.state.collection(name)
            assert list(held) == list(documents)
            assert len(held) == len(documents)
            assert held.removed() == sorted(self.gone[name])


Crud.TestCase.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
test_random_calls_on_random_rules_do_what_a_dict_would = Crud.TestCase


def test_forks_of_one_world_go_their_own_ways():
    story = Story(dynamics({"orders": ("id", "O-{n}")}))
    for n in range(20):
        story.write("create_orders", {"amount": n})
    base = story.state
    ends = []
    for turn in range(3):
        story.state = base
        story.write("update_orders", {"id": f"O-{turn + 1}", "title": "mine"})
        story.write("create_orders", {"title": f"of {turn}"})
        story.write("delete_orders", {"id": "O-20"})
        ends.append(story.state)
    assert base.collection("orders").removed() == []
    for turn, end in enumerate(ends):
        assert [(change.kind, change.key) for change in diff(base, end)] == [
            ("deleted", "O-20"),
            ("updated", f"O-{turn + 1}"),
            ("created", "O-21"),
        ]
        assert end.get("orders", "O-21")["title"] == f"of {turn}"


def test_the_same_calls_give_the_same_bytes_in_any_process():
    expected = hashlib.sha256(told(300).encode()).hexdigest()
    for seed in ("0", "1", "77"):
        done = subprocess.run(
            [sys.executable, crud_story.__file__],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            timeout=120,
        )
        assert hashlib.sha256(done.stdout.decode().rstrip("\n").encode()).hexdigest() == expected
