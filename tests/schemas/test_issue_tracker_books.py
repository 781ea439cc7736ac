"""The start data of the issue tracker toolset hold together, and keep together whatever its tools are made to do."""

import asyncio
import json
from collections import Counter
from datetime import date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envace_sdk.jsonschema import compile_schema
from envace_sdk.rehearse import Environment
from envace_sdk.tools.model import ToolCall
from envace_sdk.tools.shipped import shipped

FOLDER = shipped()["issue_tracker"]
WHOLE = Environment.load(FOLDER)
WORKS = Environment(WHOLE.toolset, dynamics=WHOLE.dynamics, start=WHOLE.start)
DATA = json.loads((FOLDER / "world.json").read_text(encoding="utf-8"))
NOW = datetime.fromisoformat(DATA["clock"])
RULES = WHOLE.dynamics
WORLD = DATA["collections"]
MEMBERS = sorted(member["handle"] for member in WORLD["members"])
NUMBERS = sorted(issue["issue_id"] for issue in WORLD["issues"])
STATUSES = sorted({step["status"] for project in WORLD["projects"] for step in project["steps"]})
REFERENCES = {  # field, or field of the objects in a list → what it names
    "members": {"roles.project": "projects"},
    "projects": {"keeper": "members"},
    "issues": {
        "project": "projects",
        "reporter": "members",
        "assignee": "members",
        "release": "releases",
        "watchers": "members",
        "history.by": "members",
    },
    "comments": {"issue_id": "issues", "author": "members", "mentions": "members"},
    "links": {"from_issue_id": "issues", "to_issue_id": "issues", "created_by": "members"},
    "work_entries": {"issue_id": "issues", "handle": "members"},
    "releases": {"project": "projects", "published_by": "members", "sign_offs.by": "members"},
    "quiet_periods": {"projects": "projects"},
}
SHOWN = {  # where a tool's output schema describes a whole entity
    "members": ("find_members", "member"),
    "projects": ("get_project", "project"),
    "issues": ("get_issue", "issue"),
    "comments": ("get_issue", "comment"),
    "links": ("get_issue", "link"),
    "work_entries": ("get_issue", "work_entry"),
    "releases": ("check_release", "release"),
}


def by_key(world, collection):
    return {document[RULES.collections[collection].key]: document for document in world[collection]}


def named(document, path):
    field, _, inner = path.partition(".")
    value = document[field]
    for item in value if isinstance(value, list) else [value]:
        yield item[inner] if inner else item


def assert_references_hold(world):
    keyed = {collection: by_key(world, collection) for collection in world}
    for collection, fields in REFERENCES.items():
        for document in world[collection]:
            for path, target in fields.items():
                for name in named(document, path):
                    assert name is None or name in keyed[target], (collection, document, path)


def assert_limits_are_kept(world):
    issues = by_key(world, "issues")
    days: Counter[tuple[str, str]] = Counter()
    for entry in world["work_entries"]:
        days[entry["handle"], entry["worked_on"]] += entry["hours"]
        assert entry["worked_on"] >= issues[entry["issue_id"]]["created_at"][:10]
    assert max(days.values()) <= 12
    benches = Counter(issue["assignee"] for issue in issues.values() if issue["stage"] == "active")
    assert benches[None] == 0
    assert max(benches.values()) <= 3
    urgent = Counter(i["project"] for i in issues.values() if i["priority"] == "urgent" and i["stage"] != "closed")
    assert max(urgent.values(), default=0) <= 3
    blocks = {(link["from_issue_id"], link["to_issue_id"]) for link in world["links"] if link["kind"] == "blocks"}
    reach = set(blocks)
    while True:
        further = reach | {(a, d) for a, b in reach for c, d in blocks if b == c}
        if further == reach:
            break
        reach = further
    assert all(a != b for a, b in reach)


def assert_issues_are_sound(world):
    members, projects, issues, releases = (
        by_key(world, name) for name in ("members", "projects", "issues", "releases")
    )
    hours: Counter[str] = Counter()
    for entry in world["work_entries"]:
        hours[entry["issue_id"]] += entry["hours"]
    duplicates = {link["from_issue_id"] for link in world["links"] if link["kind"] == "duplicates"}
    for number, issue in issues.items():
        project = projects[issue["project"]]
        stages = {step["status"]: step["stage"] for step in project["steps"]}
        closed = issue["stage"] == "closed"
        assert issue["stage"] == stages[issue["status"]], number
        assert closed == (issue["closed_at"] is not None) == (issue["resolution"] is not None), number
        assert (issue["resolution"] == "duplicate") == (number in duplicates), number
        assert (issue["status"] == "done") == (issue["resolution"] in {"made", "answered"}), number
        assert issue["spent_hours"] == hours[number], number
        assert set(issue["labels"]) <= {label["label"] for label in project["labels"]}, number
        assert issue["kind"] in project["kinds"], number
        assert len(set(issue["watchers"])) == len(issue["watchers"]), number
        assert closed or issue["assignee"] is None or issue["assignee"] in issue["watchers"], number
        if issue["release"] is not None:
            release = releases[issue["release"]]
            assert release["project"] == issue["project"], number
            assert closed or release["state"] == "planned", number
            assert (issue["shipped_at"] is not None) == (
                release["state"] == "published" and issue["status"] == "done"
            ), number
        if issue["confidential"]:
            for watcher in issue["watchers"]:
                assert issue["project"] in {role["project"] for role in members[watcher]["roles"]}, number
        times = [step["at"] for step in issue["history"]]
        assert times == sorted(times), number
        assert issue["created_at"] == times[0], number
        assert times[-1] <= issue["updated_at"], number


