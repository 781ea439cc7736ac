"""Text of models and tools that would be markup, planted wherever text can stand: no page takes it for any."""

import asyncio
import json
import re
from dataclasses import asdict
from html.parser import HTMLParser

import pytest
from studios import app, ask, browser, post

from envace_sdk.ledger import Ledger
from envace_sdk.rehearse import Environment
from envace_sdk.store import Store
from envace_sdk.studio.examined import Examination
from envace_sdk.studio.reported import Given, make
from envace_sdk.tools.model import ToolCall

HOSTILE = (
    "\"'></textarea></script><script>alert(1)</script><img src=x onerror=alert(2)><b data-hx-get='/x' style='a'>"
    "{{7*7}}&"
)
HTMX = "/static/htmx-4.0.1.min.js"


class Page(HTMLParser):
    """What a browser would make of a page: tags, attributes, links and text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.links, self.scripts, self.polls, self.text = set(), set(), set(), [], set(), ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.add(tag)
        self.attributes |= set(given)
        if tag == "a":
            self.links |= {given["href"]} if "href" in given else set()
        if tag == "script":
            self.scripts.append(given.get("src"))
        if "data-hx-get" in given:
            self.polls.add(given["data-hx-get"].partition("?")[0])

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENVACE_REDACTION_KEY", "k")
        _plant_ledger(folder / "ledger.db")
        source = _plant_toolset(folder)
        environment = Environment.load(str(source))
        store = Store.open(f"sqlite:///{folder / 'worlds.db'}")
        world = environment.world("w")
        asyncio.run(environment.call(world, ToolCall("add_note", {"id": HOSTILE, "text": HOSTILE})))
        store.save(environment.toolset.name, world)
        store.save_snapshot(environment.toolset.name, "s", world.state)
        exam = Examination(Environment(environment.toolset), [folder / "recordings.jsonl"])
        result = {"toolset": HOSTILE, "episodes": 1, "calls": 1, "loops": {HOSTILE: [asdict(exam.hold())]}}
        (folder / "fidelity.json").write_text(json.dumps(result))
        more = {"tools": [(None, str(source))], "store": store, "runs": (_plant_runs(folder),), "exam": exam}
        with browser(app(folder / "ledger.db", **more)) as made:
            yield folder, made


@pytest.fixture(scope="module")
def client(planted):
    return planted[1]


def _plant_ledger(path):
    change = [{"kind": HOSTILE, "collection": HOSTILE, "key": HOSTILE, "fields": {HOSTILE: {"before": HOSTILE}}}]
    prediction = dict.fromkeys(("status", "layer", "reason", "answer"), HOSTILE) | {"change": {"changes": change}}
    given = {"run": HOSTILE, "tool": HOSTILE, "server": HOSTILE, "arguments": {HOSTILE: HOSTILE}, "risk": HOSTILE}
    given |= {"change": change, "reasons": [HOSTILE], "asked_by": HOSTILE, "roles": [HOSTILE]}
    details = {"prediction": prediction, "risk": {"reasons": [HOSTILE]}}
    ask(path, **given, details=details)
    stale = ask(path, **{**given, "roles": []}, details=details, action="b")
    edited = ask(path, **{**given, "roles": []}, details=details, action="c")
    body = dict.fromkeys(("tool", "server", "status", "layer", "verdict", "rule"), HOSTILE)
    with Ledger.open(path) as ledger:
        ledger.approvals.outdate(stale.id, HOSTILE)
        ledger.approvals.edit(edited.id, {"a": HOSTILE}, by=HOSTILE, comment=HOSTILE, via=HOSTILE)
        ledger.append(HOSTILE, "rehearsed", body, payload={"arguments": HOSTILE, "prediction": prediction}, action="x")
        ledger.append(HOSTILE, "decision", body, payload={"reasons": [HOSTILE]}, action="x")
        ledger.commit(HOSTILE, "x", body)
        observed = {"content": [{"type": "text", "text": json.dumps({HOSTILE: HOSTILE})}]}
        ledger.observed(HOSTILE, "x", {**body, "raised": HOSTILE}, payload={"result": observed})
        claim = {"text": HOSTILE, "unsupported": [{"text": HOSTILE}]}
        ledger.append(HOSTILE, "claimed", {"unsupported": 1}, payload=claim)
        ledger.append(HOSTILE, "note", {HOSTILE: HOSTILE})
        score = {"tool": HOSTILE, "right": False, "predicted": HOSTILE, "observed": HOSTILE, "run": HOSTILE}
        score |= {"layer": HOSTILE, "confidence": 0.9}
        ledger.append(f"scores/{HOSTILE}", "scored", score, payload={"differences": [HOSTILE]}, action="x")


def _plant_toolset(folder):
    properties = {
        "id": {"type": "string", "description": HOSTILE, "examples": [HOSTILE]},
        "text": {"type": "string", "default": HOSTILE},
        HOSTILE: {"enum": [HOSTILE]},
        "any": {"description": HOSTILE},
    }
    names = ["add_note", "get_note", f"get_{HOSTILE}"]
    schema = {"type": "object", "properties": properties, "required": ["id"], "title": HOSTILE}
    tools = [{"name": name, "description": HOSTILE, "inputSchema": schema} for name in names]
    source = folder / "tools.json"
    source.write_text(json.dumps({"tools": tools}))
    call = {
        "tool": "get_note",
        "arguments": {"id": HOSTILE},
        "result": {"content": [{"type": "text", "text": HOSTILE}]},
    }
    (folder / "recordings.jsonl").write_text(json.dumps(call) + "\n")
    return source


def _plant_runs(folder):
    run = folder / "runs" / "<img src=x onerror=alert(3)>"
    (run / "samples").mkdir(parents=True)
    (run / "run.json").write_text(json.dumps({"config": {"model": HOSTILE}}))
    (run / "metrics.jsonl").write_text(json.dumps({"step": 1, "success": 0.5, HOSTILE: 1}) + "\n")
    turn = {"role": HOSTILE, "sampled": True, "text": HOSTILE, "problem": HOSTILE}
    turn |= {"truth": {"layer": HOSTILE, "value": {HOSTILE: HOSTILE}}}
    told = dict.fromkeys(("task", "source", "ending", "masked", "answer"), HOSTILE)
    (run / "samples" / "000001.jsonl").write_text(json.dumps({**told, "turns": [turn]}) + "\n")
    return folder / "runs"


def _is_harmless(page):
    assert "img" not in page.tags
    assert page.scripts == [HTMX] or page.scripts == []
    assert not {name for name in page.attributes if name.startswith("on") or name == "style"}
    assert all(poll.startswith(("/approvals/", "/runs/news")) for poll in page.polls)


def test_no_page_takes_text_for_markup(client):
    waiting, seen, showing = ["/"], set(), set()
    while waiting and len(seen) < 300:
        path = waiting.pop()
        if path in seen or path.startswith("#"):
            continue
        seen.add(path)
        answer = client.get(path, follow_redirects=True)
        assert answer.status_code in (200, 404), path
        page = Page(answer.text)
        _is_harmless(page)
        waiting += sorted(page.links)
        if "<script>alert(1)</script>" in page.text and "{{7*7}}" in page.text:
            showing.add(answer.url.path.split("/")[1])
    assert showing == {"approvals", "runs", "worlds", "training", "fidelity"}


def test_no_report_takes_text_for_markup(planted):
    folder, _ = planted
    names = ("runs", "ledger.db", "worlds.db", "fidelity.json")
    given = Given(tuple(str(folder / name) for name in names), tools=((None, str(folder / "tools.json")),))
    made = asyncio.run(make(given, HOSTILE, most=2**23))
    assert made.problems == []
    page = Page(made.html)
    assert page.tags & {"script", "img", "form", "textarea", "input", "button", "iframe", "link", "object"} == set()
    assert not {name for name in page.attributes if name.startswith(("on", "data-")) or name in ("style", "src")}
    assert page.links
    assert all(link.startswith("#") for link in page.links)
    assert page.text.count("<script>alert(1)</script>") > 50
    assert "{{7*7}}" in page.text


def test_no_answer_to_a_form_takes_text_for_markup(client):
    page = f"/worlds/tool?toolset={_toolset(client)}&name=add_note"
    given = {"toolset": _toolset(client), "tool": "add_note", "world": "w"}
    for fields in ({"arg.id": HOSTILE, "arg.text": HOSTILE}, {"arg.any": HOSTILE}, {"world": HOSTILE}):
        answer = post(client, "/worlds/call", page, **{**given, **fields})
        assert "<script>alert(1)</script>" in Page(answer.text).text
        _is_harmless(Page(answer.text))
    asked = re.search(r'item-pending">\s*<a href="([^"]+)"', client.get("/approvals").text)[1]
    answer = post(client, f"{asked}/edit", asked, arguments=HOSTILE)
    assert answer.status_code == 400
    _is_harmless(Page(answer.text))


def _toolset(client):
    [link] = [one for one in Page(client.get("/worlds").text).links if one.startswith("/worlds/toolset")]
    return link.partition("name=")[2]
