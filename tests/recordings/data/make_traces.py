"""Makes the traces in this folder, by running one small shop under the libraries that people record with.

Run it in an environment of its own, from this folder; the tests only read what it wrote:

    python -m venv traces && . traces/bin/activate
    pip install langchain langsmith "pydantic-ai-slim" opentelemetry-sdk mcp \
        openinference-instrumentation-langchain opentelemetry-instrumentation-langchain
    pip install --pre opentelemetry-exporter-otlp-json-file
    python make_traces.py

No model is asked: a scripted one calls the tools. Every session is the same: two orders are placed, one is looked up
and cancelled, a second cancelling is refused, and a list is asked for.
"""

import asyncio
import io
import json
import re
import sys
from contextlib import redirect_stdout
from pathlib import Path
from uuid import UUID

HERE = Path(__file__).parent

CALLS = [
    ("place_order", {"item": "tent", "quantity": 2}),
    ("place_order", {"item": "stove ‘S’", "quantity": 1}),
    ("get_order", {"order_id": "A1"}),
    ("cancel_order", {"order_id": "A1"}),
    ("cancel_order", {"order_id": "A1"}),
    ("list_orders", {}),
]


class Shop:
    """Orders in memory."""

    def __init__(self):
        self.orders = {}

    def place_order(self, item: str, quantity: int) -> dict:
        """Place an order."""
        order = {"order_id": f"A{len(self.orders) + 1}", "item": item, "quantity": quantity, "status": "open"}
        self.orders[order["order_id"]] = order
        return dict(order)

    def get_order(self, order_id: str) -> dict:
        """Look an order up."""
        return dict(self.orders[order_id])

    def cancel_order(self, order_id: str) -> str:
        """Cancel an order."""
        if self.orders[order_id]["status"] == "cancelled":
            raise ValueError(f"order {order_id} is cancelled already")
        self.orders[order_id]["status"] = "cancelled"
        return f"Order {order_id} cancelled"

    def list_orders(self) -> list:
        """List all orders."""
        return [dict(order) for order in self.orders.values()]

    @property
    def tools(self):
        """Its functions."""
        return [self.place_order, self.get_order, self.cancel_order, self.list_orders]


def provider(*exporters):
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    made = TracerProvider()
    for exporter in exporters:
        made.add_span_processor(SimpleSpanProcessor(exporter))
    return made


def console(path, **options):
    """The exporter that comes with the OpenTelemetry SDK."""
    from opentelemetry.sdk.trace.export import ConsoleSpanExporter

    path.unlink(missing_ok=True)
    return ConsoleSpanExporter(out=path.open("w", encoding="utf-8"), **options)


def otlp(path):
    """OTLP JSON lines, as the collector's file exporter writes them too."""
    from opentelemetry.exporter.otlp.json.file import FileSpanExporter

    path.unlink(missing_ok=True)
    return FileSpanExporter(str(path))


def with_pydantic_ai():
    """GenAI conventions, with messages: two conversations, of which the second has two runs."""
    from pydantic_ai import Agent, ModelRetry
    from pydantic_ai.capabilities import Instrumentation
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel
    from pydantic_ai.models.instrumented import InstrumentationSettings

    made = provider(otlp(HERE / "pydantic_ai.otlp.jsonl"))
    printed = provider(console(HERE / "pydantic_ai.console.json"))
    old = provider(console(HERE / "pydantic_ai_v2.console.jsonl", formatter=lambda s: s.to_json(indent=None) + "\n"))

    def scripted(calls):
        left = list(calls)

        def respond(messages, info):
            if not left:
                return ModelResponse(parts=[TextPart("done")])
            name, arguments = left.pop(0)
            return ModelResponse(parts=[ToolCallPart(name, arguments)])

        return FunctionModel(respond)

    def agent(shop, calls, settings):
        made_agent = Agent(scripted(calls), capabilities=[Instrumentation(settings)], name="shopkeeper")
        for tool in shop.tools:
            if tool.__name__ == "cancel_order":
                continue
            made_agent.tool_plain(tool)

        def cancel_order(order_id: str) -> str:
            """Cancel an order."""
            try:
                return shop.cancel_order(order_id)
            except ValueError as error:
                raise ModelRetry(str(error)) from error

        made_agent.tool_plain(cancel_order, retries=3)
        return made_agent

    async def run():
        new = InstrumentationSettings(tracer_provider=made, version=5)
        await agent(Shop(), CALLS, new).run("Buy a tent.", conversation_id="first")
        shop = Shop()
        await agent(shop, CALLS[:3], new).run("Buy a tent.", conversation_id="second")
        await agent(shop, CALLS[3:], new).run("Cancel it.", conversation_id="second")
        settings = InstrumentationSettings(tracer_provider=printed, version=5)
        await agent(Shop(), CALLS[:3], settings).run("Buy a tent.", conversation_id="printed")
        await agent(Shop(), CALLS, InstrumentationSettings(tracer_provider=old, version=2)).run("Buy a tent.")

    asyncio.run(run())


