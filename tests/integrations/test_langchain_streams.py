"""Guarded agents that are streamed, with checkpointers on disk."""

import asyncio

import pytest

pytest.importorskip("langchain")
pytest.importorskip("langgraph.checkpoint.sqlite")

from envace_sdk.integrations.langchain import RehearsalMiddleware, resumption
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langchain_shop import CONFIG, GO, Shop, TalkingChat, call, calls, model
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from envace_sdk.evidence import KEY

REFUND = calls(call("refund_order", order_id="O-1", amount=20))
MODES = ["updates", "messages"]


def agent(shop, saver):
    chat = model(REFUND, AIMessage("All is done now."), kind=TalkingChat)
    return create_agent(chat, shop.tools, middleware=[RehearsalMiddleware(shop.guard)], checkpointer=saver)


def interrupts(parts):
    return [one for mode, part in parts if mode == "updates" for one in part.get("__interrupt__", ())]


def approve(shop, found):
    (one,) = found
    shop.guard.approve(one.value["approvals"][0]["approval"], by="ann")
    return resumption(found)


def check(shop, parts):
    heard = [part[0] for mode, part in parts if mode == "messages"]
    assert "All is done now." in "".join(part.text for part in heard if not isinstance(part, ToolMessage))
    (answer,) = [part for part in heard if isinstance(part, ToolMessage)]
    assert answer.additional_kwargs[KEY]["kind"] == "observed"
    assert len(shop.executed) == 1


def test_a_stream_pauses_and_goes_on(tmp_path):
    shop = Shop(tmp_path)
    with SqliteSaver.from_conn_string(str(tmp_path / "checkpoints.db")) as saver:
        made = agent(shop, saver)
        command = approve(shop, interrupts(list(made.stream(GO, CONFIG, stream_mode=MODES))))
        check(shop, list(made.stream(command, CONFIG, stream_mode=MODES)))


def test_an_async_stream_pauses_and_goes_on(tmp_path):
    shop = Shop(tmp_path)

    async def main():
        async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "checkpoints.db")) as saver:
            made = agent(shop, saver)
            first = [part async for part in made.astream(GO, CONFIG, stream_mode=MODES)]
            command = approve(shop, interrupts(first))
            return [part async for part in made.astream(command, CONFIG, stream_mode=MODES)]

    check(shop, asyncio.run(main()))
