import asyncio

import pytest
from guarded_desk import action, environment

from envace_sdk.guard import Budget, MeteredModel, Prediction, WorldDiff
from envace_sdk.guard.forecast import Forecaster
from envace_sdk.guard.known import basis
from envace_sdk.json import UNSET
from envace_sdk.models import ScriptedModel
from envace_sdk.models.model import Message, Request
from envace_sdk.rehearse import Environment, Rehearsal
from envace_sdk.tools import Toolset
from envace_sdk.tools.model import ToolResult
from envace_sdk.world.diff import EntityChange

MYSTERY = action("mystery", {"what": "x"})


class Model:
    """A learned role that answers as it is told, one answer per sample.

    With `together`, it answers once so many samples wait at once; those in `wait` wait for ever.
    """

    def __init__(self, *outcomes, wait=(), together=1):
        self.outcomes = list(outcomes)
        self.seeds = []
        self.wait = wait
        self.at_once = 0
        self.together = together
        self.full = asyncio.Event()

    async def rehearse(self, call, context):
        number = len(self.seeds)
        self.seeds.append(context.state.seed)
        self.at_once += 1
        if self.at_once == self.together:
            self.full.set()
        try:
            await self.full.wait()
            if number in self.wait:
                await asyncio.Event().wait()
            outcome = self.outcomes[number % len(self.outcomes)]
            if isinstance(outcome, Exception):
                raise outcome
            result = ToolResult.text(outcome, is_error=outcome != "success")
            return Rehearsal(result, context.state, "model", outcome, 0.8)
        finally:
            self.at_once -= 1


def predict(one, model=None, state=None, **options):
    made = environment(model=model)
    return asyncio.run(Forecaster(made, **options).predict(one, state or made.start))


def test_a_rule_is_rehearsed_once_whatever_the_number_of_samples():
    found = predict(action(), samples=5)
    assert (found.status, found.layer, found.samples, found.disagreement) == ("success", "dynamics", 1, 0.0)
    assert str(found.change) == "~ orders/O-1: refunded 0 → 20"


def _object(**properties):
    return {"type": "object", "properties": {name: {"type": kind} for name, kind in properties.items()}}


def test_what_had_to_be_invented_is_not_predicted_to_change():
    """Of a server of which only the schemas are known, whatever is asked for is taken to be there."""
    shown = _object(note_id="string", text="string")
    made = Environment(
        Toolset.from_definitions(
            [
                {"name": "get_note", "inputSchema": _object(note_id="string"), "outputSchema": shown},
                {"name": "list_notes", "inputSchema": _object(), "annotations": {"readOnlyHint": True}},
                {"name": "update_note", "inputSchema": shown, "outputSchema": shown},
            ],
            name="notes",
        )
    )

    def change(tool, **arguments):
        found = asyncio.run(Forecaster(made).predict(action(tool, arguments), made.start))
        assert (found.layer, found.status) == ("schema", "success")
        return [(one.kind, one.collection, one.key) for one in found.change.changes]

    assert change("get_note", note_id="n1") == []
    assert change("list_notes") == []
    assert change("update_note", note_id="n1", text="new") == [("updated", "notes", "n1")]


def test_a_model_is_sampled_at_once_with_seeds_of_their_own():
    model = Model("success", "success", "conflict", "success", together=4)
    found = predict(MYSTERY, model, samples=4)
    assert (found.status, found.samples, found.disagreement) == ("success", 4, 0.25)
    assert found.confidence == pytest.approx(0.8 * 0.75)
    assert len(set(model.seeds)) == 4


def test_samples_that_are_late_do_not_count():
    found = predict(MYSTERY, Model("success", wait={1, 2}), samples=3, budget=Budget(seconds=0.05))
    assert (found.status, found.samples) == ("success", 1)
    assert "2 of 3 rehearsals took longer" in found.reason


def test_samples_that_fail_do_not_count_and_are_told():
    found = predict(MYSTERY, Model("success", ValueError("odd"), "success"), samples=3)
    assert (found.status, found.samples) == ("success", 2)
    assert "odd" in found.reason


def test_where_nothing_can_be_rehearsed_there_is_no_prediction():
    found = predict(MYSTERY, Model(ValueError("odd")))
    assert (found.kind, found.status) == ("none", "unknown")
    assert predict(action("launch", {})).kind == "none"


def test_a_token_budget_ends_the_samples_of_a_metered_model():
    asked = MeteredModel(ScriptedModel(lambda request: "word " * 20))

    class Talking(Model):
        async def rehearse(self, call, context):
            await asyncio.sleep(0)
            await asked.complete([Request(messages=(Message("user", "x" * 40),))])
            return await super().rehearse(call, context)

    found = predict(MYSTERY, Talking("success"), samples=4, budget=Budget(tokens=60))
    assert found.samples < 4
    assert "token budget" in found.reason


def test_a_prediction_changes_nothing():
    made = environment()
    before = made.start.to_json()
    asyncio.run(Forecaster(made).predict(action(), made.start))
    assert made.start.to_json() == before


def test_a_dry_run_decides_over_the_status_and_keeps_the_change_where_both_agree():
    async def fine(one):
        return ToolResult.text("would refund")

    async def forbidden(one):
        return ToolResult.text("permission denied", is_error=True)

    found = predict(action(), dry_runs={"refund_*": fine})
    assert (found.kind, found.layer, found.status) == ("dry_run", "dry_run", "success")
    assert found.change
    found = predict(action(), dry_runs={"refund_*": forbidden})
    assert (found.status, bool(found.change)) == ("permission_error", False)
    assert "the rehearsal expected success" in found.reason


def test_a_dry_run_that_fails_leaves_the_rehearsal():
    async def broken(one):
        raise RuntimeError("no such flag")

    found = predict(action(), dry_runs={"*": broken})
    assert (found.kind, found.status) == ("rehearsal", "success")
    assert "the dry run failed" in found.reason


def test_a_cancelled_prediction_leaves_no_sample_running():
    model = Model("success", wait={0, 1}, together=2)

    async def main():
        made = environment(model=model)
        task = asyncio.ensure_future(Forecaster(made, samples=2).predict(MYSTERY, made.start))
        await model.full.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert model.at_once == 0


def test_at_least_one_sample_is_needed():
    with pytest.raises(ValueError, match="samples is 0"):
        Forecaster(environment(), samples=0)


def test_a_prediction_survives_the_way_through_json():
    change = WorldDiff((EntityChange("updated", "orders", "O-1", {"a": (UNSET, None), "b": (1, UNSET)}),), 3)
    found = Prediction(
        "conflict", change, "high", 0.5, 0.25, "model", 4, "rehearsal", "text", "why", "basis", (("orders", None),)
    )
    assert Prediction.from_json(found.as_json()) == found


def test_the_basis_is_what_the_call_changes_and_what_its_arguments_name():
    made = environment()
    found = asyncio.run(Forecaster(made).predict(action(), made.start))
    other = made.start.put("orders", "O-2", {"order_id": "O-2", "total": 1, "refunded": 0, "note": ""})
    same = made.start.put("orders", "O-1", {**made.start.get("orders", "O-1"), "note": "new"})
    assert found.basis == basis(action(), found.change, other)
    assert found.basis != basis(action(), found.change, same)
    create = action("open_case", {"order_id": "O-1"})
    assert basis(create, WorldDiff(), made.start) != basis(create, WorldDiff(), same)
