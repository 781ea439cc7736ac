"""A real server on pipes that says just what it is told to: the text of an answer comes as an argument of its tool."""

import json
import sys

TOOLS = [{"name": "say", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}]


def main():
    for line in sys.stdin:
        message = json.loads(line)
        method, identity = message.get("method"), message.get("id")
        result = {"content": [{"type": "text", "text": "fine"}], "isError": False}
        if method == "initialize":
            version = message["params"]["protocolVersion"]
            result = {"protocolVersion": version, "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}
        said = json.dumps({"jsonrpc": "2.0", "id": identity, "result": result})
        told = message.get("params", {}).get("arguments", message.get("params", {})).get("text")
        if method in ("tools/call", "prompts/get") and told is not None:
            said = told.replace("ID", json.dumps(identity))
        if identity is not None:
            sys.stdout.buffer.write(said.encode() + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
