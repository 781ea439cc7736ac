"""A server of the SDK that asks in the middle of a call, in whichever way its client's era knows."""

import asyncio
import sys

import mcp.types as t
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
QUESTION = t.ElicitRequest(params=t.ElicitRequestFormParams(message="Who is it?", requested_schema=NAME))
SAMPLE = t.CreateMessageRequest(
    params=t.CreateMessageRequestParams(
        messages=[t.SamplingMessage(role="user", content=t.TextContent(type="text", text="A greeting, please"))],
        max_tokens=20,
    )
)


def text(said):
    return t.CallToolResult(content=[t.TextContent(type="text", text=said)])


async def list_tools(_context, _params):
    schema = {"type": "object", "properties": {}}
    return t.ListToolsResult(tools=[t.Tool(name="greet", description="Greets.", input_schema=schema)])


async def call_tool(context, params):
    await context.session.report_progress(1, 2, "asking")
    answers, state = params.input_responses or {}, params.request_state
    if context.protocol_version < "2026":
        named = await context.session.elicit_form("Who is it?", NAME, context.request_id)
        sampled = await context.session.send_request(
            SAMPLE, t.CreateMessageResult, metadata=_related(context.request_id)
        )
        return text(f"{sampled.content.text}, {(named.content or {}).get('name', named.action)}!")
    if state is None:
        return t.InputRequiredResult(input_requests={"who": QUESTION}, request_state="1")
    if state == "1":
        who = answers["who"]
        name = (who.content or {}).get("name", who.action)
        return t.InputRequiredResult(input_requests={"words": SAMPLE}, request_state=f"2 {name}")
    return text(f"{answers['words'].content.text}, {state[2:]}!")


async def get_prompt(_context, params):
    said = t.TextContent(type="text", text=f"About {(params.arguments or {}).get('topic')}")
    return t.GetPromptResult(messages=[t.PromptMessage(role="user", content=said)])


async def list_prompts(_context, _params):
    return t.ListPromptsResult(prompts=[t.Prompt(name="about", arguments=[t.PromptArgument(name="topic")])])


async def read_resource(_context, params):
    return t.ReadResourceResult(contents=[t.TextResourceContents(uri=params.uri, text=f"this is {params.uri}")])


async def list_resources(_context, _params):
    return t.ListResourcesResult(resources=[t.Resource(uri="memo://a", name="a")])


def _related(request):
    from mcp.shared.message import ServerMessageMetadata

    return ServerMessageMetadata(related_request_id=request)


SERVER = Server(
    "asking",
    version="1",
    instructions="Ask nicely.",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    on_list_prompts=list_prompts,
    on_get_prompt=get_prompt,
    on_list_resources=list_resources,
    on_read_resource=read_resource,
)


async def main():
    async with stdio_server() as (reading, writing):
        await SERVER.run(reading, writing, SERVER.create_initialization_options())


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
