import asyncio
import threading

import pytest
from guarded_desk import READS, action, desk

from envace_sdk.errors import ApprovalRequired, GuardError, InDoubtError, Refused
from envace_sdk.evidence import Claimed, Observed, read_label
from envace_sdk.guard import Decision, Pass
from envace_sdk.tools.model import ToolResult

COMMIT_ALL = {"name": "all", "then": "commit"}
SMALL = {
    "name": "small refunds",
    "tools": "refund_order",
    "arguments": {
        "order_id": {"pattern": "^O-[0-9]+$", "type": "string"},
        "amount": {"type": "number", "minimum": 0, "maximum": 25},
    },
    "then": "commit",
}


def test_a_read_is_rehearsed_judged_committed_observed_and_scored(tmp_path):
    shop = desk(tmp_path)
    outcome = shop.run(action("get_order", {"order_id": "O-1"}))
    assert outcome.result.value()["total"] == 50
    assert shop.kinds() == ["rehearsed", "decision", "commit", "observed"]
    assert outcome.score is not None
    assert outcome.score.right
    assert shop.kinds("scores/get_order") == ["scored"]
    assert isinstance(outcome.evidence, Observed)
    assert isinstance(read_label(outcome.result.meta), Observed)


def test_an_executed_action_is_answered_from_the_ledger_and_not_executed_again(tmp_path):
    shop = desk(tmp_path)
    first = shop.run(action("get_order", {"order_id": "O-1"}))
    second = shop.run(action("get_order", {"order_id": "O-1"}))
    assert len(shop.executed) == 1
    assert second.replayed
    assert second.result.content == first.result.content
    assert second.result.structured == first.result.structured


def test_equal_calls_of_one_pass_are_executed_each(tmp_path):
    shop = desk(tmp_path)
    for current in (Pass("t", "1"), Pass("t", "1")):
        for _ in range(2):
            shop.run(current.action("get_order", {"order_id": "O-1"}, call_id="same"))
    assert len(shop.executed) == 2


def test_a_risky_action_waits_for_a_person_and_runs_once_after_they_approve(tmp_path):
    shop = desk(tmp_path)
    with pytest.raises(ApprovalRequired) as pause:
        shop.run(action())
    assert shop.executed == []
    assert pause.value.payload["change"][0]["fields"] == {"refunded": {"before": 0, "after": 20}}
    assert "refunded 0 → 20" in pause.value.payload["predicted"]
    shop.guard.approve(pause.value.approval, by="ann")
    assert not shop.run(action()).result.is_error
    shop.run(action())
    assert shop.executed == [("refund_order", {"order_id": "O-1", "amount": 20})]


def test_a_rejected_action_is_never_executed(tmp_path):
    shop = desk(tmp_path)
    with pytest.raises(ApprovalRequired) as pause:
        shop.run(action())
    shop.guard.reject(pause.value.approval, by="ann")
    for _ in range(2):
        with pytest.raises(Refused, match="rejected by ann"):
            shop.run(action())
    assert shop.executed == []


def test_the_same_pending_request_is_shown_again_while_nobody_has_answered(tmp_path):
    shop = desk(tmp_path)
    verdicts = [shop.decide(action()) for _ in range(3)]
    assert {verdict.kind for verdict in verdicts} == {"ask"}
    assert len({verdict.approval for verdict in verdicts}) == 1
    assert shop.kinds() == ["rehearsed", "approval_requested", "decision"]


def test_a_high_risk_is_not_committed_by_a_rule_that_bounds_nothing(tmp_path):
    shop = desk(tmp_path, COMMIT_ALL)
    verdict = shop.decide(action())
    assert verdict.kind == "ask"
    assert "not explicit" in verdict.reasons[0]


def test_a_high_risk_is_committed_by_a_rule_that_names_the_tool_and_bounds_its_arguments(tmp_path):
    shop = desk(tmp_path, SMALL)
    assert not shop.run(action()).result.is_error
    assert shop.decide(action(arguments={"order_id": "O-2", "amount": 26})).kind == "ask"