def assert_releases_are_sound(world):
    for name, release in by_key(world, "releases").items():
        assert (release["frozen_at"] is not None) == (len(release["sign_offs"]) > 0), name
        assert len({sign_off["by"] for sign_off in release["sign_offs"]}) == len(release["sign_offs"]), name
        assert release["state"] != "frozen" or release["sign_offs"], name
        if release["state"] == "published":
            assert {sign_off["sign_off"] for sign_off in release["sign_offs"]} == set(release["needs"]), name
            assert datetime.fromisoformat(release["published_at"]).isoweekday() <= 4, name


def assert_books_balance(world):
    """What holds at the start and after every call."""
    assert_references_hold(world)
    assert_limits_are_kept(world)
    assert_issues_are_sound(world)
    assert_releases_are_sound(world)


def test_there_is_enough_of_everything():
    least = {"members": 20, "issues": 50, "comments": 20, "links": 12, "work_entries": 40, "releases": 8}
    assert {name: len(WORLD[name]) for name in least if len(WORLD[name]) < least[name]} == {}


def test_the_books_balance_at_the_start():
    assert_books_balance(WORLD)


@pytest.mark.parametrize("collection", WORLD)
def test_keys_are_distinct_and_new_ones_begin_after_them(collection):
    rule = RULES.collections[collection]
    keys = list(by_key(WORLD, collection))
    assert len(keys) == len(WORLD[collection])
    if rule.mint:
        numbers = [int(key.removeprefix(rule.mint[: rule.mint.index("{")])) for key in keys]
        assert numbers == sorted(numbers)
        assert numbers[-1] == rule.start_at - 1


@pytest.mark.parametrize("collection", SHOWN)
def test_entities_fit_the_schema_under_which_tools_show_them(collection):
    tool, name = SHOWN[collection]
    output = WHOLE.toolset[tool].output_schema
    validator = compile_schema({"$ref": f"#/$defs/{name}", "$defs": output["$defs"]})
    for document in WORLD[collection]:
        assert validator.violations(document) == [], document


def test_nothing_happened_after_the_clock_stopped():
    def moments(value):
        if isinstance(value, dict):
            for name, part in value.items():
                if name.endswith("_at") or name == "at":
                    yield part
                yield from moments(part)
        elif isinstance(value, list):
            for part in value:
                yield from moments(part)

    assert max(moment for moment in moments(WORLD) if moment) <= DATA["clock"]
    assert all(date.fromisoformat(entry["worked_on"]) <= NOW.date() for entry in WORLD["work_entries"])


def test_each_project_has_one_keeper_and_a_workflow_that_ends():
    for project in WORLD["projects"]:
        keepers = [
            member["handle"]
            for member in WORLD["members"]
            if {"project": project["project"], "role": "keeper"} in member["roles"]
        ]
        assert keepers == [project["keeper"]]
        steps = {step["status"]: step for step in project["steps"]}
        assert all(status in steps for step in steps.values() for status in step["next"])
        assert {"done", "dropped"} == {name for name, step in steps.items() if step["stage"] == "closed"}
        assert project["steps"][0]["stage"] == "waiting"
    for member in WORLD["members"]:
        assert len({role["project"] for role in member["roles"]}) == len(member["roles"])
        assert (member["status"] == "away") == (member["away_until"] is not None)
        assert (member["status"] == "left") == (member["left_on"] is not None)


def test_histories_tell_of_moves_that_the_workflow_and_the_rules_allow():
    members = by_key(WORLD, "members")
    for issue in WORLD["issues"]:
        project = by_key(WORLD, "projects")[issue["project"]]
        following = {step["status"]: step["next"] for step in project["steps"]}
        moves = [
            (step["by"], *step["entry"].split(".")[0].split(" (")[0].split(" → "))
            for step in issue["history"]
            if " → " in step["entry"]
        ]
        status = project["steps"][0]["status"]
        for by, before, after in moves:
            role = {r["project"]: r["role"] for r in members[by]["roles"]}.get(issue["project"])
            assert (before, after in following[before]) == (status, True), issue["issue_id"]
            assert before != "review" or by != issue["assignee"], issue["issue_id"]
            assert before not in {"proving", "tuning"} or after != "done" or by != issue["assignee"]
            assert after != "casting" or role == "keeper", issue["issue_id"]
            assert role is not None, issue["issue_id"]
            status = after
        assert status == issue["status"], issue["issue_id"]
        assert project["must_log_work"] is False or issue["status"] != "done" or issue["spent_hours"] > 0


