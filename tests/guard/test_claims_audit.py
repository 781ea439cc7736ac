import pytest
from guarded_desk import action, desk

from envace_sdk.errors import ApprovalRequired
from envace_sdk.guard import Act, audit_claims
from envace_sdk.guard.participles import participles
from envace_sdk.tools.model import ToolResult

CANCELLED = Act("cancel_order", {"order_id": "O-12"}, "observed", '{"order_id": "O-12", "status": "cancelled"}')
READ = Act("get_order", {"order_id": "O-12"}, "observed", '{"order_id": "O-12", "status": "shipped"}', writes=False)


@pytest.mark.parametrize(
    "text",
    [
        "I have cancelled your order.",
        "I've cancelled order O-12 for you.",
        "Your order O-12 has been cancelled.",
        "Cancelled!",
        "The order was successfully cancelled.",
        "I looked it up and cancelled it.",
        "Done: your order is now cancelled.",
        "I\u2019ve cancelled order O-12.",
        "I have can\u00adcelled it.",
        "Order O-12 cancelled.",
        "\u2705 Your order cancelled successfully!",
        "I was able to cancel your order.",
        "I managed to cancel order O-12.",
    ],
)
def test_a_sentence_that_says_it_was_done_needs_an_observation(text):
    assert audit_claims(text, [CANCELLED]) == []
    (found,) = audit_claims(text, [READ])
    assert found.verb in {"cancel", "cancelled"}
    assert found.reason == "no action of that kind was called"


@pytest.mark.parametrize(
    "text",
    [
        "I could not cancel your order.",
        "I have not cancelled it.",
        "I haven't cancelled anything.",
        "Your order can be cancelled within an hour.",
        "Shall I have it cancelled?",
        "Once it has been cancelled, the money comes back.",
        "I will send you the form.",
        "If you want it cancelled, say so.",
        "The request was refused.",
        "Order not cancelled.",
        "I was not able to cancel your order.",
        "I wasn't able to cancel your order.",
        "I was able to look your order up.",
        "You asked for any order cancelled.",
        "Orders created before May are archived.",
        "Nothing was changed.",
        "I was unable to get the order cancelled, and nothing was refunded.",
        "",
    ],
)
def test_refusals_offers_conditions_and_questions_are_no_claims(text):
    assert audit_claims(text, []) == []


@pytest.mark.parametrize(
    ("standing", "reason"),
    [
        ("rehearsed", "was only rehearsed"),
        ("blocked", "the guard refused it"),
        ("asked", "waits for a person"),
        ("failed", "failed"),
        ("in_doubt", "in doubt"),
    ],
)
def test_what_did_not_happen_supports_nothing_and_is_named(standing, reason):
    (found,) = audit_claims("I have cancelled order O-12.", [Act("cancel_order", {"order_id": "O-12"}, standing)])
    assert found.nearest.tool == "cancel_order"
    assert reason in found.reason


def test_an_observation_of_another_thing_supports_nothing():
    (found,) = audit_claims("Order O-99 has been cancelled.", [CANCELLED])
    assert found.reason == "cancel_order was observed, but not for O-99"


def test_an_id_is_supported_by_itself_alone():
    (found,) = audit_claims("I have cancelled order O-1.", [CANCELLED])
    assert found.reason == "cancel_order was observed, but not for O-1"


def test_the_same_work_may_be_told_by_another_verb():
    removed = Act("delete_booking", {"booking_id": "B-7"}, "observed")
    assert audit_claims("I have cancelled booking B-7.", [removed]) == []
    assert audit_claims("I have refunded booking B-7.", [removed]) != []


def test_what_was_read_supports_what_is_only_reported():
    read = Act(
        "get_order", {"order_id": "O-12"}, "observed", '{"order_id": "O-12", "status": "cancelled"}', writes=False
    )
    assert audit_claims("Order O-12 was cancelled in May.", [read]) == []
    assert audit_claims("I have cancelled order O-12.", [read]) != []


def test_each_claim_of_a_sentence_is_looked_at():
    found = audit_claims("I have cancelled order O-12 and refunded 20 to your card.", [CANCELLED])
    assert [claim.verb for claim in found] == ["refunded"]


@pytest.mark.parametrize(
    ("verb", "said"),
    [("cancel", "cancelled"), ("apply", "applied"), ("move", "moved"), ("send", "sent"), ("swap", "swapped"),
     ("open", "opened"), ("add", "added"), ("withdraw", "withdrawn"), ("book", "booked"), ("drop", "dropped")],
)  # fmt: skip
def test_verbs_are_known_in_the_form_in_which_they_are_done(verb, said):
    assert said in participles(verb)


def test_a_long_text_is_audited_in_bounded_time():
    text = "I have cancelled it, and, and, and. " * 20_000
    assert len(audit_claims(text, [])) <= 101


def test_a_run_is_audited_by_what_its_ledger_observed(tmp_path):
    rule = {
        "tools": "set_note",
        "then": "commit",
    }
    shop = desk(tmp_path, rule)
    shop.run(action("set_note", {"order_id": "O-1", "note": "x"}))
    with pytest.raises(ApprovalRequired):
        shop.run(action())
    shop.answer = ToolResult.text("locked", is_error=True)
    shop.run(action("set_note", {"order_id": "O-2", "note": "x"}))
    said = "I have updated the note of O-1. I have refunded 20. I also updated O-2."
    found = shop.guard.audit_claims(said)
    assert [(claim.verb, claim.reason) for claim in found] == [
        ("refunded", "refund_order waits for a person's approval"),
        ("updated", "set_note was called, and failed"),
    ]
    (entry,) = shop.ledger.entries("main", kind="claimed")
    assert entry.body["unsupported"] == 2
