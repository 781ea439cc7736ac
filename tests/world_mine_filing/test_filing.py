import pytest

from envace_sdk.tools import Toolset
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.mine.filing import Filer, checked
from envace_sdk.world.mine.trial import FAILED, Instance, Tally, Trial
from envace_sdk.world.rulefile import RuleFile


def tool(name, **properties):
    members = {key: {"type": kind} for key, kind in properties.items()}
    return {"name": name, "inputSchema": {"type": "object", "properties": members, "required": list(properties)}}


TOOLS = Toolset.from_definitions(
    [tool("get_lamp", lamp="string"), tool("light", lamp="string"), tool("frob", x="string")], name="lamps"
)
LEARNED = Dynamics.parse("""
collections:
  lamps: {key: lamp, noun: lamp}
tools:
  get_lamp: {effect: read, collection: lamps, key: args.lamp}
  light:
    effect: update
    collection: lamps
    key: args.lamp
    requires:
      - that: "!entity.lit"
        error: "{args.lamp} is lit"
    set: {lit: true}
""")
CALLS = {"get_lamp": 5, "light": 5}
INSTANCE = Instance("e", 2, {"lamp": "a"}, {"lit": True}, {"lit": False})


def right(calls, **more):
    trial = Trial(calls=calls, **more)
    trial.wrongs[frozenset()] = calls - sum(tally.total for tally in trial.requirements.values())
    return trial


TRIALS = {"get_lamp": right(5), "light": right(5, requirements={0: Tally(2, 0)})}


def filed(text=None, learned=LEARNED, trials=TRIALS, calls=CALLS, force=False, tools=TOOLS, world=None):
    filer = Filer(tools, None if text is None else RuleFile(text), force=force)
    return filer.filed(filer.with_learned(learned, calls), trials, {}, told="10 calls", world=world)


FIRST = filed().text


def test_a_new_file_says_what_each_rule_rests_on():
    filing = filed()
    assert filing.text.startswith("# What each tool does to the world, learned by `envace-sdk learn` from 10 calls.")
    assert Dynamics.parse(filing.text) == filing.dynamics
    light = filing.dynamics.tools["light"]
    assert (light.support, light.confidence, light.reason) == (5, 0.86, "as recorded in 5 of 5 calls")
    assert light.requires[0].support == 2
    assert filing.standing == {"get_lamp": "new", "light": "new"}
    assert filing.findings == ()


def test_the_same_again_is_the_same_file():
    again = filed(FIRST)
    assert again.text == FIRST
    assert set(again.standing.values()) == {"same"}


def test_a_rule_that_was_edited_stays_with_its_comments_and_the_others_are_learned():
    mine = FIRST.replace("    set:\n      lit: true\n", "    set: {lit: true, by: args.lamp}   # who else?\n")
    assert mine != FIRST
    other = Dynamics.parse(FIRST.replace("key: args.lamp\n    support: 5", "key: args.lamp\n    missing: Gone"))
    filing = filed(mine, learned=LEARNED.model_copy(update={"tools": other.tools}))
    assert filing.standing == {"get_lamp": "changed", "light": "yours"}
    assert "    set: {lit: true, by: args.lamp}   # who else?\n" in filing.text
    assert filing.dynamics.tools["get_lamp"].missing == "Gone"
    assert filing.dynamics.learned["tools"]["light"] == Dynamics.parse(FIRST).learned["tools"]["light"]
    assert filed(filing.text, learned=LEARNED).standing["light"] == "yours"


def test_a_rule_that_is_put_back_as_it_was_learned_is_learned_again():
    assert filed(filed(FIRST.replace("is lit", "is on")).text.replace("is on", "is lit")).standing["light"] == "same"


def test_force_writes_edited_rules_anew_but_not_pinned_ones():
    mine = FIRST.replace("is lit", "is on")
    assert filed(mine, force=True).standing["light"] == "changed"
    pinned = mine.replace("    effect: update", "    keep: true\n    effect: update")
    assert filed(pinned, force=True).standing["light"] == "yours"
    unchanged = FIRST.replace("    effect: update", "    keep: true\n    effect: update")
    assert filed(unchanged, learned=Dynamics()).standing["light"] == "yours"


def test_collections_are_kept_like_rules():
    mine = FIRST.replace("{key: lamp, noun: lamp}", "{key: lamp, noun: lantern}  # ours")
    assert "{key: lamp, noun: lantern}  # ours" in filed(mine).text
    assert filed(mine, force=True).dynamics.collections["lamps"].noun == "lamp"