def test_a_dry_run_does_not_let_a_high_risk_commit(tmp_path):
    async def dry(_):
        return ToolResult.text("would succeed")

    shop = desk(tmp_path, COMMIT_ALL, dry_runs={"refund_*": dry})
    verdict = shop.decide(action())
    assert verdict.prediction.kind == "dry_run"
    assert verdict.kind == "ask"


def test_arguments_that_the_schema_forbids_are_sent_back_and_shown_to_nobody(tmp_path):
    shop = desk(tmp_path)
    with pytest.raises(Refused) as refusal:
        shop.run(action(arguments={"order_id": "O-1", "amount": "much"}))
    assert refusal.value.kind == "revise"
    assert "/amount" in refusal.value.reasons[0]
    assert "approval_requested" not in shop.kinds()


def test_a_predicted_failure_can_be_sent_back_by_a_rule(tmp_path):
    shop = desk(
        tmp_path, {"when": "prediction.status == 'conflict'", "then": "revise", "reason": "done already"}, SMALL
    )
    shop.run(action())
    with pytest.raises(Refused, match="done already"):
        shop.run(action(call_id="another"))


def test_an_unknown_tool_is_blocked(tmp_path):
    shop = desk(tmp_path)
    with pytest.raises(Refused, match="there is no tool 'launch'"):
        shop.run(action("launch", {}))


def test_a_tool_without_a_rule_is_a_high_risk(tmp_path):
    shop = desk(tmp_path, {"when": "risk.level == 'low'", "then": "commit"}, COMMIT_ALL)
    verdict = shop.decide(action("mystery", {}))
    assert (verdict.kind, verdict.risk.level) == ("ask", "high")


def test_the_known_world_follows_what_was_observed(tmp_path):
    shop = desk(tmp_path, SMALL)
    shop.run(action())
    assert shop.guard.world.state.get("orders", "O-1")["refunded"] == 20
    verdict = shop.decide(action(call_id="2"))
    assert verdict.prediction.status == "conflict"


def test_an_approval_is_stale_once_the_world_has_moved(tmp_path):
    shop = desk(tmp_path)
    with pytest.raises(ApprovalRequired) as pause:
        shop.run(action())
    shop.guard.approve(pause.value.approval, by="ann")
    moved = ToolResult.json({"order_id": "O-1", "total": 50, "refunded": 50, "note": ""}, structured=True)
    shop.guard.observe(action("get_order", {"order_id": "O-1"}, call_id="elsewhere"), moved)
    with pytest.raises(ApprovalRequired) as again:
        shop.run(action())
    assert again.value.approval != pause.value.approval
    assert any("the world has moved" in reason for reason in again.value.payload["reasons"])
    assert shop.executed == []


def test_an_approval_holds_while_only_other_things_change(tmp_path):
    shop = desk(tmp_path, SMALL)
    with pytest.raises(ApprovalRequired) as pause:
        shop.run(action(arguments={"order_id": "O-9", "amount": 100}))
    shop.guard.approve(pause.value.approval, by="ann")
    shop.run(action())
    shop.run(action(arguments={"order_id": "O-9", "amount": 100}))
    assert len(shop.executed) == 2


def test_an_edited_action_is_judged_as_a_new_one(tmp_path):
    shop = desk(tmp_path, {"tools": "refund_order", "when": "args.amount > 40", "then": "block", "reason": "too much"})
    with pytest.raises(ApprovalRequired) as pause:
        shop.run(action())
    shop.guard.edit(pause.value.approval, {"order_id": "O-1", "amount": 45}, by="ann")
    with pytest.raises(Refused) as refusal:
        shop.run(action())
    assert refusal.value.kind == "revise"
    assert refusal.value.arguments == {"order_id": "O-1", "amount": 45}
    with pytest.raises(Refused, match="too much"):
        shop.run(action().edited(refusal.value.arguments))
    assert shop.executed == []


