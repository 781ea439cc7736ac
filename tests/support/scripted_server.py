"""A scripted MCP server on stdio, off-spec wherever the script wants it: python scripted_server.py SCRIPT.

The script is a JSON object:

    pages: the text of the tools array of each page, [] by default
    cursors: the nextCursor of each page, as JSON; by default what leads through the pages
    era: "legacy" (the default), "modern", "both"
    before: lines printed before anything else; stderr: text for standard error
    dies_on, mute_on, refuses: methods on which it ends, stays silent, answers with an error
    exit: the exit code when it dies
    list_result: the text of the whole result of tools/list
"""

import json
import os
import sys
from pathlib import Path

HANDSHAKE = {"capabilities": {"tools": {}}, "serverInfo": {"name": "scripted", "version": "9"}}
DISCOVERED = {
    "supportedVersions": ["2026-07-28"],
    "capabilities": {"tools": {}},
    "resultType": "complete",
    "ttlMs": 0,
    "cacheScope": "private",
    "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "scripted", "version": "9"}},
}


def say(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def answer(request_id, result):
    say(f'{{"jsonrpc":"2.0","id":{json.dumps(request_id)},"result":{result}}}')


def refuse(request_id, code, message):
    error = json.dumps({"code": code, "message": message})
    say(f'{{"jsonrpc":"2.0","id":{json.dumps(request_id)},"error":{error}}}')


def page(script, cursor):
    pages = script.get("pages", ["[]"])
    number = int(cursor or 0) % len(pages)
    following = json.dumps(str(number + 1)) if number + 1 < len(pages) else None
    if "cursors" in script:
        following = script["cursors"][number]
    after = "" if following is None else f',"nextCursor":{following}'
    return f'{{"tools":{pages[number]}{after}}}'


def main(script):
    era = script.get("era", "legacy")
    for line in script.get("before", []):
        say(line)
    sys.stderr.write(script.get("stderr", ""))
    sys.stderr.flush()
    for line in sys.stdin:
        message = json.loads(line)
        method, request_id, params = message.get("method"), message.get("id"), message.get("params", {})
        if method in script.get("dies_on", []):
            sys.exit(script.get("exit", 1))
        if request_id is None or method in script.get("mute_on", []):
            continue
        if method in script.get("refuses", []):
            refuse(request_id, -32000, "not today")
        elif method == "initialize" and era != "modern":
            answer(request_id, json.dumps({**HANDSHAKE, "protocolVersion": params["protocolVersion"]}))
        elif method == "server/discover" and era != "legacy":
            answer(request_id, json.dumps(DISCOVERED))
        elif method == "tools/list":
            answer(request_id, script.get("list_result") or page(script, params.get("cursor")))
        elif method == "tools/call":
            answer(
                request_id,
                json.dumps({"content": [], "echo": params, "environ": dict(os.environ), "cwd": str(Path.cwd())}),
            )
        else:
            refuse(request_id, -32601, "Method not found")


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
