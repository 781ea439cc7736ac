import pytest

from envace_sdk.errors import FaultError
from envace_sdk.faults import PRESETS, FaultPlan, RateLimit, fault_plan

PLAN = """
seed: 7
faults:
  - kind: rate_limit
    tools: [get_*, list_orders]
    when: args.limit > 10
    every: 3
    retry_after: 12
  - {kind: latency, delay: [0.1, 0.5], probability: 0.25}
  - {kind: timeout, tools: refund, bound: 5, applied: true}
"""


def test_a_plan_is_read_from_yaml_and_named_after_its_file(tmp_path):
    file = tmp_path / "rough.yaml"
    file.write_text(PLAN)
    plan = FaultPlan.load(file)
    assert (plan.name, plan.seed, len(plan.faults)) == ("rough", 7, 3)
    first = plan.faults[0]
    assert isinstance(first, RateLimit)
    assert (first.tools, first.every, first.retry_after) == (("get_*", "list_orders"), 3, 12)
    assert plan.faults[1].delay == (0.1, 0.5)


@pytest.mark.parametrize("source", [PLAN, *PRESETS])
def test_a_plan_survives_the_way_through_plain_data(source):
    plan = FaultPlan.parse(source) if "\n" in source else fault_plan(source)
    again = FaultPlan.from_document(plan.to_document())
    assert again == plan
    assert again.digest == plan.digest


def test_what_a_plan_is_called_does_not_tell_plans_apart():
    one, other = FaultPlan.parse(PLAN, "a.yaml"), FaultPlan.parse(PLAN, "b.yaml")
    assert one.digest == other.digest
    assert one.digest != FaultPlan.parse(PLAN.replace("every: 3", "every: 4")).digest


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("faults: [", "bad.yaml: not YAML"),
        ("- kind: error", "bad.yaml: expected a mapping"),
        ("{}", "bad.yaml: faults: Field required"),
        ("faults: []", "bad.yaml: faults: Tuple should have at least 1 item"),
        ("{format: 2, faults: [{kind: error}]}", "bad.yaml: format 2 is not known"),
        ("faults: [{kind: explosion}]", "bad.yaml: faults[0]: Input tag 'explosion'"),
        ("faults: [{kind: error}, {kind: latency}]", "bad.yaml: faults[1].delay: Field required"),
        ("faults: [{kind: permission, retry_after: 3}]", "faults[0].retry_after: Extra inputs"),
        ("faults: [{kind: error, every: 0}]", "faults[0].every: Input should be greater"),
        ("faults: [{kind: error, probability: 1.5}]", "faults[0].probability: Input should be less"),
        ("faults: [{kind: error, every: 2, probability: 0.5}]", "faults[0]: give `every` or `probability`, not both"),
        ("faults: [{kind: latency, delay: [3, 1]}]", "faults[0]: the least `delay` comes first"),
        ("faults: [{kind: latency, delay: .inf}]", "faults[0].delay"),
        ("faults: [{kind: error, when: 'args.x >'}]", "faults[0].when: "),
        ("faults: [{kind: error, text: 'no {'}]", "faults[0].text: "),
        ("faults: [{kind: error, colour: red}]", "faults[0].colour: Extra inputs"),
    ],
)
def test_a_wrong_plan_is_refused_with_its_file_and_field(text, says):
    with pytest.raises(FaultError) as error:
        FaultPlan.parse(text, "bad.yaml")
    assert says in str(error.value)


def test_a_plan_is_meant_by_preset_file_data_or_nothing(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(PLAN)
    assert fault_plan("slow").name == "slow"
    assert fault_plan(str(file)) == fault_plan(file)
    assert fault_plan({"faults": [{"kind": "error"}]}).faults[0].kind == "error"
    assert fault_plan(None) is None
    assert fault_plan("off") is None
    assert fault_plan(fault_plan("slow")).name == "slow"
    with pytest.raises(FaultError, match="presets: flaky, rate-limited, read-only, slow"):
        fault_plan("flakey")
