"""Runs one environment of `bfcl-eval` in that package's own virtual environment: a line in, a line out.

`{"load": config}` begins anew, `{"call": name, "arguments": {...}}` is answered with `{"result", "is_error"}`.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

MODULES = {"GorillaFileSystem": "gorilla_file_system", "TicketAPI": "ticket_api"}


def answer(environment: Any, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        result = getattr(environment, name)(**arguments)
    except Exception as error:
        return {"result": {"error": str(error)}, "is_error": True}
    return {"result": result, "is_error": isinstance(result, dict) and "error" in result}


def main(name: str) -> None:
    module = importlib.import_module(f"bfcl_eval.eval_checker.multi_turn_eval.func_source_code.{MODULES[name]}")
    environment: Any = None
    for line in sys.stdin:
        request = json.loads(line)
        if "load" in request:
            environment = getattr(module, name)()
            environment._load_scenario(request["load"])
            reply = {}
        else:
            reply = answer(environment, request["call"], request["arguments"])
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
