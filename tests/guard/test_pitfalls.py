"""What went wrong in wrappers around tool calls, each as its analogue at the core."""

import asyncio
import threading

import pytest
from guarded_desk import READS, TOOLS, action, desk, environment

from envace_sdk.errors import ApprovalRequired, InDoubtError, NotExecutedError, Refused
from envace_sdk.evidence import Observed
from envace_sdk.guard import Action, Pass, register_control_flow, visible_arguments
from envace_sdk.rehearse import Rehearsal
from envace_sdk.tools.model import ToolResult

ANY_REFUND = {
    "tools": "refund_order",
    "arguments": {
        "order_id": {"type": "string", "maxLength": 9},
        "amount": {"type": "number", "minimum": 0, "maximum": 9999},
    },
    "then": "commit",
}


class GraphInterrupt(Exception):  # noqa: N818  as the framework calls it
    """A pause, known by its name."""


class Fickle:
    """A model that predicts something else each time."""

    def __init__(self):
        self.asked = 0

    async def rehearse(self, call, context):
        self.asked += 1
        outcome = "success" if self.asked % 2 else "permission_error"
        return Rehearsal(ToolResult.text(outcome, is_error=outcome != "success"), context.state, "model", outcome, 0.6)


def approved(shop, *actions):
    for one in actions:
        with pytest.raises(ApprovalRequired) as pause:
            shop.run(one)
        shop.guard.approve(pause.value.approval, by="ann")


def test_p01_a_prediction_that_flips_on_resume_does_not_turn_a_rejection_into_a_run(tmp_path):
    model = Fickle()
    rule = {"when": "prediction.status == 'permission_error'", "then": "commit"}
    shop = desk(tmp_path, rule, environment_=environment(model=model))
    mystery = action("mystery", {"what": "x"})
    with pytest.raises(ApprovalRequired) as pause:
        shop.run(mystery)
    shop.guard.reject(pause.value.approval, by="ann")
    for _ in range(3):
        with pytest.raises(Refused, match="rejected"):
            shop.run(mystery)
    assert model.asked == 1
    assert shop.executed == []


def test_p02_every_resume_passes_over_earlier_calls_without_executing_them_again(tmp_path):
    shop = desk(tmp_path)

    def one_pass():
        current = Pass("t", "turn")
        for number in (1, 2, 3):
            shop.run(current.action("refund_order", {"order_id": f"O-{number}", "amount": 10}))

    for _ in range(3):
        with pytest.raises(ApprovalRequired) as pause:
            one_pass()
        shop.guard.approve(pause.value.approval, by="ann")
    one_pass()
    assert len(shop.executed) == 3


def test_p03_three_gated_calls_of_one_task_run_once_each(tmp_path):
    shop = desk(tmp_path)
    calls = [action(arguments={"order_id": f"O-{n}", "amount": 1}, call_id=f"c{n}", task="one") for n in (1, 2, 3)]
    approved(shop, *calls)
    for _ in range(2):
        for one in calls:
            shop.run(one)
    assert len(shop.executed) == 3


def test_p04_answers_reach_the_action_they_were_given_for_in_whatever_order_it_resumes(tmp_path):
    shop = desk(tmp_path)
    wanted = action(arguments={"order_id": "O-1", "amount": 1}, task="one")
    unwanted = action(arguments={"order_id": "O-2", "amount": 2}, task="one")
    pauses = []
    for one in (wanted, unwanted):
        with pytest.raises(ApprovalRequired) as pause:
            shop.run(one)
        pauses.append(pause.value)
    shop.guard.reject(pauses[1].approval, by="ann")
    shop.guard.approve(pauses[0].approval, by="ann")
    with pytest.raises(Refused):
        shop.run(unwanted)
    shop.run(wanted)
    assert shop.executed == [("refund_order", {"order_id": "O-1", "amount": 1})]


def test_p05_a_retry_inside_the_guard_is_seen_as_one_execution_and_one_outside_does_not_execute_again(tmp_path):
    shop = desk(tmp_path, ANY_REFUND)
    shop.fails = ValueError("odd")
    for _ in range(2):
        try:
            outcome = shop.run(action())
        except ValueError:
            continue
    assert len(shop.executed) == 1
    assert outcome.replayed
    assert (outcome.raised, outcome.result.is_error) == ("ValueError", True)


def test_p06_arguments_that_change_after_the_verdict_are_not_what_runs(tmp_path):
    shop = desk(tmp_path, ANY_REFUND)
    given = {"order_id": "O-1", "amount": 1}
    judged = Action("refund_order", given)
    given["amount"] = 999
    assert judged.arguments["amount"] == 1
    _ = judged.digest
    judged.arguments["amount"] = 999
    with pytest.raises(Exception, match="changed after"):
        shop.run(judged)
    assert shop.executed == []


