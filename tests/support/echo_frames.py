"""A small MCP server on stdio that needs no library and starts at once: python echo_frames.py [FAREWELL].

`echo` answers with its text, as often as `times` says. When its input ends, or nobody reads its output any more, it
writes the file FAREWELL.
"""

import json
import sys
from pathlib import Path

TOOLS = [
    {
        "name": "echo",
        "description": "Says it again.",
        "inputSchema": {
            "type": "object",
            "properties": {"text": {"type": "string"}, "times": {"type": "integer"}},
            "required": ["text"],
        },
    },
    {"name": "count", "description": "Counts.", "inputSchema": {"type": "object", "properties": {}}},
]


def say(answer):
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def main():
    count = 0
    for line in sys.stdin:
        message = json.loads(line)
        method, number, params = message.get("method"), message.get("id"), message.get("params", {})
        if number is None:
            continue
        if method == "initialize":
            result = {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "echo", "version": "1"},
            }
        elif method == "tools/list":
            result = {"tools": TOOLS}
        elif method == "tools/call" and params["name"] == "count":
            count += 1
            result = {"content": [{"type": "text", "text": str(count)}]}
        elif method == "tools/call":
            arguments = params["arguments"]
            result = {"content": [{"type": "text", "text": arguments["text"] * arguments.get("times", 1)}]}
        else:
            answer = {"jsonrpc": "2.0", "id": number, "error": {"code": -32601, "message": "Method not found"}}
            say(answer)
            continue
        say({"jsonrpc": "2.0", "id": number, "result": result})


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        sys.stdout = None  # what is left in its buffer is for nobody
    if sys.argv[1:]:
        Path(sys.argv[1]).write_text("the client has left")
