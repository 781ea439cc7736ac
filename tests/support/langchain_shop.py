"""The guarded desk as an agent of LangChain sees it: real tools, a scripted model, real checkpointers."""

import asyncio

from guarded_desk import desk
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import ToolException, tool

CONFIG = {"configurable": {"thread_id": "t1"}}
GO = {"messages": [HumanMessage("Please refund order O-1.")]}
ANY_REFUND = {
    "name": "any refund",
    "tools": "refund_order",
    "arguments": {
        "order_id": {"type": "string", "maxLength": 9},
        "amount": {"type": "number", "minimum": 0, "maximum": 9999},
    },
    "then": "commit",
}
READS = {"name": "reads", "when": "risk.level == 'low'", "then": "commit"}


class ScriptedChat(BaseChatModel):
    """Says one message of its script after the other; which one is next is told by the conversation itself."""

    script: list
    bound: list
    seen: list

    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **_):
        self.bound[:] = list(tools)
        return self

    def _generate(self, messages, stop=None, run_manager=None, **_):
        self.seen.append(list(messages))
        turn = sum(isinstance(message, AIMessage) for message in messages)
        said = self.script[min(turn, len(self.script) - 1)]
        said = said(messages) if callable(said) else said
        return ChatResult(generations=[ChatGeneration(message=said.model_copy(deep=True))])


class TalkingChat(ScriptedChat):
    """Streams what it says word by word."""

    def _stream(self, messages, stop=None, run_manager=None, **options):
        said = self._generate(messages).generations[0].message
        for word in said.text.split():
            chunk = ChatGenerationChunk(message=AIMessageChunk(word + " "))
            if run_manager:
                run_manager.on_llm_new_token(word, chunk=chunk)
            yield chunk
        if said.tool_calls:
            calls = [
                {"name": c["name"], "args": __import__("json").dumps(c["args"]), "id": c["id"], "index": n}
                for n, c in enumerate(said.tool_calls)
            ]
            yield ChatGenerationChunk(message=AIMessageChunk("", tool_call_chunks=calls))


def call(name, call_id="c1", /, **arguments):
    return {"type": "tool_call", "name": name, "args": arguments, "id": call_id}


def calls(*made, text=""):
    return AIMessage(text, tool_calls=list(made))


def model(*script, kind=ScriptedChat):
    return kind(script=[*script], bound=[], seen=[])


class Shop:
    """A guard, and the tools of the real side, which note what was executed there."""

    def __init__(self, folder, *rules, **options):
        self.desk = desk(folder, *rules, **options)
        self.guard = self.desk.guard
        self.ledger = self.guard.ledger
        self.executed = []
        self.fails = None

        @tool
        def get_order(order_id: str) -> dict:
            """Look an order up."""
            return self.real("get_order", order_id=order_id)

        @tool
        def refund_order(order_id: str, amount: float) -> dict:
            """Refund an order."""
            return self.real("refund_order", order_id=order_id, amount=amount)

        @tool
        def set_note(order_id: str, note: str) -> dict:
            """Write a note on an order."""
            return self.real("set_note", order_id=order_id, note=note)

        self.tools = [get_order, refund_order, set_note]
        for each in self.tools:
            each.handle_tool_error = True
        self.get_order, self.refund_order, self.set_note = self.tools

    def real(self, name, **arguments):
        from guarded_desk import call as called

        self.executed.append((name, arguments))
        if self.fails is not None:
            raise self.fails
        return self._answer(called(name, **arguments))

    def _answer(self, made):
        from envace_sdk.guard.blocking import blocking

        result = blocking(self.guard.environment.call(self.desk.real, made)).result
        if result.is_error:
            raise ToolException(result.first_text)
        return result.value()

    def reopened(self, folder, *rules, **options):
        """The same ledger, as another process would open it."""
        return Shop(folder, *rules, **options)

    def kinds(self, run="t1"):
        return [entry.kind for entry in self.ledger.entries(run)]


class Driver:
    """Runs an agent, sync or async."""

    def __init__(self, agent, is_async=False, config=CONFIG):
        self.agent, self.is_async, self.config = agent, is_async, config

    def __call__(self, given):
        if self.is_async:
            return asyncio.run(self.agent.ainvoke(given, self.config))
        return self.agent.invoke(given, self.config)

    def resume(self):
        from envace_sdk.integrations.langchain import aresume, resume

        if self.is_async:
            return asyncio.run(aresume(self.agent, self.config))
        return resume(self.agent, self.config)


def waiting(state):
    """What a state waits for."""
    from envace_sdk.integrations.langchain import approvals_of

    return approvals_of(state.get("__interrupt__", ()))


def answers(state):
    return [message for message in state["messages"] if isinstance(message, ToolMessage)]
