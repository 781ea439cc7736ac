"""What an action is, to those who decide on it: its name and arguments, as one digest."""

from __future__ import annotations

from collections.abc import Mapping

from envace_sdk.evidence import digest
from envace_sdk.json import Json

__all__ = ["action_digest"]


def action_digest(tool: str, arguments: Mapping[str, Json], *, server: str = "") -> str:
    """SHA-256, as 64 hexadecimal digits, of the canonical text of a call: what an approval is bound to.

    Args:
        tool: its name.
        arguments: those that the caller chose; injected ones (a session, a runtime) are not among them.
        server: whose tool it is, where several may have one of that name.

    Raises:
        EvidenceError: the arguments are not JSON, or nested too deeply.
    """
    body: dict[str, Json] = {"tool": tool, "arguments": dict(arguments)}
    return digest({**body, "server": server} if server else body)