def langchain_agent(shop):
    from langchain.agents import create_agent
    from langchain.agents.middleware import wrap_tool_call
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage, ToolMessage

    class Scripted(GenericFakeChatModel):
        def bind_tools(self, tools, **kwargs):
            return self

    @wrap_tool_call
    def forgiving(request, handler):
        try:
            return handler(request)
        except ValueError as error:
            return ToolMessage(str(error), tool_call_id=request.tool_call["id"], status="error")

    messages = [
        AIMessage("", tool_calls=[{"name": name, "args": args, "id": f"call_{n}", "type": "tool_call"}])
        for n, (name, args) in enumerate(CALLS)
    ]
    # The first two orders are placed in one message.
    both = AIMessage("", tool_calls=[*messages[0].tool_calls, *messages[1].tool_calls])
    model = Scripted(messages=iter([both, *messages[2:], AIMessage("done")]))
    return create_agent(model, shop.tools, middleware=[forgiving])


def with_langchain():
    """Runs of LangChain's tracer and of LangSmith, and messages in all their forms."""
    from langchain_core.load import dumpd
    from langchain_core.messages import convert_to_openai_messages, messages_to_dict
    from langchain_core.tracers.run_collector import RunCollectorCallbackHandler
    from langsmith import Client

    collector = RunCollectorCallbackHandler()
    ask = {"messages": [{"role": "user", "content": "Buy a tent."}]}
    final = langchain_agent(Shop()).invoke(ask, {"callbacks": [collector], "max_concurrency": 1})

    [root] = collector.traced_runs
    (HERE / "langchain_run_tree.json").write_text(json.dumps(slim(with_children(root))) + "\n")
    messages = final["messages"]
    (HERE / "langchain_messages.json").write_text(dump(messages_to_dict(messages)))
    (HERE / "langchain_messages_flat.json").write_text(dump([message.model_dump() for message in messages]))
    (HERE / "langchain_messages_lc.json").write_text(dump([dumpd(message) for message in messages]))
    chat = convert_to_openai_messages(messages)
    (HERE / "openai_chat.jsonl").write_text(json.dumps({"messages": chat}, ensure_ascii=False) + "\n")

    sent = {}

    class Session:
        """Takes what the LangSmith client would send, and puts it together as the service does."""

        def request(self, method, url, **options):
            import requests

            response = requests.Response()
            response.status_code, response._content, response.url, response.reason = 200, b"{}", url, "OK"
            if options.get("data") and "/runs" in url:
                run = json.loads(options["data"])
                identity = run.get("id") or url.rsplit("/", 1)[-1]
                sent.setdefault(identity, {"id": identity}).update({k: v for k, v in run.items() if v is not None})
            return response

        def __getattr__(self, name):
            return lambda url, **options: self.request(name.upper(), url, **options)

        def mount(self, *_):
            pass

        def close(self):
            pass

    from langchain_core.tracers.langchain import LangChainTracer

    client = Client(
        api_url="http://127.0.0.1:9",
        api_key="none",
        session=Session(),
        auto_batch_tracing=False,
        info={"batch_ingest_config": {"use_multipart_endpoint": False}},
    )
    tracer = LangChainTracer(client=client, project_name="shop")
    langchain_agent(Shop()).invoke(
        ask, {"callbacks": [tracer], "metadata": {"thread_id": "thread-7"}, "max_concurrency": 1}
    )
    tracer.wait_for_futures()
    export = HERE / "langsmith_runs.jsonl"
    kept = [run for run in sent.values() if run.get("run_type") != "chain" or "parent_run_id" not in run]
    export.write_text("".join(json.dumps(slim(run), ensure_ascii=False) + "\n" for run in kept))


