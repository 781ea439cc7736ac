"""Asking the person at the client, in whichever way its protocol era knows, and writing the answer into the ledger.

A client of the stateless era gets the question as a result (`InputRequired`) and calls again with the answer; one of
the handshake era gets an elicitation in the middle of its call. Either way only the ledger says whether it may run.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from envace_sdk.errors import ApprovalError, ApprovalRequired
from envace_sdk.guard import Action, Guard
from envace_sdk.json import Json

from .gateway_answers import question

__all__ = ["Asking", "Resumed"]

logger = logging.getLogger(__name__)

_MARK: Final = "envace-gateway."
_NAME: Final = "approval"
_FORM: Final[Mapping[str, Json]] = {
    "type": "object",
    "properties": {
        "decision": {
            "type": "string",
            "title": "Decision",
            "description": "approve: this one call may happen, once. reject: it may not.",
            "enum": ["approve", "reject"],
        },
        "comment": {"type": "string", "title": "Comment", "maxLength": 1000},
    },
    "required": ["decision"],
}
_SIGNED: Final = 32


@dataclass(frozen=True, slots=True)
class Resumed:
    """What a request state of ours says: which action was asked about, under which approval."""

    approval: str
    identity: str
    nth: int


class Asking:
    """Puts approvals before the user of a client.

    Args:
        guard: whose approvals they are.
        approver: the name under which answers are written; the policy may want another one's.
    """

    def __init__(self, guard: Guard, approver: str) -> None:
        self._guard = guard
        self._approver = approver
        self._key = os.urandom(32)
        """New with each process: an answer to a question that was asked before a restart is not taken; it is asked
        anew."""

    def elicitation(self, pause: ApprovalRequired) -> dict[str, Json]:
        """The parameters of `elicitation/create`."""
        tool = str(pause.payload.get("tool", ""))
        return {"mode": "form", "message": question(tool, pause.payload), "requestedSchema": dict(_FORM)}

    def input_required(self, pause: ApprovalRequired, action: Action) -> dict[str, Any]:
        """The result that asks a client of the stateless era."""
        ask = {"method": "elicitation/create", "params": self.elicitation(pause)}
        state = self._sealed({"approval": pause.approval, "identity": action.identity, "nth": action.nth})
        return {"resultType": "input_required", "inputRequests": {_NAME: ask}, "requestState": state}

    def resumed(self, params: Mapping[str, Json]) -> Resumed | None:
        """What was asked, if a call answers a question of ours."""
        state = params.get("requestState")
        if not isinstance(state, str) or not state.startswith(_MARK):
            return None
        try:
            sealed = base64.urlsafe_b64decode(state.removeprefix(_MARK).encode())
        except (ValueError, binascii.Error):
            return None
        mac, text = sealed[:_SIGNED], sealed[_SIGNED:]
        if not hmac.compare_digest(mac, self._mac(text)):
            return None
        said = json.loads(text)
        return Resumed(said["approval"], said["identity"], said["nth"])

    def plain(self, params: Mapping[str, Json]) -> dict[str, Json]:
        """A call's parameters without questions of ours; those of the real server are its own affair."""
        state = params.get("requestState")
        if not isinstance(state, str) or not state.startswith(_MARK):
            return dict(params)
        return {name: value for name, value in params.items() if name not in ("requestState", "inputResponses")}

    def given(self, params: Mapping[str, Json]) -> Json:
        """The answer in the parameters of a resumed call."""
        responses = params.get("inputResponses")
        return responses.get(_NAME) if isinstance(responses, dict) else None

    def settle(self, approval: str, answer: Json) -> str:
        """Write an answer into the ledger; gives why it settles nothing, "" if it does.

        Raises:
            StoreError: the ledger cannot be written.
        """
        if not isinstance(answer, dict) or answer.get("action") not in ("accept", "decline"):
            return "The question was put aside at the client."
        content = answer.get("content")
        content = content if isinstance(content, dict) else {}
        if answer["action"] == "accept" and content.get("decision") not in ("approve", "reject"):
            return "The answer at the client is neither approve nor reject."
        approves = answer["action"] == "accept" and content["decision"] == "approve"
        comment = content.get("comment")
        try:
            self._guard.ledger.approvals.decide(
                approval,
                "approve" if approves else "reject",
                by=self._approver,
                comment=comment[:1000] if isinstance(comment, str) else "",
                via="gateway",
            )
        except ApprovalError as error:
            logger.info("an answer at the client does not count: %s", error)
            return f"The answer at the client does not count: {error}."
        return ""

    def _sealed(self, said: Mapping[str, Json]) -> str:
        text = json.dumps(said).encode()
        return _MARK + base64.urlsafe_b64encode(self._mac(text) + text).decode()

    def _mac(self, text: bytes) -> bytes:
        return hmac.new(self._key, text, hashlib.sha256).digest()
