"""The start data of the IT operations toolset hold together, and keep the rules that its tools enforce."""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import combinations, pairwise

import pytest

from envace_sdk.jsonschema import compile_schema
from envace_sdk.tools.shipped import shipped
from envace_sdk.world.dynamics import Dynamics

FOLDER = shipped()["it_operations"]
DATA = json.loads((FOLDER / "world.json").read_text(encoding="utf-8"))
NOW = datetime.fromisoformat(DATA["clock"])
WORLD = DATA["collections"]
TOOLS = {tool["name"]: tool for tool in json.loads((FOLDER / "tools.json").read_text(encoding="utf-8"))["tools"]}
RULES = Dynamics.load(FOLDER / "dynamics.yaml")
ACTIVE = {"reported", "working", "contained"}


def by_key(collection):
    key = RULES.collections[collection].key
    return {document[key]: document for document in WORLD[collection]}


PEOPLE, SERVICES, HOSTS, SITES = (by_key(name) for name in ("people", "services", "hosts", "sites"))
INCIDENTS, CHANGES, RUNBOOKS = (by_key(name) for name in ("incidents", "changes", "runbooks"))
REFERENCES = {
    "people": {"site": SITES},
    "hosts": {"site": SITES, "service": SERVICES},
    "runs": {
        "runbook": RUNBOOKS,
        "host": HOSTS,
        "service": SERVICES,
        "acting_for": PEOPLE,
        "incident": INCIDENTS,
        "change": CHANGES,
    },
    "incidents": {
        "service": SERVICES,
        "reported_by": PEOPLE,
        "paged": PEOPLE,
        "lead": PEOPLE,
        "separate_from": INCIDENTS,
    },
    "changes": {"service": SERVICES, "requested_by": PEOPLE, "incident": INCIDENTS},
    "freezes": {"declared_by": PEOPLE},
    "watches": {"crew_no": PEOPLE},
    "grants": {"crew_no": PEOPLE, "service": SERVICES, "approved_by": PEOPLE, "incident": INCIDENTS},
    "access_log": {"crew_no": PEOPLE, "service": SERVICES, "by": PEOPLE, "grant_id": by_key("grants")},
    "devices": {"holder": PEOPLE, "site": SITES},
    "announcements": {"posted_by": PEOPLE, "incident": INCIDENTS},
}
LISTED = {  # lists of references, and fields of the objects in a list
    "services": {"depends_on": SERVICES},
    "incidents": {"sites": SITES, "timeline.by": PEOPLE},
    "changes": {"decisions.by": PEOPLE},
    "devices": {"history.by": PEOPLE},
}
SHOWN = {  # where a tool's output schema describes a whole entity
    "people": ("find_people", "person"),
    "services": ("get_service", "service"),
    "hosts": ("search_hosts", "host"),
    "runs": ("run_runbook", "run"),
    "incidents": ("get_incident", "incident"),
    "changes": ("draft_change", "change"),
    "watches": ("swap_watch", "watch"),
    "grants": ("grant_access", "grant"),
    "devices": ("hand_over_device", "device"),
    "announcements": ("post_announcement", "announcement"),
}


def moment(text):
    return datetime.fromisoformat(text)


