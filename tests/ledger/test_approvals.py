import secrets
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envace_sdk.errors import ApprovalError, LedgerError
from envace_sdk.json import UNSET
from envace_sdk.ledger import action_digest


def ask(ledger, **options):
    return ledger.approvals.request("r", "refund", {"order": "A", "amount": 5}, **options)


def refused(reason):
    return pytest.raises(ApprovalError, check=lambda error: error.reason == reason)


def test_an_approval_allows_its_action_once(ledger):
    asked = ask(ledger, action="a1", reasons=["over the limit"], risk="high", change=[])
    assert (asked.state, asked.action, asked.arguments) == ("pending", "a1", {"order": "A", "amount": 5})
    assert asked.digest == action_digest("refund", {"amount": 5, "order": "A"})
    with refused("pending"):
        ledger.commit("r", "a1", approval=asked.id, digest=asked.digest)
    assert ledger.approvals.decide(asked.id, "approve", by="ann").state == "approved"
    ledger.commit("r", "a1", approval=asked.id, digest=asked.digest)
    assert ledger.approvals.get(asked.id).state == "used"
    with refused("used"):
        ledger.commit("r", "a2", approval=asked.id, digest=asked.digest)
    with refused("used"):
        ledger.approvals.use(asked.id, asked.digest)
    assert ledger.status("a2") == "not_started"
    assert ledger.verify().ok


def test_a_refused_approval_leaves_the_action_uncommitted_and_a_commit_that_is_taken_leaves_the_approval(ledger):
    asked = ask(ledger, action="a1")
    ledger.approvals.decide(asked.id, "approve", by="ann")
    with refused("other_action"):
        ledger.commit("r", "a1", approval=asked.id, digest=action_digest("refund", {"order": "A", "amount": 500}))
    assert ledger.status("a1") == "decided"
    ledger.commit("r", "a1")
    with pytest.raises(LedgerError):
        ledger.commit("r", "a1", approval=asked.id, digest=asked.digest)
    assert ledger.approvals.get(asked.id).state == "approved"


def test_an_approval_may_be_used_in_a_commit_of_another_run(ledger):
    asked = ask(ledger)
    ledger.approvals.decide(asked.id, "approve", by="ann")
    ledger.commit("elsewhere", "a1", approval=asked.id, digest=asked.digest)
    assert ledger.verify().ok


def test_a_rejection_settles_it(ledger):
    asked = ask(ledger)
    ledger.approvals.decide(asked.id, "reject", by="ann", comment="no")
    with refused("rejected"):
        ledger.approvals.decide(asked.id, "approve", by="bob")
    with refused("rejected"):
        ledger.approvals.use(asked.id, asked.digest)


@pytest.mark.parametrize("by", ["ann", "bob"])
def test_one_may_still_reject_what_was_approved_and_not_used(small, by):
    ledger = small
    asked = ask(ledger)
    ledger.approvals.decide(asked.id, "approve", by="ann")
    ledger.approvals.decide(asked.id, "reject", by=by)
    with refused("rejected"):
        ledger.approvals.use(asked.id, asked.digest)


def test_an_approval_expires_unanswered_and_answered(ledger, clock):
    asked = ask(ledger, expires=timedelta(minutes=10))
    answered = ask(ledger, action="other", expires=timedelta(minutes=10))
    ledger.approvals.decide(answered.id, "approve", by="ann")
    clock.advance(minutes=10)
    with refused("expired"):
        ledger.approvals.decide(asked.id, "approve", by="ann")
    with refused("expired"):
        ledger.approvals.use(answered.id, answered.digest)
    assert ledger.approvals.pending() == []
    forever = ask(ledger, expires=None)
    clock.advance(days=10_000)
    assert ledger.approvals.get(forever.id).state == "pending"


def test_an_approval_is_stale_when_the_world_has_moved(ledger):
    asked = ask(ledger, world="shop:7")
    ledger.approvals.decide(asked.id, "approve", by="ann")
    for world in ("shop:8", None):
        with refused("stale"):
            ledger.approvals.use(asked.id, asked.digest, world=world)
    assert asked.stale("shop:8")
    assert not asked.stale("shop:7")
    assert not ask(ledger, action="x").stale("shop:8")
    ledger.approvals.use(asked.id, asked.digest, world="shop:7")


def test_asking_again_finds_the_open_request_and_makes_a_new_one_when_it_is_settled_expired_or_stale(ledger, clock):
    first = ask(ledger, action="a", world="w1")
    assert ask(ledger, action="a", world="w1").id == first.id
    moved = ask(ledger, action="a", world="w2")
    assert moved.id != first.id
    ledger.approvals.decide(moved.id, "reject", by="ann")
    again = ask(ledger, action="a", world="w2")
    assert again.id not in {first.id, moved.id}
    clock.advance(days=2)
    assert ask(ledger, action="a", world="w2").id != again.id
    assert ledger.approvals.of_action("a").id not in {first.id, moved.id, again.id}
    assert ledger.approvals.of_action("nothing") is None