def with_children(run):
    """A run as `Client.read_run(…, load_child_runs=True)` gives it."""
    from langsmith.schemas import Run

    flat = json.loads(run.model_dump_json())
    loaded = Run(**{**flat, "trace_id": run.trace_id, "dotted_order": run.dotted_order})
    children = [with_children(child) for child in run.child_runs if child.run_type != "llm"]
    return {**json.loads(loaded.model_dump_json(exclude_none=True)), "child_runs": children}


def with_instrumented_langchain():
    """OpenInference, and OpenLLMetry."""
    from openinference.instrumentation.langchain import LangChainInstrumentor as OpenInference
    from opentelemetry.instrumentation.langchain import LangchainInstrumentor as OpenLLMetry

    ask = {"messages": [{"role": "user", "content": "Buy a tent."}]}
    for made, name in ((OpenInference(), "openinference"), (OpenLLMetry(), "openllmetry")):
        made.instrument(tracer_provider=provider(otlp(HERE / f"{name}.otlp.jsonl")))
        langchain_agent(Shop()).invoke(ask, {"max_concurrency": 1})
        made.uninstrument()


def with_mcp():
    """The spans that the MCP Python SDK makes itself: they hold neither arguments nor results."""
    from mcp import Client
    from mcp.server.mcpserver import MCPServer
    from opentelemetry import trace

    trace.set_tracer_provider(provider(otlp(HERE / "mcp_sdk.otlp.jsonl")))
    server, shop = MCPServer("shop"), Shop()
    for tool in shop.tools:
        server.tool()(tool)

    async def run():
        async with Client(server) as client:
            for name, arguments in CALLS:
                await client.call_tool(name, arguments)

    asyncio.run(run())


def by_hand():
    """Spans that an application writes by the GenAI and MCP conventions, with typed attributes and as text."""
    from opentelemetry.trace import SpanKind, StatusCode

    for name, structured in (("semconv", False), ("semconv_mcp", True)):
        path = HERE / f"{name}.otlp.jsonl"
        tracer = provider(otlp(path)).get_tracer("shop")
        shop = Shop()
        with tracer.start_as_current_span("invoke_agent", attributes={"gen_ai.operation.name": "invoke_agent"}):
            for n, (tool, arguments) in enumerate(CALLS):
                attributes = {
                    "gen_ai.operation.name": "execute_tool",
                    "gen_ai.tool.name": tool,
                    "gen_ai.tool.call.id": f"call_{n}",
                    "gen_ai.tool.call.arguments": arguments if structured else json.dumps(arguments),
                }
                if structured:
                    attributes |= {"mcp.method.name": "tools/call", "mcp.session.id": "s-1"}
                kind = SpanKind.CLIENT if structured else SpanKind.INTERNAL
                title = f"tools/call {tool}" if structured else f"execute_tool {tool}"
                with tracer.start_as_current_span(title, kind=kind, attributes=attributes) as span:
                    try:
                        answer = getattr(shop, tool)(**arguments)
                    except ValueError as error:
                        span.set_attribute("error.type", "tool_error" if structured else type(error).__name__)
                        span.set_status(StatusCode.ERROR, str(error))
                        if structured:
                            wire = {"content": [{"type": "text", "text": str(error)}], "isError": True}
                            span.set_attribute("gen_ai.tool.call.result", json.dumps(wire))
                        continue
                    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
                    if structured:
                        wire = {"content": [{"type": "text", "text": text}]}
                        if isinstance(answer, dict):
                            wire["structuredContent"] = answer
                        text = json.dumps(wire, ensure_ascii=False)
                    span.set_attribute("gen_ai.tool.call.result", text)


