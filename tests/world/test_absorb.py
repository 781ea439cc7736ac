"""Which parts of an answer are entities, and of which collection."""

import pytest

from envace_sdk.world.absorb import shown_entities
from envace_sdk.world.dynamics import Dynamics

RULES = Dynamics.parse("""
collections:
  cards: {key: card_id, noun: card}
  members: {key: member_id, noun: member}
tools:
  block: {effect: update, collection: cards, key: args.card_id, returns: {wrap: item}}
  list: {effect: search, collection: cards, returns: {wrap: found}}
  show: {effect: read, collection: cards, key: args.card_id}
""")
CARD = {"card_id": "C-1", "status": "blocked"}
HOLD = {"hold_id": "H-1", "card_id": "C-1", "status": "active"}
MEMBER = {"member_id": "M-1", "name": "Ann"}


def entities(tool, value):
    return list(shown_entities(value, RULES.tools[tool], RULES))


def test_what_stands_beside_the_wrapped_entity_and_refers_to_it_is_not_taken_for_it():
    assert entities("block", {"item": CARD, "pending": [HOLD]}) == [("cards", "C-1", CARD)]


def test_what_stands_beside_the_wrapped_list_and_refers_to_an_item_is_not_taken_for_it():
    assert entities("list", {"holds": [HOLD], "found": [CARD]}) == [("cards", "C-1", CARD)]


def test_what_stands_beside_the_wrapped_entity_under_the_name_of_a_collection_is_of_that():
    found = entities("block", {"item": CARD, "member": MEMBER})
    assert found == [("cards", "C-1", CARD), ("members", "M-1", MEMBER)]


@pytest.mark.parametrize("value", [{"answer": CARD}, [CARD], {"answer": [CARD]}, CARD])
@pytest.mark.parametrize("tool", ["show", "block"])
def test_an_answer_that_is_not_in_the_form_of_the_rule_is_searched(tool, value):
    assert entities(tool, value) == [("cards", "C-1", CARD)]