def test_an_edited_action_runs_once_the_edit_is_approved(tmp_path):
    shop = desk(tmp_path)
    with pytest.raises(ApprovalRequired) as pause:
        shop.run(action())
    edited = shop.guard.edit(pause.value.approval, {"order_id": "O-1", "amount": 10}, by="ann")
    with pytest.raises(ApprovalRequired) as second:
        shop.run(action().edited({"order_id": "O-1", "amount": 10}))
    assert second.value.approval == edited.id
    assert second.value.payload["change"][0]["fields"]["refunded"]["after"] == 10
    shop.guard.approve(edited.id, by="bob")
    shop.run(action().edited({"order_id": "O-1", "amount": 10}))
    assert shop.executed == [("refund_order", {"order_id": "O-1", "amount": 10})]


def test_an_approved_edit_is_stale_once_the_world_has_moved(tmp_path):
    shop = desk(tmp_path)
    with pytest.raises(ApprovalRequired) as pause:
        shop.run(action())
    edited = shop.guard.edit(pause.value.approval, {"order_id": "O-1", "amount": 10}, by="ann")
    shop.guard.approve(edited.id, by="bob")
    moved = ToolResult.json({"order_id": "O-1", "total": 5, "refunded": 0, "note": ""}, structured=True)
    shop.guard.observe(action("get_order", {"order_id": "O-1"}, call_id="elsewhere"), moved)
    with pytest.raises(ApprovalRequired) as again:
        shop.run(action().edited({"order_id": "O-1", "amount": 10}))
    assert again.value.approval != edited.id


def test_a_commit_without_an_observation_is_in_doubt_and_not_retried(tmp_path):
    shop = desk(tmp_path, SMALL)
    shop.fails = TimeoutError("no answer")
    with pytest.raises(TimeoutError):
        shop.run(action())
    shop.fails = None
    with pytest.raises(InDoubtError):
        shop.run(action())
    assert shop.decide(action()).kind == "block"
    assert len(shop.executed) == 1


def test_a_person_who_looked_settles_what_is_in_doubt(tmp_path):
    shop = desk(tmp_path, SMALL)
    shop.fails = TimeoutError("no answer")
    with pytest.raises(TimeoutError):
        shop.run(action())
    shop.fails = None
    shop.guard.settle(action(), by="ann", happened=True)
    outcome = shop.run(action())
    assert outcome.replayed
    assert isinstance(outcome.evidence, Claimed)
    assert isinstance(read_label(outcome.result.meta), Claimed)
    assert len(shop.executed) == 1


def test_what_a_person_saw_not_to_have_happened_may_be_executed(tmp_path):
    shop = desk(tmp_path, SMALL)
    shop.fails = ConnectionError("gone")
    with pytest.raises(ConnectionError):
        shop.run(action())
    shop.fails = None
    shop.guard.settle(action(), by="ann", happened=False)
    assert not shop.run(action()).result.is_error
    assert len(shop.executed) == 2


def test_only_what_is_in_doubt_can_be_settled(tmp_path):
    shop = desk(tmp_path)
    with pytest.raises(GuardError, match="not in doubt, but not_started"):
        shop.guard.settle(action(), by="ann", happened=True)


def test_the_synchronous_twins_do_the_same(tmp_path):
    shop = desk(tmp_path)
    look = action("get_order", {"order_id": "O-1"})
    assert shop.guard.decide_sync(look).kind == "commit"
    outcome = shop.guard.run_sync(look, lambda: ToolResult.text("seen"))
    assert outcome.result.first_text == "seen"
    with pytest.raises(ApprovalRequired):
        shop.guard.run_sync(action(), lambda: ToolResult.text("never"))


def test_the_synchronous_twin_executes_in_the_callers_thread_also_inside_a_running_loop(tmp_path):
    import threading

    shop = desk(tmp_path)
    seen = []

    async def main():
        shop.guard.run_sync(action("get_order", {"order_id": "O-1"}), lambda: seen.append(threading.get_ident()))
        return threading.get_ident()

    assert [asyncio.run(main())] == seen


