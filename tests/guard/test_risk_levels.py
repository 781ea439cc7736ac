import pytest
from guarded_desk import action, environment

from envace_sdk.guard import Action, Prediction, WorldDiff
from envace_sdk.guard.risk import Risk, Risks
from envace_sdk.guard.undo import Undo, Write, writes_of
from envace_sdk.rehearse import Environment
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.diff import EntityChange
from envace_sdk.world.dynamics import Dynamics


def risks(**options):
    return Risks(environment(), **options)


@pytest.mark.parametrize(
    ("tool", "level"),
    [
        ("get_order", "low"),
        ("set_note", "medium"),
        ("open_case", "medium"),
        ("close_case", "high"),
        ("refund_order", "high"),
        ("mystery", "high"),
        ("nothing", "high"),
    ],
)
def test_the_risk_follows_what_the_tool_writes_and_whether_it_can_be_undone(tool, level):
    assert risks().assess(action(tool, {})).level == level


def test_a_guess_that_a_tool_only_reads_is_not_trusted():
    tool = {"name": "peek", "inputSchema": {"type": "object"}}
    for confidence, level in ((0.9, "low"), (0.5, "medium")):
        rules = Dynamics.model_validate({"tools": {"peek": {"effect": "compute", "confidence": confidence}}})
        made = Environment(Toolset.from_definitions([tool], name="t"), dynamics=rules)
        assert Risks(made).assess(Action("peek")).level == level


def test_hints_of_danger_are_believed_from_anybody():
    for hint in ({"destructiveHint": True}, {"openWorldHint": True}):
        assert risks().assess(action("set_note", {}, annotations=hint)).level == "high"
    assert risks().assess(action("get_order", {}, annotations={"openWorldHint": True})).level == "low"
    assert risks().assess(action("get_order", {}, annotations={"readOnlyHint": False})).level == "medium"


def test_hints_of_harmlessness_are_believed_from_trusted_servers_only_and_where_no_rule_speaks():
    hint = {"readOnlyHint": True}
    trusting = risks(trusted=frozenset({"ours"}))
    assert trusting.assess(action("mystery", {}, annotations=hint, server="ours")).level == "low"
    assert trusting.assess(action("mystery", {}, annotations=hint, server="theirs")).level == "high"
    assert (
        trusting.assess(action("mystery", {}, annotations={"destructiveHint": False}, server="ours")).level == "medium"
    )
    assert trusting.assess(action("refund_order", {}, annotations=hint, server="ours")).level == "high"


def test_a_rehearsal_raises_a_risk_and_never_lowers_one():
    changed = WorldDiff((EntityChange("updated", "orders", "O-1", {"note": ("", "x")}),))
    assert risks().assess(action("get_order", {}), Prediction("success", changed)).level == "medium"
    assert risks().assess(action("refund_order", {}), Prediction("conflict")).level == "high"


def test_the_default_risk_is_high():
    assert Risk().level == "high"
    assert Risk.from_json({"level": "tiny"}).level == "high"
    found = Risk("medium", ("why",), writes=True, undoable=True)
    assert Risk.from_json(found.as_json()) == found


def rule(**fields):
    return {"collection": "things", "key": "args.id", **fields}


def undo(**tools):
    dynamics = Dynamics.model_validate({"collections": {"things": {"key": "id"}}, "tools": tools})
    return Undo(dynamics), dynamics


def test_an_update_can_be_undone_where_a_tool_takes_the_field_whatever_it_holds():
    free, _ = undo(rename=rule(effect="update", take=["name"]))
    assert not free.missing(Write("update", "things", frozenset({"name"})))
    assert free.missing(Write("update", "things", frozenset({"name", "state"})))
    once, _ = undo(
        rename=rule(effect="update", take=["name"], requires=[{"that": "entity.name == ''", "error": "named already"}])
    )
    assert once.missing(Write("update", "things", frozenset({"name"})))


def test_a_switch_can_be_undone_by_the_tool_that_sets_it_otherwise():
    both, _ = undo(on=rule(effect="update", set={"state": "'on'"}), off=rule(effect="update", set={"state": "'off'"}))
    assert not both.missing(Write("update", "things", frozenset({"state"})))
    one, _ = undo(on=rule(effect="update", set={"state": "'on'"}))
    assert one.missing(Write("update", "things", frozenset({"state"})))


def test_a_deleted_entity_comes_back_only_where_all_of_it_can_be_given_under_its_key():
    whole, _ = undo(put=rule(effect="create", take="*"), drop=rule(effect="delete"))
    assert not whole.missing(Write("delete", "things"))
    part, _ = undo(put=rule(effect="create", take=["name"]), drop=rule(effect="delete"))
    assert part.missing(Write("delete", "things"))
    assert not part.missing(Write("create", "things"))


def test_what_a_rule_changes_besides_its_own_entity_counts():
    _, dynamics = undo(
        note=rule(
            effect="update",
            take=["note"],
            also=[{"effect": "delete", "collection": "things", "key": "args.other"}],
        )
    )
    assert [str(write) for write in writes_of(dynamics.tools["note"])] == [
        "update in things (note)",
        "delete in things",
    ]


@pytest.mark.parametrize(("trusted", "level"), [(frozenset(), "medium"), (frozenset({"shop"}), "low")])
def test_where_a_rule_is_a_guess_only_a_trusted_server_may_say_that_a_tool_reads(trusted, level):
    guess = Dynamics.parse("tools: {peek: {effect: compute, confidence: 0.5}}")
    tools = [{"name": "peek", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}]
    made = Environment(Toolset.from_definitions(tools, name="shop"), dynamics=guess)
    assert Risks(made, trusted=trusted).assess(Action("peek", {}, "shop")).level == level
