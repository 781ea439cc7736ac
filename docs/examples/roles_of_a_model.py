"""One model in both roles: it calls a tool, and plays the server behind it."""

import asyncio

from envace_sdk.models import Message, Request, Sampling, ScriptedModel
from envace_sdk.roles import (
    RESPONSE,
    act_prompt,
    dialogue,
    parse_response,
    rehearse_prompt,
    response_schema,
    tool_format,
)
from envace_sdk.tools.model import Tool, ToolCall, ToolResult

TOOL = Tool(
    {
        "name": "get_room",
        "description": "Read one room.",
        "inputSchema": {"type": "object", "properties": {"room": {"type": "string"}}, "required": ["room"]},
        "outputSchema": {
            "type": "object",
            "properties": {"room": {"type": "string"}, "free": {"type": "boolean"}},
            "required": ["room", "free"],
        },
    }
)
KNOWN = (ToolCall("get_room", {"room": "Oak"}), ToolResult.json({"room": "Oak", "free": False}, structured=True))

# Any address that load_model takes would do; given answers let this run anywhere.
model = ScriptedModel(
    [
        '<tool_call>\n{"name": "get_room", "arguments": {"room": "Elm"}}\n</tool_call>',
        '<response>{"result": {"room": "Elm", "free": true}}</response>',
    ]
)


async def main() -> None:
    hermes = tool_format("hermes")
    example = dialogue("Is Oak free?", [KNOWN], form=hermes, answer="No.")
    asked = [Message("user", "Is Elm free?")]
    prompt = act_prompt([TOOL], asked, form=hermes, style="compact", examples=[example])
    [said] = await model.complete([Request(messages=prompt, sampling=Sampling(max_tokens=64, seed=1))])
    [call] = hermes.read(said).calls  # or MalformedCallError, which says what is wrong
    print(call.name, dict(call.arguments))

    prompt = rehearse_prompt(TOOL, call, examples=[KNOWN], entities={"rooms": [{"room": "Elm", "free": True}]})
    request = Request(messages=prompt, schema=response_schema(TOOL), wrap=RESPONSE)
    [said] = await model.complete([request])
    result = parse_response(said.text, TOOL, bare=True)  # or MalformedResponseError
    print(result.is_error, result.value())


asyncio.run(main())