def test_a_hand_written_file_stays_and_gets_rules_for_the_other_tools():
    mine = (
        "# My lamps.\ncollections:\n  bulbs: {key: lamp}\n"
        "tools:\n  get_lamp:\n    effect: read\n    collection: bulbs\n    key: args.lamp\n"
    )
    filing = filed(mine)
    assert filing.text.startswith("# My lamps.\ncollections:\n  bulbs: {key: lamp}\n")
    assert filing.standing == {"get_lamp": "yours", "light": "new"}
    assert filing.findings == ("get_lamp: your rule is about bulbs, which no learned rule looks at",)


def test_a_file_that_was_only_inferred_is_learned_anew():
    from envace_sdk.world.infer import infer
    from envace_sdk.world.infer.file import file_text

    filing = filed(file_text(infer(TOOLS)))
    assert filing.standing["get_lamp"] == "changed"
    assert "as `envace-sdk infer` reads it" not in filing.text
    assert "inferred sha256" not in filing.text


def test_a_rule_of_a_tool_that_is_not_called_this_time_stays():
    filing = filed(FIRST, learned=Dynamics(), trials={}, calls={})
    assert filing.standing == {"get_lamp": "kept", "light": "kept"}
    assert "light:" in filing.text


def test_a_tool_that_is_gone_takes_its_rule_with_it_unless_it_was_edited():
    fewer = Toolset.from_definitions([tool("get_lamp", lamp="string")], name="lamps")
    assert filed(FIRST, tools=fewer).standing == {"get_lamp": "same", "light": "gone"}
    mine = filed(FIRST.replace("is lit", "is on"), tools=fewer)
    assert mine.standing["light"] == "yours"
    assert "light: your rule is kept, but there is no such tool" in mine.findings


def test_recordings_that_speak_against_a_kept_rule_are_told_of():
    trial = right(4, mistaken=INSTANCE)
    trial.calls += 1
    trial.wrongs[frozenset({FAILED})] = 1
    mine = FIRST.replace("is lit", "is on")
    filing = filed(mine, trials={**TRIALS, "light": trial})
    assert filing.findings == (
        "light: your rule speaks against 1 of 5 recorded calls, as in episode 'e' at call 3: "
        'recorded {"lit": true}, the rule gives {"lit": false}',
    )
    assert filing.text == mine


def test_a_rule_that_cannot_be_computed_on_most_calls_is_opaque():
    trial = Trial(calls=4, failed=3)
    trial.wrongs[frozenset({FAILED})] = 3
    filing = filed(trials={**TRIALS, "light": trial})
    assert filing.dynamics.tools["light"].effect == "opaque"
    said = "what was learned cannot be computed in 3 of 4 recorded calls"
    assert filing.dynamics.tools["light"].reason == said


def test_a_confidence_that_was_learned_is_kept():
    sure = LEARNED.tools["light"].model_copy(update={"confidence": 0.4, "reason": "held out"})
    rule = filed(learned=LEARNED.model_copy(update={"tools": {"light": sure}})).dynamics.tools["light"]
    assert (rule.confidence, rule.reason) == (0.4, "held out; as recorded in 5 of 5 calls")


def test_a_rule_that_does_not_compile_or_that_no_file_can_hold_is_opaque():
    broken = LEARNED.tools["light"].model_copy(update={"where": None, "set": {"lit": "1 +"}})
    rules = checked(LEARNED.model_copy(update={"tools": {**LEARNED.tools, "light": broken}}))
    assert rules.tools["light"].effect == "opaque"
    assert "does not compile" in rules.tools["light"].reason
    assert rules.tools["get_lamp"].effect == "read"
    odd = LEARNED.tools["light"].model_copy(update={"set": {"lit": "'\ud800'"}})
    odd_rules = LEARNED.model_copy(update={"tools": {"light": odd}})
    assert filed(learned=odd_rules).dynamics.tools["light"].effect == "opaque"


@pytest.mark.parametrize("world", [{}, {"lamps": "abcdefgh"}])
def test_digests_of_the_world_are_kept_with_those_of_the_rules(world):
    assert filed(world=world).dynamics.learned.get("world", {}) == world


def test_rules_that_share_an_anchor_or_a_line_are_kept_as_well_as_can_be():
    rule = "{effect: read, collection: lamps, key: args.lamp, missing: Gone}"
    mine = f"collections: {{lamps: {{key: lamp}}}}\ntools:\n  get_lamp: &a {rule}\n  frob: *a\n"
    shared = filed(mine)
    assert shared.text.startswith(mine[: mine.index("  frob")])
    assert "  frob: *a\n" in shared.text
    assert shared.findings == ()
    line = filed(f"tools: {{get_lamp: {rule}}}\ncollections: {{lamps: {{key: lamp}}}}\n")
    assert line.dynamics.tools["get_lamp"].missing == "Gone"
    assert "comments are lost" in line.findings[0]