NOISE = (
    *(
        "model_request_parameters",
        "gen_ai.tool.definitions",
        "logfire.",
        "metadata",
        "traceloop.association",
        "llm.tools",
    ),
    *(
        "traceloop.entity.path",
        "traceloop.workflow",
        "llm.invocation_parameters",
        "exception.stacktrace",
        "gen_ai.usage",
    ),
    *("pydantic_ai.all_messages", "telemetry.", "gen_ai.task", "gen_ai.agent", "gen_ai.aggregated_usage"),
)
"""Attributes that say nothing of calls, by their beginning."""


def tidy(path):
    """Make a file of spans small, and free of what says something of the machine it was made on."""
    text = path.read_text(encoding="utf-8")
    if path.name.endswith(".console.json"):
        decoder, at, spans = json.JSONDecoder(), 0, []
        while at < len(text):
            span, end = decoder.raw_decode(text, at)
            spans.append(span)
            at = end + len(text[end:]) - len(text[end:].lstrip())
        lines = [json.dumps(tidied(span), indent=4, ensure_ascii=True) for span in spans if is_wanted(span)]
    else:
        lines = []
        for line in map(json.loads, text.splitlines()):
            inner = line["resourceSpans"][0]["scopeSpans"][0]["spans"] if "resourceSpans" in line else [line]
            if all(map(is_wanted, inner)):
                lines.append(json.dumps(tidied(line), separators=(",", ":")))
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def is_wanted(span):
    """Not the steps of a framework between its calls."""
    attributes = span.get("attributes") or {}
    if isinstance(attributes, list):
        attributes = {item["key"]: item["value"].get("stringValue") for item in attributes}
    if attributes.get("openinference.span.kind") == "CHAIN":
        return False
    return attributes.get("gen_ai.operation.name") not in ("execute_task", "create_agent")


def tidied(value, is_model=False):
    if isinstance(value, dict):
        attributes = value.get("attributes")
        if isinstance(attributes, list):
            is_model = any(item["value"].get("stringValue") == "LLM" for item in attributes)
        return {
            name: tidied(member, is_model)
            for name, member in value.items()
            if not is_noise(name, is_model) and name not in ("links", "droppedAttributesCount", "flags")
        }
    if isinstance(value, list):
        kept = [item for item in value if not isinstance(item, dict) or not is_noise(item.get("key"), is_model)]
        return [tidied(item, is_model) for item in kept]
    if isinstance(value, str):
        return re.sub(r'File \\?"[^"]*/', 'File "/app/', value)
    return value


def is_noise(name, is_model):
    if not isinstance(name, str):
        return False
    return name.startswith(NOISE) or (is_model and name.startswith(("input.", "output.")))


def dump(value):
    return json.dumps(slim(value), ensure_ascii=False, indent=1) + "\n"


def slim(value):
    """Runs and messages without what is of no use here."""
    if isinstance(value, dict):
        dropped = (
            "runtime",
            "serialized",
            "batch_size",
            "LANGSMITH_TRACING",
            "revision_id",
            "usage_metadata",
            "events",
        )
        kept = {name: slim(member) for name, member in value.items() if name not in dropped}
        return {
            name: member
            for name, member in kept.items()
            if not name.startswith(("langgraph_", "checkpoint_", "events"))
        }
    if isinstance(value, list):
        return [slim(item) for item in value]
    if isinstance(value, str):
        return re.sub(r'File "[^"]*/', 'File "/app/', value)
    return str(value) if isinstance(value, UUID) else value


if __name__ == "__main__":
    chosen = sys.argv[1:] or [
        "by_hand",
        "with_langchain",
        "with_pydantic_ai",
        "with_mcp",
        "with_instrumented_langchain",
    ]
    for each in chosen:
        with redirect_stdout(io.StringIO()):
            globals()[each]()
    for made in (*HERE.glob("*.otlp.jsonl"), *HERE.glob("*.console.json*")):
        tidy(made)
