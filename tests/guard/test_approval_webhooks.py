import base64
import contextlib
import itertools
import json
import queue
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from guarded_desk import action, desk

from envace_sdk.errors import ApprovalRequired, GuardError
from envace_sdk.guard import Webhook
from envace_sdk.guard.webhook import signature

SECRET = "whsec_" + base64.b64encode(b"s" * 24).decode()


@pytest.fixture
def receiver():
    """A server that keeps what it is sent, and answers with the statuses it was given, then 200."""
    received, statuses = queue.Queue(), queue.Queue()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            received.put((dict(self.headers), body))
            self.send_response(200 if statuses.empty() else statuses.get())
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    server.url = f"http://127.0.0.1:{server.server_port}/hook"
    server.received, server.statuses = received, statuses
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def ask(shop):
    with pytest.raises(ApprovalRequired) as pause:
        shop.run(action())
    return pause.value.approval


def test_a_pending_approval_is_posted_signed(tmp_path, receiver):
    hook = Webhook(receiver.url, SECRET)
    shop = desk(tmp_path, webhooks=[hook])
    approval = ask(shop)
    headers, body = receiver.received.get(timeout=20)
    shop.guard.close()
    said = json.loads(body)
    assert (said["type"], said["id"], said["data"]["tool"]) == ("approval.requested", approval, "refund_order")
    assert said["data"]["change"][0]["fields"]["refunded"] == {"before": 0, "after": 20}
    assert headers["webhook-id"] == approval
    expected = signature(b"s" * 24, approval, int(headers["webhook-timestamp"]), body)
    assert headers["webhook-signature"] == expected


def test_asking_again_for_the_same_action_posts_nothing_more(tmp_path, receiver):
    shop = desk(tmp_path, webhooks=[Webhook(receiver.url, SECRET)])
    ask(shop)
    ask(shop)
    shop.guard.close()
    assert receiver.received.qsize() == 1


def test_a_message_is_sent_again_while_the_other_side_is_in_trouble(receiver):
    for status in (503, 429):
        receiver.statuses.put(status)
    hook = Webhook(receiver.url, SECRET, pause=0.01)
    hook.send("approval.requested", "ap_1", {"a": 1})
    sent = [receiver.received.get(timeout=20) for _ in range(3)]
    hook.close()
    assert len({headers["webhook-id"] for headers, _ in sent}) == 1
    assert len({body for _, body in sent}) == 1


def test_a_message_that_is_refused_is_not_sent_again(receiver, caplog):
    receiver.statuses.put(400)
    hook = Webhook(receiver.url, SECRET, pause=0.01)
    hook.send("approval.requested", "ap_1", {})
    hook.close()
    assert receiver.received.qsize() == 1
    assert "was not delivered: status 400" in caplog.text


def test_a_receiver_that_is_not_there_holds_up_no_decision(tmp_path, receiver, caplog):
    hook = Webhook("http://127.0.0.1:9/", SECRET, attempts=2, pause=0.01)
    shop = desk(tmp_path, webhooks=[hook])
    approval = ask(shop)
    assert shop.ledger.approvals.get(approval).state == "pending"
    hook.close()
    assert "was not delivered" in caplog.text
    hook.send("approval.requested", "ap_2", {})


@pytest.fixture
def dribbling():
    """A server that begins to answer one request, and goes on a byte at a time; gives its URL and what it was sent."""
    received, leave = queue.Queue(), threading.Event()

    def serve():
        while not leave.is_set():
            with contextlib.suppress(OSError), listener.accept()[0] as connection:
                received.put(connection.recv(65536))
                for byte in itertools.chain(b"HTTP/1.1 200 OK\r\nx: ", itertools.repeat(ord("a"))):
                    if leave.wait(0.05):
                        return
                    connection.send(bytes([byte]))

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/hook", received
        leave.set()
        with contextlib.suppress(OSError):
            socket.create_connection(listener.getsockname()).close()
        thread.join()


def test_a_receiver_that_never_comes_to_an_end_is_given_up_in_time(dribbling, caplog):
    url, received = dribbling
    hook = Webhook(url, SECRET, attempts=1, timeout=1.0)
    for name in ("first", "second"):
        hook.send("approval.requested", name, {})
    assert b"webhook-id: first" in received.get(timeout=20)
    assert b"webhook-id: second" in received.get(timeout=20)
    hook.close()
    assert "first was not delivered: TimeoutError" in caplog.text


def test_a_receiver_that_hangs_holds_up_neither_decisions_nor_the_end(dribbling):
    hook = Webhook(dribbling[0], SECRET, timeout=2.0)
    for number in range(1500):
        hook.send("approval.requested", str(number), {})
    begun = time.monotonic()
    hook.close(timeout=0.2)
    assert time.monotonic() - begun < 5


def test_secrets_among_the_arguments_are_not_posted(tmp_path, receiver):
    shop = desk(tmp_path, webhooks=[Webhook(receiver.url, SECRET)])
    with pytest.raises(ApprovalRequired):
        shop.run(action("set_note", {"order_id": "O-1", "note": "ghp_" + "a1B2" * 9}))
    _, body = receiver.received.get(timeout=20)
    shop.guard.close()
    assert b"ghp_a1B2" not in body


def test_a_webhook_needs_a_usable_secret():
    for secret in ("", "whsec_***"):
        with pytest.raises(GuardError, match="secret"):
            Webhook("http://127.0.0.1:9/", secret)
