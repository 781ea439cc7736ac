"""What a recorded server offered besides tools, and what it said of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from mcp.types import (
    CompleteRequestParams,
    GetPromptRequestParams,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    RequestParams,
    SetLevelRequestParams,
    SubscribeRequestParams,
    UnsubscribeRequestParams,
)

from envace_sdk.json import Json
from envace_sdk.tools.recordings import Recorded

__all__ = ["LISTS", "Surface"]

LISTS: Final = {
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}
"""The lists besides that of tools, and the member that holds their items."""

_OFFERS: Final[Mapping[str, Mapping[str, type[RequestParams]]]] = {
    "prompts": {"prompts/list": PaginatedRequestParams, "prompts/get": GetPromptRequestParams},
    "resources": {
        "resources/list": PaginatedRequestParams,
        "resources/templates/list": PaginatedRequestParams,
        "resources/read": ReadResourceRequestParams,
    },
    "completions": {"completion/complete": CompleteRequestParams},
    "logging": {"logging/setLevel": SetLevelRequestParams},
    "subscribe": {
        "resources/subscribe": SubscribeRequestParams,
        "resources/unsubscribe": UnsubscribeRequestParams,
    },
}
"""The methods that a server with a capability answers; `subscribe` is part of `resources`."""


@dataclass(frozen=True, slots=True)
class Surface:
    """The face of the recorded servers: everything that is not an answer."""

    server: Mapping[str, Json] = field(default_factory=dict)
    instructions: str | None = None
    methods: Mapping[str, type[RequestParams]] = field(default_factory=dict)
    """What it answers besides tools, with the type of the params."""
    lists: Mapping[str, tuple[Json, ...]] = field(default_factory=dict)
    announced: frozenset[str] = frozenset()
    """The lists whose changes it announces."""
    disconnects: bool = False
    """Whether it ended a stream in the middle of a call, for the client to come back."""

    @classmethod
    def of(cls, recorded: Recorded) -> Self:
        """What the recordings show, the latest first."""
        sessions = [session for recording in recorded.recordings for session in recording.sessions]
        server = next((session.server for session in reversed(sessions) if session.server), {})
        instructions = next((session.instructions for session in reversed(sessions) if session.instructions), None)
        seen = {
            exchange.method
            for recording in recorded.recordings
            for exchange in recording.exchanges
            if exchange.error is None or exchange.error.get("code") != -32601
        }
        offered: set[str] = set()
        for session in sessions:
            offered |= {name for name, value in session.capabilities.items() if value is not None}
            resources = session.capabilities.get("resources")
            if isinstance(resources, dict) and resources.get("subscribe"):
                offered.add("subscribe")
        methods = {
            method: params
            for offer, group in _OFFERS.items()
            for method, params in group.items()
            if offer in offered or method in seen
        }
        known = {method for group in _OFFERS.values() for method in group}
        methods |= {method: RequestParams for method in seen - known if not method.startswith(("tools/", "tasks/"))}
        lists = {
            method: recorded.listing(method, member) or () for method, member in LISTS.items() if method in methods
        }
        disconnects = any(
            event.kind == "disconnect"
            for recording in recorded.recordings
            for exchange in recording.exchanges
            for event in exchange.events
        )
        announced = {
            name
            for session in sessions
            for name, value in session.capabilities.items()
            if isinstance(value, dict) and value.get("listChanged") is True
        }
        return cls(server, instructions, methods, lists, frozenset(announced), disconnects)

    def identity(self, name: str, version: str) -> dict[str, Any]:
        """The arguments that make a server present itself as the recorded one; else with this name and version."""
        said = self.server
        named = said.get("name")
        if not isinstance(named, str):
            return {"name": name, "version": version}
        texts = {
            ours: said[theirs]
            for ours, theirs in (("title", "title"), ("description", "description"), ("website_url", "websiteUrl"))
            if isinstance(said.get(theirs), str)
        }
        return {"name": named, "version": str(said.get("version", "")), **texts, "instructions": self.instructions}