def times(value) -> Iterator[tuple[str, datetime]]:
    """Every moment in a document that lies in the past by its nature, with the field's name."""
    if isinstance(value, list):
        for item in value:
            yield from times(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            if (
                name in {"at", "reported_at", "resolved_at", "closed_at", "filed_at", "granted_at", "posted_at"}
                and item
            ):
                yield name, moment(item)
            yield from times(item)


def overlap(one, other):
    return one["starts_at"] < other["ends_at"] and other["starts_at"] < one["ends_at"]


def at_watch(team, when):
    return [w for w in WORLD["watches"] if w["team"] == team and moment(w["starts_at"]) <= when < moment(w["ends_at"])]


def test_there_is_enough_of_everything():
    least = {"hosts": 30, "services": 15, "people": 30, "incidents": 12, "changes": 12, "grants": 20, "devices": 40}
    assert {name: len(WORLD[name]) for name in least if len(WORLD[name]) < least[name]} == {}


@pytest.mark.parametrize("collection", WORLD)
def test_keys_are_distinct_and_new_ones_begin_after_them(collection):
    rule = RULES.collections[collection]
    assert len(by_key(collection)) == len(WORLD[collection])
    if rule.mint:
        prefix = rule.mint[: rule.mint.index("{")]
        assert max(int(key.removeprefix(prefix)) for key in by_key(collection)) < rule.start_at


@pytest.mark.parametrize("collection", REFERENCES)
def test_references_name_something(collection):
    for document in WORLD[collection]:
        for field, targets in REFERENCES[collection].items():
            assert document[field] is None or document[field] in targets, (document, field)


@pytest.mark.parametrize("collection", LISTED)
def test_references_in_lists_name_something(collection):
    for document in WORLD[collection]:
        for path, targets in LISTED[collection].items():
            field, _, inner = path.partition(".")
            for item in document[field]:
                assert (item[inner] if inner else item) in targets, (document, path)


@pytest.mark.parametrize("collection", SHOWN)
def test_entities_fit_the_schema_under_which_tools_show_them(collection):
    tool, name = SHOWN[collection]
    output = TOOLS[tool]["outputSchema"]
    validator = compile_schema({"$ref": f"#/$defs/{name}", "$defs": output["$defs"]})
    for document in WORLD[collection]:
        assert validator.violations(document) == [], document


def test_what_has_happened_lies_in_the_past_and_logs_are_in_order():
    for documents in WORLD.values():
        assert all(when <= NOW for _, when in times(documents))
    logs = [i["timeline"] for i in WORLD["incidents"]] + [c["decisions"] for c in WORLD["changes"]]
    for log in [*logs, *(d["history"] for d in WORLD["devices"])]:
        assert all(one["at"] <= other["at"] for one, other in pairwise(log))
    since = {
        "incidents": "reported_at",
        "runs": "started_at",
        "changes": "filed_at",
        "watches": "starts_at",
        "grants": "granted_at",
        "access_log": "at",
        "announcements": "posted_at",
    }
    for name, field in since.items():
        key = RULES.collections[name].key
        assert [d[key] for d in WORLD[name]] == sorted(d[key] for d in WORLD[name])
        assert [d[field] for d in WORLD[name]] == sorted(d[field] for d in WORLD[name])


def test_services_depend_on_each_other_without_circles_in_at_most_five_steps():
    def depth(name, seen=()):
        assert name not in seen
        return max((1 + depth(d, (*seen, name)) for d in SERVICES[name]["depends_on"]), default=0)

    assert max(map(depth, SERVICES)) <= 5


def test_every_service_has_hosts_and_a_status_that_follows_from_its_incidents():
    for name, service in SERVICES.items():
        assert any(h["service"] == name and h["status"] != "retired" for h in WORLD["hosts"])
        active = [i for i in WORLD["incidents"] if i["service"] == name and i["state"] in ACTIVE]
        severities = {i["severity"] for i in active}
        down = any(i["severity"] == "critical" and i["state"] != "contained" for i in active)
        expected = "down" if down else "degraded" if severities & {"critical", "major"} else "running"
        assert service["status"] == expected, name


def test_hosts_that_are_not_healthy_say_why():
    for host in WORLD["hosts"]:
        assert host["disk_used_pct"] < 85 or host["status"] == "warning"
        assert host["status"] == "healthy" or host["note"]
        assert host["reclaimable_pct"] <= host["disk_used_pct"] or host["status"] == "retired"
    assert len({h["address"] for h in WORLD["hosts"]}) == len(WORLD["hosts"])


def test_incidents_are_in_a_state_that_their_fields_agree_with():
    for incident in WORLD["incidents"]:
        state, severity = incident["state"], incident["severity"]
        assert (incident["lead"] is None) == (state == "reported")
        done = state in {"resolved", "closed"}
        assert all((incident[field] is not None) == done for field in ("cause", "fix", "resolved_at"))
        assert (incident["closed_at"] is not None) == (state == "closed")
        assert severity != "critical" or SERVICES[incident["service"]]["tier"] == 1
        assert incident["timeline"][0]["at"] == incident["reported_at"]
        if incident["lead"]:
            assert PEOPLE[incident["lead"]]["team"] in {SERVICES[incident["service"]]["team"], "desk"}
        if state == "closed" and severity in {"critical", "major"}:
            assert moment(incident["closed_at"]) - moment(incident["resolved_at"]) >= timedelta(hours=24)
        if state in ACTIVE:
            team = SERVICES[incident["service"]]["team"]
            reported = moment(incident["reported_at"])
            assert incident["paged"] in [w["crew_no"] for w in at_watch(team, reported) + at_watch("desk", reported)]
    leads = Counter(i["lead"] for i in WORLD["incidents"] if i["state"] in ACTIVE and i["lead"])
    assert max(leads.values()) <= 2


def test_runs_fit_their_host_their_person_and_their_warrant():
    for run in WORLD["runs"]:
        book, host = RUNBOOKS[run["runbook"]], HOSTS[run["host"]]
        assert host["role"] in book["roles"]
        assert host["service"] == run["service"]
        assert book["clearance"] is None or book["clearance"] in PEOPLE[run["acting_for"]]["clearances"]
        assert not book["disruptive"] or run["incident"] or run["change"]
        for field, known in (("incident", INCIDENTS), ("change", CHANGES)):
            assert run[field] is None or known[run[field]]["service"] == run["service"]


def test_the_rota_leaves_no_gap_and_grants_rest():
    for team in ("desk", "platform", "booking", "payments", "harbour", "ships", "network"):
        watches = [w for w in WORLD["watches"] if w["team"] == team]
        assert all(one["ends_at"] == other["starts_at"] for one, other in pairwise(watches))
        assert at_watch(team, NOW)
    for watch in WORLD["watches"]:
        assert PEOPLE[watch["crew_no"]]["team"] == watch["team"]
        assert PEOPLE[watch["crew_no"]]["status"] == "active"
    for one, other in combinations(WORLD["watches"], 2):
        if one["crew_no"] == other["crew_no"]:
            assert moment(other["starts_at"]) - moment(one["ends_at"]) >= timedelta(hours=11)
    assert max(Counter(w["crew_no"] for w in WORLD["watches"]).values()) <= 4


def test_changes_keep_to_windows_and_approvals():
    for change in WORLD["changes"]:
        assert timedelta(0) < moment(change["ends_at"]) - moment(change["starts_at"]) <= timedelta(hours=6)
        tier, kind, risk = SERVICES[change["service"]]["tier"], change["kind"], change["risk"]
        needed = {"routine": 0, "urgent": 1}.get(kind, 2 if tier == 1 or risk == "high" else 1)
        assert change["approvals_needed"] == needed
        given = [d for d in change["decisions"] if d["decision"] == "approve"]
        assert len(given) == needed if change["state"] in {"approved", "done"} else len(given) <= needed
        assert len({d["team"] for d in given}) == len(given)
        assert change["requested_by"] not in {d["by"] for d in given}
        assert all(d["team"] == PEOPLE[d["by"]]["team"] for d in change["decisions"])
        assert (kind == "urgent") == (change["incident"] is not None)
        assert kind != "routine" or (tier, risk) == (3, "low")
        requester = PEOPLE[change["requested_by"]]
        assert requester["role"] != "crew"
        assert requester["team"] in {SERVICES[change["service"]]["team"], "desk"}
    ahead = [c for c in WORLD["changes"] if c["state"] in {"awaiting_approval", "approved"}]
    for one, other in combinations(ahead, 2):
        near = {one["service"], *SERVICES[one["service"]]["depends_on"]}
        far = {other["service"], *SERVICES[other["service"]]["depends_on"]}
        assert not overlap(one, other) or (one["service"] not in far and other["service"] not in near)


def test_grants_keep_to_levels_limits_and_approvers():
    longest = {"view": timedelta(days=180), "operate": timedelta(days=30), "admin": timedelta(hours=72)}
    live = [g for g in WORLD["grants"] if moment(g["until"]) > NOW]
    for grant in WORLD["grants"]:
        holder, approver, service = (
            PEOPLE[grant["crew_no"]],
            PEOPLE[grant["approved_by"]],
            SERVICES[grant["service"]],
        )
        assert approver is not holder
        assert approver["role"] == "duty_manager" or (approver["role"], approver["team"]) == ("lead", service["team"])
        lasts = moment(grant["until"]) - moment(grant["granted_at"])
        assert grant["standing"] or lasts <= longest[grant["level"]], grant
        assert grant["standing"] or grant["level"] != "admin" or grant["incident"]
        needs = grant["level"] != "view" or service["clearance"] == "personal-data"
        assert not needs or holder["status"] == "left" or service["clearance"] in holder["clearances"], grant
    assert max(Counter(g["crew_no"] for g in live).values()) <= 6
    assert max(Counter((g["crew_no"], g["service"]) for g in live).values()) == 1


def test_devices_are_somewhere_and_nobody_has_two_laptops():
    for device in WORLD["devices"]:
        assert (device["holder"] is not None) == (device["status"] == "in_use")
        assert device["encrypted"] or device["kind"] in {"scanner", "radio"} or device["holder"] is None
        assert device["condition"] != "damaged" or device["status"] in {"repair", "retired"}
        if device["holder"]:
            assert device["site"] == PEOPLE[device["holder"]]["site"]
    laptops = Counter(d["holder"] for d in WORLD["devices"] if d["kind"] == "laptop" and d["holder"])
    assert max(laptops.values()) == 1
    assert len({d["serial"] for d in WORLD["devices"]}) == len(WORLD["devices"])