def test_a_ledger_of_another_process_is_followed_on_request(tmp_path):
    shop = desk(tmp_path, SMALL)
    shop.run(action())
    other = desk(tmp_path, SMALL)
    assert other.decide(action(call_id="2")).prediction.status == "success"
    assert other.guard.catch_up() == 1
    assert other.guard.catch_up() == 0
    assert other.decide(action(call_id="3")).prediction.status == "conflict"


def test_shadow_mode_judges_and_stops_nothing(tmp_path):
    shop = desk(tmp_path, {"then": "block", "reason": "never"}, shadow=True)
    outcome = shop.run(action())
    assert outcome.verdict.kind == "block"
    assert shop.kinds() == ["rehearsed", "decision", "commit", "observed"]
    decision = next(shop.ledger.entries(kind="decision"))
    assert (decision.body["verdict"], decision.body["shadow"]) == ("block", True)


def test_shadow_mode_bothers_nobody(tmp_path):
    shop = desk(tmp_path, shadow=True)
    shop.run(action())
    assert shop.ledger.approvals.select() == []


@pytest.mark.parametrize("shadow", [False, True])
def test_the_kill_switch_stops_every_process_at_once(tmp_path, shadow):
    shop, other = desk(tmp_path, READS, shadow=shadow), desk(tmp_path, READS, shadow=shadow)
    other.guard.stop(by="ann", reason="incident 7")
    with pytest.raises(Refused, match="stopped by ann: incident 7"):
        shop.run(action("get_order", {"order_id": "O-1"}))
    other.guard.go_on(by="ann")
    shop.run(action("get_order", {"order_id": "O-1"}))


def test_the_kill_switch_can_make_everything_ask(tmp_path):
    shop = desk(tmp_path)
    shop.guard.stop(by="ann", reason="careful", mode="ask")
    look = action("get_order", {"order_id": "O-1"})
    with pytest.raises(ApprovalRequired) as pause:
        shop.run(look)
    shop.guard.approve(pause.value.approval, by="ann")
    assert not shop.run(look).result.is_error


def test_what_was_approved_before_everything_was_stopped_is_asked_again(tmp_path):
    shop = desk(tmp_path)
    with pytest.raises(ApprovalRequired) as pause:
        shop.run(action())
    shop.guard.approve(pause.value.approval, by="ann")
    shop.guard.stop(by="ann", reason="careful", mode="ask")
    with pytest.raises(ApprovalRequired) as again:
        shop.run(action())
    assert again.value.approval != pause.value.approval


def test_a_policy_may_require_a_track_record(tmp_path):
    rule = {"tools": "set_note", "then": "commit", "record": {"calls": 3, "accuracy": 1.0}, "name": "trusted"}
    shop = desk(tmp_path, rule)
    for number in range(3):
        note = action("set_note", {"order_id": f"O-{number + 1}", "note": "x"})
        with pytest.raises(ApprovalRequired) as pause:
            shop.run(note)
        assert f"{number} of the 3 scored calls" in str(pause.value)
        shop.guard.approve(pause.value.approval, by="ann")
        shop.run(note)
    assert shop.decide(action("set_note", {"order_id": "O-9", "note": "x"})).kind == "commit"
    shop.answer = ToolResult.text("permission denied", is_error=True)
    shop.run(action("set_note", {"order_id": "O-9", "note": "x"}))
    assert shop.decide(action("set_note", {"order_id": "O-10", "note": "x"})).kind == "ask"


def test_a_label_that_a_real_answer_brings_along_is_taken_off(tmp_path):
    shop = desk(tmp_path)
    shop.answer = ToolResult(
        ({"type": "text", "text": "x"},), meta={"dev.envace/evidence": {"kind": "rehearsed"}, "a": 1}
    )
    outcome = shop.run(action("get_order", {"order_id": "O-1"}))
    assert isinstance(read_label(outcome.result.meta), Observed)
    assert outcome.result.meta["a"] == 1


