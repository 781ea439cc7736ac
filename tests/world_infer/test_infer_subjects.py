"""Catalogues whose names share one prefix: its last noun, which the descriptions confirm, is what they are about."""

import pytest

from envace_sdk.world.infer import infer

SLOTS = """
telescope-slot.claim(scope!, target!, startsAt!: date, minutes: int) -- Claim an observing slot. Returns the slot.
telescope-slot.peek(id!) -- Show one slot.
telescope-slot.shift(id!, startsAt!: date) -- Move a slot to another start time.
telescope-slot.night(scope!, limit: int, offset: int) -- All slots of a telescope, earliest first.
telescope-slot.release(id!) -- Give a slot back.
telescope-slot.attach_note(id!, note!) -- Attach a note to a slot.
telescope-slot.notes(id!) -- The notes of a slot.
"""
SEPARATORS = pytest.mark.parametrize("separator", [".", "/", ":", "__", "_"])


@SEPARATORS
def test_bare_words_act_on_what_the_prefix_names(separator, tools_of):
    found = infer(tools_of(SLOTS.replace("slot.", f"slot{separator}")))
    effects = {name.removeprefix(f"telescope-slot{separator}"): rule.effect for name, rule in found.tools.items()}
    assert list(found.collections) == ["telescope_slots"]
    assert effects == {
        "claim": "create",
        "peek": "read",
        "shift": "update",
        "night": "search",
        "release": "update",
        "attach_note": "update",
        "notes": "read",
    }


@SEPARATORS
def test_a_slot_lives_from_claim_to_release(separator, client_of, naive):
    call = client_of(SLOTS.replace("slot.", f"slot{separator}"))

    def act(verb, **arguments):
        return call(f"telescope-slot{separator}{verb}", **arguments)

    first = {"scope": "north", "target": "M31", "startsAt": "2026-03-01"}
    one = naive.find_id(act("claim", **first), "id")
    two = naive.find_id(act("claim", **{**first, "scope": "south"}), "id")
    assert naive.holds(act("peek", id=one), first)
    act("shift", id=one, startsAt="2026-03-02")
    assert naive.holds(act("peek", id=one), {"startsAt": "2026-03-02"})
    night = [value for _, value in naive.leaves(act("night", scope="north"))]
    assert one in night
    assert two not in night
    act("attach_note", id=one, note="Clear sky")
    act("attach_note", id=one, note="Windy")
    assert act("notes", id=one)["notes"] == ["Clear sky", "Windy"]
    assert not act("notes", id=two).get("notes")
    act("release", id=one)
    assert "released" in [value for _, value in naive.leaves(act("peek", id=one))]


def test_a_noun_alone_described_as_an_answer_makes_nothing(tools_of):
    found = infer(tools_of("get_slot(slot_id!)\ncreate_slot(title!)\nnotes(slot_id!) -- The notes of a slot."))
    assert found.tools["notes"].effect != "create"


def test_a_part_with_an_id_of_its_own_is_no_list(tools_of):
    found = infer(tools_of(f"{SLOTS}telescope-slot.drop_note(note_id!) -- Remove a note."))
    assert "telescope_slots" in found.collections
    assert found.tools["telescope-slot.claim"].effect == "create"
    assert found.tools["telescope-slot.attach_note"].effect == "create"
