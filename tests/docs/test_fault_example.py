import asyncio
from pathlib import Path

from envace_sdk.faults import FaultPlan
from envace_sdk.rehearse import Environment
from envace_sdk.tools.model import ToolCall

PLAN = Path(__file__).parents[2] / "docs" / "examples" / "faults" / "plan.yaml"


def test_the_plan_of_the_page_does_to_the_retail_toolset_what_it_says():
    environment = Environment.load("retail")
    faults = environment.schedule(FaultPlan.load(PLAN))
    world = environment.world()
    answers = [
        asyncio.run(environment.call(world, ToolCall("get_order", {"order_id": "TT-26-03204"}), faults=faults))
        for _ in range(7)
    ]
    limited = [answer for answer in answers if answer.fault == "rate_limit"]
    assert [answer.fault == "rate_limit" for answer in answers] == [False] * 4 + [True] * 2 + [False]
    assert limited[0].result.first_text == "429: too many calls of get_order; come back in 12 s"