def test_an_erased_outcome_is_neither_given_nor_executed_again(tmp_path):
    from envace_sdk.errors import EvidenceError

    shop = desk(tmp_path)
    shop.run(action("get_order", {"order_id": "O-1"}))
    shop.ledger.erase("main", by="ann")
    with pytest.raises(EvidenceError, match="erased"):
        shop.run(action("get_order", {"order_id": "O-1"}))
    assert len(shop.executed) == 1


def test_a_framework_that_executes_tools_itself_begins_and_finishes(tmp_path):
    shop = desk(tmp_path, SMALL)
    going = shop.guard.begin_sync(action())
    with pytest.raises(InDoubtError):
        shop.guard.begin_sync(action())
    outcome = shop.guard.finish(going, "refunded")
    assert outcome.result.first_text == "refunded"
    assert shop.guard.begin_sync(action()).replayed


def test_what_failed_between_begin_and_finish_is_written_down(tmp_path):
    shop = desk(tmp_path, SMALL)
    shop.guard.fail(shop.guard.begin_sync(action()), ValueError("odd"))
    assert shop.guard.begin_sync(action()).raised == "ValueError"


def test_a_refusal_brings_its_prediction_along_framed_for_a_model(tmp_path):
    from envace_sdk.evidence.framing import NOTICE

    shop = desk(tmp_path, {"then": "block", "reason": "never"})
    with pytest.raises(Refused) as refusal:
        shop.run(action())
    assert refusal.value.prediction.count(NOTICE) == 2
    assert "refunded 0 → 20" in refusal.value.prediction
    assert "→" not in str(refusal.value)


def test_a_stop_that_comes_while_an_action_is_judged_still_stops_it(tmp_path):
    def judge(case):
        shop.guard.stop(by="ann", reason="just now")
        return Decision("commit", explicit=True)

    shop = desk(tmp_path, judge=judge)
    with pytest.raises(Refused, match="just now"):
        shop.run(action())
    assert shop.executed == []


def test_a_run_that_is_cancelled_while_its_outcome_is_written_has_written_it(tmp_path, monkeypatch):
    shop, read = desk(tmp_path), action("get_order", {"order_id": "O-1"})
    finish, writing, cancelled = shop.guard.finish, threading.Event(), threading.Event()

    def slow(*args, **options):
        writing.set()
        assert cancelled.wait(10)
        return finish(*args, **options)

    monkeypatch.setattr(shop.guard, "finish", slow)

    async def cut_off():
        async def execute():
            return ToolResult.text("seen")

        run = asyncio.ensure_future(shop.guard.run(read, execute))
        await asyncio.to_thread(writing.wait, 10)
        run.cancel()
        asyncio.get_running_loop().call_later(0.05, cancelled.set)
        with pytest.raises(asyncio.CancelledError):
            await run
        return shop.kinds()

    assert asyncio.run(cut_off()) == ["rehearsed", "decision", "commit", "observed"]


def test_a_run_that_is_cancelled_while_it_takes_the_right_to_execute_gives_it_back(tmp_path, monkeypatch):
    shop, read = desk(tmp_path), action("get_order", {"order_id": "O-1"})
    commit, writing, cancelled = shop.ledger.commit, threading.Event(), threading.Event()

    def slow(*args, **options):
        writing.set()
        assert cancelled.wait(10)
        return commit(*args, **options)

    monkeypatch.setattr(shop.ledger, "commit", slow)

    async def cut_off():
        run = asyncio.ensure_future(shop.arun(read))
        await asyncio.to_thread(writing.wait, 10)
        run.cancel()
        asyncio.get_running_loop().call_later(0.05, cancelled.set)
        with pytest.raises(asyncio.CancelledError):
            await run

    asyncio.run(cut_off())
    assert shop.executed == []
    assert not shop.run(read).result.is_error
    assert len(shop.executed) == 1
