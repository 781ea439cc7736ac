"""The studio in a test: its application, a browser's worth of cookies, and a ledger with something to answer."""

import re
from pathlib import Path

import pytest
from envace_sdk.mcp_servers.address import Address, Names

pytest.importorskip("jinja2", reason="the extra `studio` is not installed: jinja2 is missing")

from starlette.testclient import TestClient

from envace_sdk.ledger import Ledger
from envace_sdk.studio.app import build_app
from envace_sdk.studio.ledgers import Ledgers
from envace_sdk.studio.toolsets import Toolsets

BASE = "http://127.0.0.1:8811"
CHANGE = [
    {
        "kind": "updated",
        "collection": "orders",
        "key": "A",
        "fields": {"status": {"before": "open", "after": "refunded"}, "note": {"after": 1}},
    },
    {"kind": "created", "collection": "refunds", "key": "R-1", "fields": {"amount": {"after": 5}}},
    {"kind": "deleted", "collection": "holds", "key": "H", "fields": {"by": {"before": "bob"}}},
]
PREDICTION = {"status": "success", "layer": "dynamics", "confidence": 0.93, "answer": '{"ok": true}'}


def app(ledger, *, token=None, approvers=None, address="127.0.0.1", tools=(), store=None, **more):
    where = str(ledger) if isinstance(ledger, Path) else ledger
    names = Names(Address(address, 8811))
    return build_app(
        names=names, token=token, by="ann", ledgers=Ledgers(where, approvers), toolsets=Toolsets(tools, store), **more
    )


def browser(application, **more):
    """A client that keeps cookies, as a browser does; it follows no redirect by itself."""
    return TestClient(application, base_url=BASE, follow_redirects=False, raise_server_exceptions=True, **more)


def form_token(client, path):
    """What the first form of a page carries against forgery."""
    return re.search(r'name="form_token" value="([0-9a-f]+)"', client.get(path).text)[1]


def post(client, path, page, **fields):
    """Sends a form as the page would."""
    return client.post(path, data={"form_token": form_token(client, page), **fields})


def ask(path, **more):
    """An approval that waits in the ledger of that file."""
    given = {"server": "shop", "risk": "high", "change": CHANGE, "reasons": ["writes money"], "asked_by": "bob", **more}
    details = {"prediction": PREDICTION, "risk": {"reasons": ["cannot be taken back"]}}
    arguments = given.pop("arguments", {"order": "A", "amount": 5})
    given.setdefault("details", details)
    with Ledger.open(path) as ledger:
        return ledger.approvals.request(given.pop("run", "thread-7"), given.pop("tool", "refund"), arguments, **given)


def state_of(path, approval):
    with Ledger.open(path) as ledger:
        return ledger.approvals.get(approval).state
