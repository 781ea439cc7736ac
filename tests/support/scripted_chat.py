"""A chat client of the Agent Framework that follows a script."""

from agent_framework import BaseChatClient, ChatResponse, ChatResponseUpdate, Content, Message, ResponseStream
from agent_framework._middleware import ChatMiddlewareLayer
from agent_framework._tools import FunctionInvocationLayer


class ScriptedClient(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """Says one turn after another, then "done"; a turn is text or contents. `seen` is what it was sent last."""

    def __init__(self, *turns, **options):
        super().__init__(**options)
        self.turns = list(turns)
        self.seen = []

    def _inner_get_response(self, *, messages, stream, options, **kwargs):
        self.seen = list(messages)
        turn = self.turns.pop(0) if self.turns else "done"
        contents = [Content.from_text(turn)] if isinstance(turn, str) else list(turn)
        if not stream:
            return _answer(contents)
        return ResponseStream(_updates(contents), finalizer=ChatResponse.from_updates)


async def _answer(contents):
    return ChatResponse(messages=[Message("assistant", contents)])


async def _updates(contents):
    yield ChatResponseUpdate(role="assistant", contents=contents)