def test_p07_the_pause_of_a_framework_in_a_tool_passes_through_untouched(tmp_path):
    shop = desk(tmp_path, ANY_REFUND)
    shop.fails = GraphInterrupt("ask the user")
    with pytest.raises(GraphInterrupt):
        shop.run(action())
    shop.fails = None
    assert not shop.run(action()).result.is_error


def test_p07_the_pause_of_a_framework_passes_through_a_policy_too(tmp_path):
    def judge(case):
        raise GraphInterrupt("from a policy")

    with pytest.raises(GraphInterrupt):
        desk(tmp_path, judge=judge).decide(action())


def test_p07_a_pause_inside_the_tool_does_not_use_its_approval_up(tmp_path):
    shop = desk(tmp_path)
    approved(shop, action())
    shop.fails = GraphInterrupt("ask the user")
    with pytest.raises(GraphInterrupt):
        shop.run(action())
    shop.fails = None
    assert not shop.run(action()).result.is_error
    assert len(shop.ledger.approvals.select()) == 1


def test_p07_other_exceptions_can_be_registered_as_control_flow(tmp_path):
    class MyPause(Exception):  # noqa: N818
        pass

    register_control_flow(MyPause)

    def judge(case):
        raise MyPause

    with pytest.raises(MyPause):
        desk(tmp_path, judge=judge).decide(action())


def test_p08_arguments_that_the_framework_refused_are_no_observation(tmp_path):
    shop = desk(tmp_path, ANY_REFUND)
    shop.fails = NotExecutedError("the framework refused the arguments")
    with pytest.raises(NotExecutedError):
        shop.run(action())
    assert "observed" not in shop.kinds()
    shop.fails = None
    assert not shop.run(action()).result.is_error


def test_p09_a_tool_that_does_not_exist_is_refused_and_nothing_is_observed(tmp_path):
    shop = desk(tmp_path)
    with pytest.raises(Refused):
        shop.run(action("refund_everything", {}))
    assert shop.kinds() == ["rehearsed", "decision"]


def test_p10_a_tool_that_raises_was_observed_to_and_the_exception_goes_on(tmp_path):
    shop = desk(tmp_path, ANY_REFUND)
    shop.fails = KeyError("total")
    with pytest.raises(KeyError):
        shop.run(action())
    (entry,) = shop.ledger.entries(kind="observed")
    assert entry.body["raised"] == "KeyError"


def test_p11_whatever_object_a_tool_returns_can_be_read_by_who_knows_it(tmp_path):
    class Command:
        def __init__(self):
            self.update = {"messages": [{"tool_call_id": "c1", "content": "refunded"}]}

    shop = desk(tmp_path, ANY_REFUND)
    made = Command()

    async def execute():
        return made

    one = action(call_id="c1")
    outcome = asyncio.run(
        shop.guard.run(one, execute, read=lambda value: ToolResult.text(value.update["messages"][0]["content"]))
    )
    assert outcome.value is made
    assert shop.run(one).result.first_text == "refunded"


def test_p11_an_answer_that_cannot_be_read_was_executed_all_the_same(tmp_path):
    shop = desk(tmp_path, ANY_REFUND)
    asyncio.run(shop.guard.run(action(), lambda: shop.execute(action()), read=lambda value: value.nothing))
    shop.run(action())
    assert len(shop.executed) == 1


def test_p12_injected_arguments_are_neither_hashed_nor_shown(tmp_path):
    schema = next(tool for tool in TOOLS if tool["name"] == "refund_order")["inputSchema"]
    given = {"order_id": "O-1", "amount": 20, "runtime": object(), "state": {"secret": 1}}
    assert visible_arguments(given, schema) == {"order_id": "O-1", "amount": 20}
    with pytest.raises(Exception, match="not a JSON type"):
        _ = Action("refund_order", given).digest


def test_p12_an_action_with_arguments_that_are_not_json_is_not_executed(tmp_path):
    shop = desk(tmp_path, ANY_REFUND)
    with pytest.raises(Exception, match="not a JSON type"):
        shop.run(Action("refund_order", {"order_id": "O-1", "amount": 20, "runtime": object()}))
    assert shop.executed == []


def test_p13_a_refusal_never_looks_like_a_result(tmp_path):
    shop = desk(tmp_path, {"then": "block", "reason": "no"})
    with pytest.raises(Refused) as refusal:
        shop.run(action())
    assert refusal.value.kind == "block"
    assert "was not executed" in str(refusal.value)