def test_the_same_action_with_other_arguments_needs_an_approval_of_its_own(ledger):
    first = ask(ledger, action="a")
    other = ledger.approvals.request("r", "refund", {"order": "A", "amount": 6}, action="a")
    assert other.id != first.id


def test_several_people_may_have_to_approve_and_nobody_counts_twice(ledger):
    asked = ask(ledger, needed=2)
    assert ledger.approvals.decide(asked.id, "approve", by="ann").state == "pending"
    with refused("not_allowed"):
        ledger.approvals.decide(asked.id, "approve", by="ann")
    with refused("pending"):
        ledger.approvals.use(asked.id, asked.digest)
    assert ledger.approvals.decide(asked.id, "approve", by="bob").state == "approved"
    with pytest.raises(LedgerError, match="at least one"):
        ask(ledger, needed=0)


def test_with_four_eyes_who_asked_may_not_answer_nor_who_edited(small):
    asked = ask(small, four_eyes=True, asked_by="bob")
    with refused("not_allowed"):
        small.approvals.decide(asked.id, "approve", by="bob")
    edited = small.approvals.edit(asked.id, {"order": "A", "amount": 4}, by="ann")
    for name in ("ann", "bob"):
        with refused("not_allowed"):
            small.approvals.decide(edited.id, "approve", by=name)
    assert small.approvals.decide(edited.id, "approve", by="cy").state == "approved"


def test_roles_come_from_the_list_of_approvers_and_never_from_who_answers(tmp_path, open_ledger):
    ledger = open_ledger(tmp_path / "l.db", approvers={"ann": ["finance"], "bob": []})
    asked = ask(ledger, roles=["finance", "cfo"])
    with refused("not_allowed"):
        ledger.approvals.decide(asked.id, "approve", by="bob")
    with refused("not_allowed"):
        ledger.approvals.decide(asked.id, "approve", by="eve")
    assert ledger.approvals.decide(asked.id, "approve", by="ann").state == "approved"
    with refused("not_allowed"):
        ledger.approvals.decide(ask(ledger, action="x").id, "approve", by="eve")


def test_without_a_list_nobody_has_a_role_and_nobody_is_nameless(small):
    with pytest.raises(ApprovalError, match="no list of approvers"):
        small.approvals.decide(ask(small, roles=["finance"]).id, "approve", by="ann")
    with refused("not_allowed"):
        small.approvals.decide(ask(small, action="x").id, "approve", by="")


def test_an_edited_action_is_another_one_with_a_request_of_its_own(ledger):
    details = {"prediction": {"status": "success"}, "context": {"step": 1}}
    asked = ask(ledger, action="a1", roles=[], needed=1, risk="high", details=details)
    edited = ledger.approvals.edit(asked.id, {"order": "A", "amount": 3}, by="ann", comment="too much")
    assert edited.state == "pending"
    assert edited.arguments == {"order": "A", "amount": 3}
    assert edited.digest == action_digest("refund", {"order": "A", "amount": 3})
    assert edited.replaces == asked.id
    assert edited.change is None
    assert edited.details == {"context": {"step": 1}}
    assert edited.risk == "high"
    old = ledger.approvals.get(asked.id)
    assert (old.state, old.replaced_by) == ("edited", edited.id)
    with refused("edited"):
        ledger.approvals.use(asked.id, asked.digest)
    with refused("other_action"):
        ledger.approvals.use(edited.id, asked.digest)
    ledger.approvals.decide(edited.id, "approve", by="ann")
    ledger.commit("r", "a1-edited", approval=edited.id, digest=edited.digest)


def test_an_edit_must_change_something_and_hold_no_secret(small):
    asked = small.approvals.request("r", "login", {"user": "ann", "password": "hunter2"})
    assert "hunter2" not in str(asked)
    assert asked.digest == action_digest("login", {"user": "ann", "password": "hunter2"})
    with refused("not_allowed"):
        small.approvals.edit(asked.id, {"user": "ann", "password": "hunter2"}, by="ann")
    with refused("not_allowed"):
        small.approvals.edit(asked.id, {"user": "bob", "password": "hunter3"}, by="ann")
    with refused("not_allowed"):
        small.approvals.edit(asked.id, {"user": "bob", "note": str(asked.arguments["password"])}, by="ann")
    with pytest.raises(LedgerError, match="edit"):
        small.approvals.decide(asked.id, "edit", by="ann")


def test_unknown_approvals_are_refused(ledger):
    for call in (
        lambda: ledger.approvals.get("ap_0"),
        lambda: ledger.approvals.decide("ap_0", "approve", by="ann"),
        lambda: ledger.approvals.use("ap_0", "d"),
        lambda: ledger.commit("r", "a", approval="ap_0", digest="d"),
    ):
        with refused("unknown"):
            call()
    assert ledger.runs() == []


