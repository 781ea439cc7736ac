"""Gateways in threads of the test process, in front of real servers; over HTTP, and over pipes."""

import asyncio
import contextlib
import os
import threading
from concurrent.futures import Future
from types import SimpleNamespace

from envace_sdk.mcp_servers.gateway_calls import Gate
from envace_sdk.mcp_servers.gateway_http import build_gateway
from envace_sdk.mcp_servers.gateway_stdio import StdioGateway
from envace_sdk.mcp_servers.stdio import Pipes
from frames_client import FramesClient
from guarded_desk import ledger
from served import serving

from envace_sdk.guard import Guard, parse_policy
from envace_sdk.tools.upstream import Target

POLICY = """
rules:
  - {name: forbidden, tools: [broken_item], then: block, reason: nobody may}
  - {name: reads, when: "risk.level == 'low'", then: commit}
"""


@contextlib.contextmanager
def guarding(environment, folder, *, policy=POLICY, **options):
    """A guard with a ledger of its own in that folder."""
    rules = parse_policy(policy)
    with ledger(folder, approvers=rules.approvers or None) as book:
        yield Guard(environment, book, rules, **options)


@contextlib.contextmanager
def http_gateway(guard, url, *, thread="chat", patience=20.0, approver="ann"):
    """Guards the server at that URL; gives the URL for clients."""
    gate = Gate(guard, server="todo", approver=approver)
    app = build_gateway(gate, Target(url=url), thread=thread, patience=patience, names=None)
    with serving(app) as base:
        yield f"{base}/mcp"


@contextlib.contextmanager
def stdio_gateway(guard, command, era, *, thread="chat", patience=20.0, **options):
    """Guards a command, over pipes; gives a client of the era. Ends when the client closes its end."""
    gate = Gate(guard, server="todo", approver="ann")
    read_by_gateway, written_by_client = os.pipe()
    read_by_client, written_by_gateway = os.pipe()
    done = Future()

    def run():
        gateway = StdioGateway(gate, Target(command=tuple(command)), thread=thread, patience=patience)
        try:
            done.set_result(asyncio.run(gateway.run(Pipes(read_by_gateway, written_by_gateway))))
        except BaseException as error:
            done.set_exception(error)
        finally:
            os.close(written_by_gateway)

    thread_ = threading.Thread(target=run)
    thread_.start()
    with os.fdopen(written_by_client, "wb") as stdin, os.fdopen(read_by_client, "rb") as stdout:
        try:
            client = FramesClient(SimpleNamespace(stdin=stdin, stdout=stdout), era, **options)
            client.ended = done
            yield client
        finally:
            with contextlib.suppress(OSError):
                stdin.close()
            thread_.join(30)
            os.close(read_by_gateway)
    assert done.result(0) is not None
