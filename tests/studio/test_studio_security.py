import re

import pytest
from starlette.routing import Route
from studios import app, ask, browser, form_token, post, state_of

TOKEN = "correct-horse-battery-staple"


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("ENVACE_REDACTION_KEY", "k")
    return tmp_path / "ledger.db"


def changing(application):
    return [route.path for route in application.routes if isinstance(route, Route) and "POST" in (route.methods or ())]


def test_no_change_is_taken_without_the_form_token_of_the_session(path):
    asked = ask(path)
    application = app(path)
    client = browser(application)
    client.get("/approvals")
    routes = [route for route in changing(application) if route != "/enter"]
    assert len(routes) >= 3
    for route in routes:
        target = re.sub(r"\{\w+(:\w+)?\}", asked.id, route)
        assert client.post(target, data={"arguments": "{}"}).status_code == 403, route
        assert client.post(target, data={"form_token": "0" * 64}).status_code == 403, route
    assert state_of(path, asked.id) == "pending"


def test_a_form_token_of_another_session_is_refused(path):
    asked = ask(path)
    application = app(path)
    stolen = form_token(browser(application), f"/approvals/{asked.id}")
    other = browser(application)
    other.get("/approvals")
    assert other.post(f"/approvals/{asked.id}/approve", data={"form_token": stolen}).status_code == 403
    assert state_of(path, asked.id) == "pending"


def test_a_session_that_this_process_did_not_issue_is_replaced(path):
    application = app(path)
    client = browser(application)
    [name] = client.get("/approvals").cookies
    client.cookies.clear()
    client.cookies.set(name, "mine.0000")
    assert client.get("/approvals").headers["set-cookie"].startswith(name)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:9999"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_change_that_another_page_asks_for_is_refused(path, headers):
    asked = ask(path)
    client = browser(app(path))
    token = form_token(client, f"/approvals/{asked.id}")
    answer = client.post(f"/approvals/{asked.id}/approve", data={"form_token": token}, headers=headers)
    assert answer.status_code == 403
    assert state_of(path, asked.id) == "pending"


def test_a_change_from_the_page_itself_is_taken(path):
    asked = ask(path)
    client = browser(app(path))
    token = form_token(client, f"/approvals/{asked.id}")
    headers = {"Origin": "http://127.0.0.1:8811", "Sec-Fetch-Site": "same-origin"}
    answer = client.post(f"/approvals/{asked.id}/approve", data={"form_token": token}, headers=headers)
    assert answer.status_code == 303
    assert state_of(path, asked.id) == "approved"


def test_a_name_that_was_rebound_to_this_machine_is_not_served(path):
    client = browser(app(path))
    assert client.get("/approvals", headers={"Host": "evil.example:8811"}).status_code == 421
    assert client.get("/approvals", headers={"Host": "localhost:8811"}).status_code == 200


def test_without_the_token_nothing_is_shown(path):
    asked = ask(path)
    client = browser(app(path, token=TOKEN))
    for page in ("/", "/approvals", "/approvals/list", f"/approvals/{asked.id}"):
        assert client.get(page).status_code in (401, 303)
        assert client.get(page, headers={"Accept": "application/json"}).status_code == 401
        assert "refund" not in client.get(page).text
    assert client.post(f"/approvals/{asked.id}/approve", data={}).status_code == 401
    assert not client.cookies


def test_a_part_that_is_asked_for_without_a_session_sends_to_the_entrance(path):
    answer = browser(app(path, token=TOKEN)).get("/approvals/list", headers={"HX-Request": "true"})
    assert (answer.status_code, answer.headers["hx-redirect"]) == (401, "/enter")


def test_the_token_opens_a_session(path):
    asked = ask(path)
    client = browser(app(path, token=TOKEN))
    assert client.post("/enter", data={"token": "wrong"}).status_code == 401
    assert not client.cookies
    entered = client.post("/enter", data={"token": TOKEN})
    assert entered.status_code == 303
    assert "HttpOnly" in entered.headers["set-cookie"]
    assert "SameSite=strict" in entered.headers["set-cookie"]
    assert post(client, f"/approvals/{asked.id}/approve", f"/approvals/{asked.id}").status_code == 303
    assert state_of(path, asked.id) == "approved"


def test_a_bearer_of_the_token_may_look_and_change_nothing(path):
    asked = ask(path)
    client = browser(app(path, token=TOKEN))
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    assert "refund" in client.get("/approvals", headers=bearer).text
    assert client.post(f"/approvals/{asked.id}/approve", data={"form_token": ""}, headers=bearer).status_code == 403
    assert state_of(path, asked.id) == "pending"


@pytest.mark.parametrize("page", ["/approvals", "/static/studio.css", "/nothing-here", "/enter"])
def test_every_answer_says_what_a_browser_may_do_with_it(path, page):
    headers = browser(app(path)).get(page).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"


def test_a_refused_request_says_so_too(path):
    assert "content-security-policy" in browser(app(path)).get("/", headers={"Host": "evil.example"}).headers


def test_a_form_that_is_too_large_is_refused(path):
    asked = ask(path)
    client = browser(app(path))
    assert client.post(f"/approvals/{asked.id}/edit", data={"arguments": "x" * 300_000}).status_code == 413


def test_a_form_with_too_many_fields_is_refused(path):
    client = browser(app(path, token=TOKEN))
    assert client.post("/enter", data={f"f{n}": "" for n in range(300)}).status_code == 400


def test_files_beside_the_static_ones_are_not_served(path):
    client = browser(app(path))
    for name in ("../app.py", "%2e%2e/app.py", "..%2fapp.py", "/etc/passwd"):
        assert client.get(f"/static/{name}").status_code == 404
