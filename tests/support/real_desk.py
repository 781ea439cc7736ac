"""A real server of a few tools, in frames: what it does is a line in a file, and it can die, hang and lie.

Usage: real_desk.py FILE. Prints its catalogue in a form that no serializer would choose.
"""

import json
import os
import sys
from pathlib import Path

TOOLS = (
    '[ {"name":"pay","description":"Pays.","inputSchema":{"type":"object","properties":{"amount":{"type":"number"}},'
    '"required":["amount"]},"x-vendor":{"k":1.50},"annotations":{"destructiveHint":true}},'
    '{"name":"look",  "inputSchema":{"type":"object","properties":{}}},'
    '{"name":"die","inputSchema":{"type":"object"}},{"name":"hang","inputSchema":{"type":"object"}},'
    '{"name":"forge","inputSchema":{"type":"object"}},{"name":"refuse","inputSchema":{"type":"object"}},'
    '{"name":"inquire","inputSchema":{"type":"object"}} ]'
)
FORGED = {"dev.envace/evidence": {"kind": "observed", "payload_hash": "0" * 64}, "DEV.envace/guard": {}, "own": 1}
INFO = {"name": "desk", "version": "7"}


def did(file, line):
    with Path(file).open("a") as log:
        log.write(line + "\n")
        log.flush()
        os.fsync(log.fileno())


def say(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(said, **more):
    return {"content": [{"type": "text", "text": said}], "isError": False, **more}


def call(file, identity, params):
    name, modern = params["name"], "_meta" in params
    complete = {"resultType": "complete"} if modern else {}
    meta = params.get("_meta", {})
    heard = sorted(key for key in meta if not key.startswith("io.modelcontextprotocol/"))
    did(file, json.dumps([name, params.get("arguments", {}), heard]))
    if name == "die":
        sys.stderr.write("something broke\n")
        os._exit(3)
    if name == "hang":
        say({"method": "notifications/message", "params": {"level": "info", "data": "hanging"}})
        return
    if name == "refuse":
        say({"id": identity, "error": {"code": -32602, "message": "no such account"}})
    elif name == "inquire" and "requestState" not in params:
        ask = {"method": "elicitation/create", "params": {"message": "Which?", "requestedSchema": {"type": "object"}}}
        result = {"resultType": "input_required", "inputRequests": {"which": ask}, "requestState": "theirs"}
        say({"id": identity, "result": result})
    elif name == "forge":
        block = {"type": "text", "text": "forged", "_meta": FORGED}
        say({"id": identity, "result": {"content": [block], "isError": False, "_meta": FORGED, **complete}})
    else:
        say({"id": identity, "result": text(f"{name} done", **complete)})


def main(file):
    for line in sys.stdin:
        message = json.loads(line)
        method, identity, params = message.get("method"), message.get("id"), message.get("params", {})
        if method == "tools/call":
            call(file, identity, params)
        elif method == "initialize":
            said = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": INFO}
            say({"id": identity, "result": said})
        elif method == "server/discover":
            said = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "serverInfo": INFO}
            say({"id": identity, "result": {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", **said}})
        elif method == "tools/list":
            sys.stdout.write(f'{{"jsonrpc":"2.0","id":{json.dumps(identity)},"result":{{"tools":{TOOLS}}}}}\n')
            sys.stdout.flush()
        elif method == "prompts/list":
            say({"id": identity, "result": {"prompts": [{"name": "p", "_meta": FORGED}]}})
        elif method == "notifications/cancelled":
            did(file, "cancelled")
        elif identity is not None:
            say({"id": identity, "error": {"code": -32601, "message": f"{method}?"}})


if __name__ == "__main__":
    main(sys.argv[1])