def test_release_days_keep_to_the_rules():
    for release in WORLD["releases"]:
        day = date.fromisoformat(release["planned_on"])
        assert day.isoweekday() <= 4, release
        for period in WORLD["quiet_periods"]:
            inside = period["starts_on"] <= release["planned_on"] <= period["ends_on"]
            assert release["project"] not in period["projects"] or not inside, release
    ahead = Counter(release["project"] for release in WORLD["releases"] if release["state"] in {"planned", "frozen"})
    assert max(ahead.values()) <= 4


actor = st.sampled_from(MEMBERS)
number = st.sampled_from(NUMBERS)
release = st.sampled_from(sorted(by_key(WORLD, "releases")))
move = st.fixed_dictionaries(
    {"issue_id": number, "status": st.sampled_from(STATUSES), "actor": actor},
    optional={
        "resolution": st.sampled_from(["made", "answered", "declined", "not_reproducible"]),
        "note": st.just("So."),
    },
)
assign = st.fixed_dictionaries({"issue_id": number, "assignee": st.none() | actor, "actor": actor})
link = st.fixed_dictionaries(
    {
        "from_issue_id": number,
        "kind": st.sampled_from(["blocks", "duplicates", "follows", "relates"]),
        "to_issue_id": number,
        "actor": actor,
    }
)
unlink = st.fixed_dictionaries({"link_id": st.sampled_from([f"l-{n}" for n in range(401, 422)]), "actor": actor})
handing = st.fixed_dictionaries(
    {
        "issue_id": number,
        "project": st.sampled_from(sorted(by_key(WORLD, "projects"))),
        "reason": st.just("It belongs there."),
        "actor": actor,
    }
)
comment = st.fixed_dictionaries(
    {
        "issue_id": number,
        "body": st.just("See above."),
        "mentions": st.lists(actor, max_size=3, unique=True),
        "actor": actor,
    }
)
edit = st.fixed_dictionaries(
    {"issue_id": number, "actor": actor},
    optional={
        "priority": st.sampled_from(["urgent", "low"]),
        "release": st.none() | release,
        "estimate_hours": st.none() | st.sampled_from([0.5, 8, 40]),
        "confidential": st.booleans(),
        "add_labels": st.lists(st.sampled_from(["timing", "hammer", "access"]), min_size=1, unique=True),
    },
)
hours = st.fixed_dictionaries(
    {"issue_id": number, "hours": st.sampled_from([0.25, 4, 12]), "note": st.just("Went on."), "actor": actor}
)
sign = st.fixed_dictionaries(
    {"release": release, "sign_off": st.sampled_from(["proving", "keeping", "bells"]), "actor": actor}
)
publish = st.fixed_dictionaries({"release": release, "notes": st.just("For the towers."), "actor": actor})
unwatch = st.fixed_dictionaries({"issue_id": number, "actor": actor})
CALLS = {
    "set_issue_status": move,
    "assign_issue": assign,
    "create_link": link,
    "delete_link": unlink,
    "transfer_issue": handing,
    "add_comment": comment,
    "update_issue": edit,
    "log_work": hours,
    "sign_off_release": sign,
    "publish_release": publish,
    "watch_issue": unwatch,
    "unwatch_issue": unwatch,
}
PROVERS = {"STRIKE": "callum", "CARD": "wen", "FRAME": "siiri"}


def sensible(state, tool, arguments):
    """The call as somebody who may and knows the workflow would make it: calls by chance are mostly refused."""
    issue = state.get("issues", arguments.get("issue_id") or arguments.get("from_issue_id") or "")
    release = state.get("releases", arguments.get("release") or "")
    project = state.get("projects", (issue or release or {"project": ""})["project"])
    if project is None:
        return arguments
    made = {**arguments, "actor": project["keeper"]}
    if tool == "set_issue_status":
        following = next(step["next"] for step in project["steps"] if step["status"] == issue["status"])
        status = following[len(arguments) % len(following)] if following else "new"
        made = {key: made[key] for key in ("issue_id", "actor")} | {"status": status}
        made |= {"done": {"resolution": "made"}, "dropped": {"resolution": "declined", "note": "No."}}.get(status, {})
    if tool == "sign_off_release":
        made["actor"] = {"proving": PROVERS.get(release["project"]), "bells": "agathe"}.get(
            arguments["sign_off"], project["keeper"]
        )
    return made


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.one_of(
            [st.tuples(st.just(tool), CALLS[tool], st.booleans()) for tool in (*CALLS, *["set_issue_status"] * 6)]
        ),
        min_size=15,
        max_size=50,
    )
)
def test_the_books_balance_whatever_is_done(calls):
    world = WORKS.world()
    for tool, arguments, wisely in calls:
        made = sensible(world.state, tool, arguments) if wisely else arguments
        asyncio.run(WORKS.call(world, ToolCall(tool, made)))
    state = world.state
    assert_books_balance({name: list(state.collection(name).values()) for name in WORLD})
    assert state.clock - NOW <= timedelta(seconds=len(calls))
