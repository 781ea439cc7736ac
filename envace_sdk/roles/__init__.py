"""The two roles of a policy: their prompts, and what its text says."""

from .act import Step, act_prompt, dialogue
from .format import Style, ToolFormat, openai_tools
from .formats import FORMATS, format_of_template, tool_format
from .rehearse import rehearse_prompt
from .response import RESPONSE, parse_response, render_response
from .response_schema import response_schema
from .signatures import schema_outline, signature
from .stream import CallStream, Parsed
from .strictjson import read_json, write_json

__all__ = [
    "FORMATS",
    "RESPONSE",
    "CallStream",
    "Parsed",
    "Step",
    "Style",
    "ToolFormat",
    "act_prompt",
    "dialogue",
    "format_of_template",
    "openai_tools",
    "parse_response",
    "read_json",
    "rehearse_prompt",
    "render_response",
    "response_schema",
    "schema_outline",
    "signature",
    "tool_format",
    "write_json",
]