def test_those_that_wait_are_listed_by_run_oldest_first(ledger, clock):
    first = ask(ledger, action="a")
    clock.advance(seconds=1)
    second = ledger.approvals.request("s", "delete", {})
    done = ask(ledger, action="b")
    ledger.approvals.decide(done.id, "approve", by="ann")
    assert [a.id for a in ledger.approvals.pending()] == [first.id, second.id]
    assert [a.id for a in ledger.approvals.pending("s")] == [second.id]
    assert [a.id for a in ledger.approvals.select(state="approved")] == [done.id]


def test_waiting_ends_with_an_answer_or_with_the_time(small):
    asked = ask(small)
    assert small.approvals.wait(asked.id, timeout=0).state == "pending"
    small.approvals.decide(asked.id, "reject", by="ann")
    assert small.approvals.wait(asked.id).state == "rejected"


def test_an_approval_whose_payload_was_erased_still_binds(ledger):
    asked = ask(ledger, reasons=["ann@example.com asked"])
    ledger.approvals.decide(asked.id, "approve", by="ann")
    ledger.erase(containing="ann@example.com", by="dpo")
    left = ledger.approvals.get(asked.id)
    assert (left.arguments, left.reasons) == (UNSET, ())
    ledger.approvals.use(asked.id, asked.digest)
    assert ledger.verify().ok


def test_nobody_approves_what_cannot_be_seen_any_more(small):
    asked = ask(small)
    small.erase("r", by="dpo")
    with refused("not_allowed"):
        small.approvals.decide(asked.id, "approve", by="ann")
    assert small.approvals.decide(asked.id, "reject", by="ann").state == "rejected"


ANSWERS = st.lists(
    st.tuples(st.sampled_from(["approve", "reject", "use", "edit", "later"]), st.sampled_from(["ann", "bob", "cy"])),
    max_size=8,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(answers=ANSWERS, needed=st.integers(1, 3))
def test_whatever_people_do_an_approval_is_used_at_most_once_and_only_when_all_said_yes(small, clock, answers, needed):
    name = secrets.token_hex(8)
    asked = ask(small, action=name, needed=needed, expires=timedelta(hours=3))
    uses, approved, settled = 0, set(), False
    for n, (answer, by) in enumerate(answers):
        allowed = not settled and len(approved) >= needed and clock() < asked.expires and not uses
        try:
            if answer == "later":
                clock.advance(hours=1)
            elif answer == "use":
                small.commit("r", f"{name}-{n}", approval=asked.id, digest=asked.digest)
                assert allowed
                uses += 1
            elif answer == "edit":
                small.approvals.edit(asked.id, {"n": n}, by=by)
                settled = True
            else:
                small.approvals.decide(asked.id, answer, by=by)
                settled = settled or answer == "reject"
                approved |= {by} if answer == "approve" else set()
        except ApprovalError:
            assert not (answer == "use" and allowed)
    assert uses <= 1
    assert (small.approvals.get(asked.id).state == "used") == bool(uses)


def test_what_is_asked_for_again_in_another_world_makes_the_earlier_request_stale(ledger):
    first = ask(ledger, action="a1", world="w1")
    ledger.approvals.decide(first.id, "approve", by="ann")
    second = ask(ledger, action="a1", world="w2")
    assert second.id != first.id
    assert ledger.approvals.get(first.id).state == "stale"
    assert [one.id for one in ledger.approvals.pending()] == [second.id]
    with refused("stale"):
        ledger.approvals.use(first.id, first.digest, world="w1")
    with refused("stale"):
        ledger.approvals.decide(first.id, "approve", by="bob")
    assert ask(ledger, action="a1", world="w1").id not in {first.id, second.id}
    assert ledger.verify().ok


def test_a_request_of_another_action_stays_open(small):
    first = ask(small, action="a1", world="w1")
    ask(small, action="a2", world="w2")
    assert small.approvals.get(first.id).state == "pending"


def test_only_what_is_open_goes_stale(small):
    rejected, waiting = ask(small, action="a1"), ask(small, action="a2")
    small.approvals.decide(rejected.id, "reject", by="ann")
    assert small.approvals.outdate(rejected.id, "moved").state == "rejected"
    assert small.approvals.outdate(waiting.id, "moved").stale_because == "moved"
    assert small.approvals.outdate(waiting.id, "again").stale_because == "moved"
    with refused("unknown"):
        small.approvals.outdate("ap_0", "moved")


def test_a_stale_request_can_neither_be_rejected_nor_edited_and_says_what_to_do(small):
    asked = ask(small)
    small.approvals.outdate(asked.id, "moved")
    with refused("stale") as error:
        small.approvals.decide(asked.id, "reject", by="ann")
    assert "let the agent make the call again" in str(error.value)
    with refused("stale"):
        small.approvals.edit(asked.id, {"order": "B"}, by="ann")