def test_p14_a_waiting_sibling_leaves_the_others_as_they_are(tmp_path):
    shop = desk(tmp_path)

    async def turn():
        calls = [action("get_order", {"order_id": "O-1"}), action()]
        return await asyncio.gather(*map(shop.arun, calls), return_exceptions=True)

    read, refund = asyncio.run(turn())
    assert not read.result.is_error
    assert isinstance(refund, ApprovalRequired)


def test_p15_the_rehearsed_answer_is_not_among_what_is_shown_as_a_result(tmp_path):
    shop = desk(tmp_path)
    shop.answer = ToolResult.text("the real one")
    outcome = shop.run(action("get_order", {"order_id": "O-1"}))
    assert outcome.result.first_text == "the real one"
    assert isinstance(outcome.evidence, Observed)


def test_p16_all_calls_of_a_turn_can_be_judged_before_the_first_one_runs(tmp_path):
    shop = desk(tmp_path)
    calls = [action("get_order", {"order_id": "O-1"}), action()]

    async def judge():
        return [await shop.guard.decide(one) for one in calls]

    verdicts = asyncio.run(judge())
    assert [verdict.proceeds for verdict in verdicts] == [True, False]
    assert shop.executed == []
    assert asyncio.run(shop.guard.decide(calls[0])).proceeds


def test_p17_empty_and_repeated_call_ids_are_told_apart(tmp_path):
    first, second = Pass("t", "turn 1"), Pass("t", "turn 2")
    made = [
        first.action("refund_order", {"amount": 1}),
        first.action("refund_order", {"amount": 1}),
        first.action("refund_order", {"amount": 2}),
        first.action("refund_order", {"amount": 1}, call_id="a"),
        second.action("refund_order", {"amount": 1}),
        Pass("u", "turn 1").action("refund_order", {"amount": 1}),
    ]
    assert len({one.identity for one in made}) == len(made)
    assert Pass("t", "turn 1").action("refund_order", {"amount": 1}).identity == made[0].identity


def test_p18_a_task_that_is_cancelled_while_the_tool_runs_leaves_it_in_doubt(tmp_path):
    shop = desk(tmp_path, ANY_REFUND)

    async def main():
        started = asyncio.Event()

        async def execute():
            started.set()
            await asyncio.Event().wait()

        task = asyncio.ensure_future(shop.guard.run(action(), execute))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert shop.ledger.status(action().identity) == "in_doubt"
    with pytest.raises(InDoubtError):
        shop.run(action())


def test_p18_what_is_in_doubt_in_one_process_is_so_in_the_next(tmp_path):
    shop = desk(tmp_path, ANY_REFUND)
    shop.fails = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        shop.guard.run_sync(action(), lambda: asyncio.run(shop.execute(action())))
    with pytest.raises(InDoubtError):
        desk(tmp_path, ANY_REFUND).run(action())


def test_p19_an_error_result_is_an_observed_error_and_a_transport_error_is_in_doubt(tmp_path):
    class McpConnectionLost(Exception):  # noqa: N818  known by its name
        pass

    shop = desk(tmp_path, READS)
    shop.answer = {"content": [{"type": "text", "text": "order not found"}], "isError": True}
    outcome = shop.run(action("get_order", {"order_id": "O-1"}))
    assert (outcome.result.is_error, outcome.score.observed) == (True, "not_found")
    shop.fails = McpConnectionLost()
    with pytest.raises(McpConnectionLost):
        shop.run(action("get_order", {"order_id": "O-2"}))
    with pytest.raises(InDoubtError):
        shop.run(action("get_order", {"order_id": "O-2"}))


@pytest.mark.parametrize("read_only", [True, False])
def test_p19_hints_raise_a_risk_and_lower_none_unless_the_server_is_trusted(tmp_path, read_only):
    shop = desk(tmp_path, READS)
    told = action("mystery", {}, annotations={"readOnlyHint": read_only})
    assert shop.decide(told).risk.level == "high"
    trusting = desk(tmp_path, READS, trusted=[""])
    again = action("mystery", {}, annotations={"readOnlyHint": read_only}, call_id="2")
    assert trusting.decide(again).risk.level == ("low" if read_only else "high")
    destructive = action("get_order", {"order_id": "O-1"}, annotations={"destructiveHint": True})
    assert shop.decide(destructive).risk.level == "high"


def test_p20_many_threads_may_use_one_guard(tmp_path):
    shop = desk(tmp_path, READS)
    found, failures = [], []

    def work(number):
        one = action("get_order", {"order_id": f"O-{number % 3 + 1}"}, call_id=str(number))
        try:
            found.append(shop.guard.run_sync(one, lambda: ToolResult.text(str(number))))
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert sorted(int(outcome.result.first_text) for outcome in found) == list(range(12))
    assert not shop.ledger.verify().findings
