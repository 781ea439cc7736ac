import pytest
from studios import app, browser, post

from envace_sdk.rehearse import Environment
from envace_sdk.store import Store

ORDER = "TT-26-04124"
MISTAKE = '"ordered_by_mistake"'
"""As the page sends a choice: in JSON."""
TOOL = "/worlds/tool?toolset=retail&name="


@pytest.fixture
def client(tmp_path):
    return browser(app(tmp_path / "ledger.db", tools=[(None, "retail")]))


@pytest.fixture
def stored(tmp_path):
    """A studio on a store in which another process keeps the world `theirs`."""
    url = f"sqlite:///{tmp_path / 'worlds.db'}"
    with Store.open(url) as store:
        store.save("retail", Environment.load("retail").world("theirs"))
    return browser(app(tmp_path / "ledger.db", tools=[(None, "retail")], store=Store.open(url)))


def call(client, tool, **given):
    fields = {"toolset": "retail", "tool": tool, "world": "default", **{f"arg.{k}": v for k, v in given.items()}}
    return post(client, "/worlds/call", TOOL + tool, **fields)


def test_shipped_toolsets_are_listed_where_none_is_named(tmp_path):
    page = browser(app(tmp_path / "ledger.db")).get("/worlds").text
    for name in ("airline", "banking", "retail"):
        assert f"/worlds/toolset?name={name}" in page


def test_tools_are_listed_with_effect_and_confidence(client):
    page = client.get("/worlds/toolset?name=retail").text
    row = page.partition('name=cancel_order">')[2].partition("</tr>")[0]
    assert "update" in row
    assert "orders" in row
    assert "100%" in row


def test_a_call_from_the_form_is_answered_with_its_label_and_what_it_changed(client):
    page = call(client, "cancel_order", order_id=ORDER, reason=MISTAKE).text
    for said in (
        "rehearsed</span>",
        "layer dynamics",
        "confidence 1<",
        "success</span>",
        f"orders/{ORDER}",
        "cancelled",
    ):
        assert said in page, said
    state = client.get("/worlds/world?toolset=retail&name=default&collection=orders").text
    assert "ordered_by_mistake" in state


def test_the_form_is_made_from_the_schema(client):
    page = client.get(f"{TOOL}cancel_order").text
    assert 'name="arg.order_id"' in page
    assert '<option value="&#34;ordered_by_mistake&#34;">' in page


def test_arguments_that_the_schema_forbids_are_answered_as_the_server_would(client):
    page = call(client, "get_order").text
    assert "validation_error" in page
    assert "layer arguments" in page


def test_what_was_typed_stays_in_the_form(client):
    assert 'value="TT-00-00000"' in call(client, "get_order", order_id="TT-00-00000").text


def test_an_unknown_tool_or_toolset_is_not_found(client):
    assert client.get(f"{TOOL}nothing").status_code == 404
    assert client.get("/worlds/toolset?name=nothing").status_code == 404
    assert client.get("/worlds/world?toolset=retail&name=nothing").status_code == 404


def test_a_world_with_an_impossible_name_is_refused_in_words(client):
    answer = post(client, "/worlds/call", f"{TOOL}get_order", toolset="retail", tool="get_order", world="../x")
    assert answer.status_code == 409
    assert 'role="alert"' in answer.text


def test_two_states_are_compared(client):
    call(client, "cancel_order", order_id=ORDER, reason=MISTAKE)
    page = client.get("/worlds/diff?toolset=retail&before=start&after=world:default").text
    assert f"orders/{ORDER}" in page
    assert "<del>&#34;placed&#34;</del>" in page
    assert "<ins>&#34;cancelled&#34;</ins>" in page


@pytest.mark.parametrize("which", ["client", "stored"])
def test_a_snapshot_is_kept_and_compared_with_what_came_after(which, request):
    client = request.getfixturevalue(which)
    call(client, "set_gift_options", order_id=ORDER, wrapped="true", note="for you")
    page = "/worlds/world?toolset=retail&name=default"
    kept = post(client, "/worlds/snapshot", page, toolset="retail", world="default", name="before")
    assert kept.status_code == 303
    assert "0 entities differ" in client.get(kept.headers["location"]).text
    call(client, "cancel_order", order_id=ORDER, reason=MISTAKE)
    assert f"orders/{ORDER}" in client.get(kept.headers["location"]).text


def test_what_others_change_in_the_store_is_seen(stored, tmp_path):
    assert "theirs" in stored.get("/worlds/toolset?name=retail").text
    page = "/worlds/world?toolset=retail&name=theirs&collection=notes"
    assert "a note of theirs" not in stored.get(page).text
    with Store.open(f"sqlite:///{tmp_path / 'worlds.db'}") as store:
        world = Environment.load("retail").world("theirs")
        world.commit(store.load("retail", "theirs").put("notes", "n", {"text": "a note of theirs"}))
        store.save("retail", world)
    assert "a note of theirs" in stored.get(page).text


def test_a_call_in_the_studio_is_stored_for_others(stored, tmp_path):
    call(stored, "cancel_order", order_id=ORDER, reason=MISTAKE)
    with Store.open(f"sqlite:///{tmp_path / 'worlds.db'}") as store:
        assert store.load("retail", "default").get("orders", ORDER)["status"] == "cancelled"
