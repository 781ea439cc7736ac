"""The least MCP client: JSON lines over pipes, in either era, with every answer exactly as it came."""

import json
import os
import subprocess
from contextlib import contextmanager

LEGACY, MODERN = "2025-11-25", "2026-07-28"
ENVELOPE = "io.modelcontextprotocol/"
OFFERS = {"elicitation": {}, "sampling": {}, "roots": {}}


class FramesClient:
    """One session with a server's process.

    `answers` holds the result to give for each method that the server may ask.
    """

    def __init__(self, process, era, *, answers=None, offers=None):
        self.process = process
        self.era = era
        self.answers = answers or {}
        self.offers = OFFERS if offers is None else offers
        self.notices = []
        self.asked = []
        self._ids = iter(range(1, 1_000_000))
        if era == LEGACY:
            params = {
                "protocolVersion": era,
                "capabilities": self.offers,
                "clientInfo": {"name": "least", "version": "0"},
            }
            self.server = self.raw("initialize", params)["result"]
            self._send({"method": "notifications/initialized"})

    def request(self, method, params, **meta):
        """The result or the error of a request, less what the era adds to it."""
        answer = self.raw(
            method, {**params, "_meta": {**self._envelope(), **meta}} if self._envelope() or meta else params
        )
        return bare(answer)

    def raw(self, method, params):
        """The answer to a request; what the server asks meanwhile is answered, what it tells is kept."""
        number = next(self._ids)
        self._send({"id": number, "method": method, "params": params})
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise EOFError(f"the server ended before it answered {method}")
            message = json.loads(line)
            if message.get("id") == number and "method" not in message:
                return message
            if "method" not in message:
                continue
            if "id" not in message:
                self.notices.append(message)
                continue
            self.asked.append(message)
            answer = self.answers.get(message["method"])
            outcome = {"result": answer} if answer is not None else {"error": {"code": -32601, "message": "no"}}
            self._send({"id": message["id"], **outcome})

    def _envelope(self):
        if self.era != MODERN:
            return {}
        return {ENVELOPE + "protocolVersion": MODERN, ENVELOPE + "clientCapabilities": self.offers}

    def _send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()


@contextmanager
def frames_client(command, era, *, env=None, stderr=subprocess.DEVNULL, **options):
    """Starts a command and speaks with it; ends it by closing its input."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env={**os.environ, **(env or {})},
    )
    with process:
        try:
            yield FramesClient(process, era, **options)
        finally:
            process.stdin.close()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()


def bare(answer):
    """An answer without envelope, label and what one era only adds."""
    if "error" in answer:
        return {"error": answer["error"]}
    result = dict(answer["result"])
    for name in ("resultType", "ttlMs", "cacheScope"):
        if name != "resultType" or result.get(name) == "complete":
            result.pop(name, None)
    own = {
        name: value for name, value in result.pop("_meta", {}).items() if not name.startswith((ENVELOPE, "dev.envace/"))
    }
    return {"result": {**result, **({"_meta": own} if own else {})}}
