"""The tool-call formats by name, and which one a model's chat template speaks."""

from __future__ import annotations

from typing import Final

from envace_sdk.errors import ModelError

from .format import ToolFormat
from .hermes import Hermes
from .llama3 import Llama3
from .mistral import Mistral, MistralNamed
from .native import Native
from .plainjson import PlainJson

__all__ = ["FORMATS", "format_of_template", "tool_format"]

FORMATS: Final[dict[str, ToolFormat]] = {
    each.name: each for each in (Hermes(), Llama3(), Mistral(), MistralNamed(), PlainJson(), Native())
}
"""`hermes`, `llama3`, `mistral`, `mistral-v11`, `json` and `openai`."""


def tool_format(name: str) -> ToolFormat:
    """The format of a name. Raises: ModelError for a name that is none."""
    if name not in FORMATS:
        raise ModelError(f"{name!r} is not a tool-call format; one is {', '.join(sorted(FORMATS))}")
    return FORMATS[name]


def format_of_template(template: str) -> str | None:
    """The format that a chat template (Jinja text) writes calls in; None where it says nothing of tools."""
    if "<tool_call>" in template and "<function=" not in template and "<arg_key>" not in template:
        return "hermes"
    if "[TOOL_CALLS]" in template:
        return "mistral-v11" if "[ARGS]" in template else "mistral"
    if "<|python_tag|>" in template or '"parameters": ' in template:
        return "llama3"
    return None
