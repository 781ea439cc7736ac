"""Answers given by hand in a real browser, and what comes of them."""

import concurrent.futures

import pytest
from chromium import chromium, kept, watched
from studios import app, ask, state_of
from web import serving

from envace_sdk.ledger import Ledger

pytestmark = [pytest.mark.slow]
REFUSED = ["responded with a status of 400"]
"""What the console says of a form that is handed back."""


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("ENVACE_REDACTION_KEY", "k")
    return tmp_path / "ledger.db"


@pytest.fixture
def apart():
    """A thread for what may not run beside the browser's own event loop."""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        yield lambda work, *given: pool.submit(work, *given).result(60)


@pytest.fixture
def page(path):
    with serving(app(path)) as base, chromium() as browser, watched(browser, base_url=base, expected=REFUSED) as page:
        yield page


def test_a_paused_langchain_agent_goes_on_once_its_call_is_approved_in_the_page(tmp_path, page, apart):
    pytest.importorskip("langchain")
    page.goto("/approvals")
    assert page.locator("h1").inner_text() == "Nothing waits for you"

    shop, drive, state = apart(_paused, tmp_path)
    assert shop.executed == []
    page.get_by_role("link", name="refund_order").click()  # it came by itself
    assert "orders/O-1" in page.locator(".diff").inner_text()
    kept(page, "langchain-asks")
    page.get_by_label("Comment").fill("seen the invoice")
    page.get_by_role("button", name="Approve once").click()
    page.get_by_text("It is approved").wait_for()

    state = apart(drive.resume)
    assert shop.executed == [("refund_order", {"order_id": "O-1", "amount": 20})]
    assert state["messages"][-1].text == "It is done."
    page.get_by_text("It is used").wait_for()  # the page has learned of it
    apart(shop.ledger.close)


def _paused(folder):
    from envace_sdk.integrations.langchain import RehearsalMiddleware
    from langchain.agents import create_agent
    from langchain_core.messages import AIMessage
    from langchain_shop import GO, Driver, Shop, call, calls, model, waiting
    from langgraph.checkpoint.memory import InMemorySaver

    shop = Shop(folder)
    script = calls(call("refund_order", order_id="O-1", amount=20)), AIMessage("It is done.")
    agent = create_agent(
        model(*script), shop.tools, middleware=[RehearsalMiddleware(shop.guard)], checkpointer=InMemorySaver()
    )
    drive = Driver(agent)
    state = drive(GO)
    assert len(waiting(state)) == 1
    return shop, drive, state


def test_the_keyboard_alone_finds_and_rejects_a_request(path, page):
    asked = ask(path)
    page.goto("/approvals")
    _tab_to(page, f'a[href="/approvals/{asked.id}"]')
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/approvals/{asked.id}")
    _tab_to(page, "textarea")
    page.keyboard.type("no\n")  # Enter in the comment sends nothing
    assert state_of(path, asked.id) == "pending"
    _tab_to(page, "button.no")
    page.keyboard.press("Enter")
    page.get_by_text("It is rejected").wait_for()
    assert state_of(path, asked.id) == "rejected"


def _tab_to(page, selector):
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
            return
    raise AssertionError(f"Tab never reaches {selector}")


def test_the_first_stop_of_the_keyboard_skips_to_the_content(path, page):
    page.goto("/approvals")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_the_place_of_the_keyboard_is_kept_while_the_queue_updates_itself(path, page):
    asked = ask(path)
    page.goto("/approvals")
    _tab_to(page, f'a[href="/approvals/{asked.id}"]')
    new = ask(path, action="b")
    page.locator(f"#{new.id}").wait_for()
    assert page.evaluate("document.activeElement.getAttribute('href')") == f"/approvals/{asked.id}"


def test_arguments_are_edited_in_the_page(path, page):
    asked = ask(path)
    page.goto(f"/approvals/{asked.id}")
    page.get_by_text("Edit the arguments").click()
    page.get_by_label("Arguments, as JSON").fill('{"order": "A", "amount": 3')
    page.get_by_role("button", name="Ask for this instead").click()
    assert "cannot be read" in page.get_by_role("alert").inner_text()
    page.get_by_label("Arguments, as JSON").fill('{"order": "A", "amount": 3}')
    page.get_by_role("button", name="Ask for this instead").click()
    page.get_by_text("has not been rehearsed yet").wait_for()
    with Ledger.open(path) as ledger:
        [waiting] = ledger.approvals.pending()
    assert waiting.arguments == {"order": "A", "amount": 3}


def test_the_token_is_asked_for_once(path):
    asked = ask(path)
    token = "correct-horse-battery-staple"
    with serving(app(path, token=token)) as base, chromium() as browser, watched(browser, base_url=base) as page:
        page.goto("/approvals")
        page.get_by_label("Token").fill(token)
        page.keyboard.press("Enter")
        page.locator(f"#{asked.id}").wait_for()
        kept(page, "entered")


def test_a_tool_is_called_from_its_form(path):
    application = app(path, tools=[(None, "retail")])
    with serving(application) as base, chromium() as browser, watched(browser, base_url=base) as page:
        page.goto("/worlds/tool?toolset=retail&name=cancel_order")
        page.get_by_label("order_id").fill("TT-26-04124")
        page.get_by_label("reason").select_option("ordered_by_mistake")
        page.get_by_role("button", name="Rehearse the call").click()
        answer = page.get_by_role("region", name="Rehearsed answer")
        assert "layer dynamics" in answer.inner_text()
        assert "orders/TT-26-04124" in answer.inner_text()
        kept(page, "called")
