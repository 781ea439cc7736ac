"""A small OpenAI-compatible server for tests: it remembers what it was asked, and fails as it is told to."""

import asyncio
import contextlib
import json
from collections import deque

from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from web import serving


class Endpoint:
    """What the server answers; every body it got is in `bodies`."""

    def __init__(self):
        self.bodies = []
        self.headers = []
        self.failures = deque()
        """Responses to give first, one a request."""
        self.refused = set()
        """Fields that the server does not know."""
        self.message = {"content": "Hello."}
        self.finish = "stop"
        self.token_ids = [7, 8, 2]
        self.logprobs = [-0.5, -0.25, -0.125]
        self.delay = 0.0
        self.at_once = self.most_at_once = 0

    async def chat(self, request):
        choice = {"message": {"role": "assistant", **self.message}, "finish_reason": self.finish}
        if self.logprobs is not None:
            choice["logprobs"] = {"content": [{"token": "x", "logprob": each} for each in self.logprobs]}
        return await self._answer(request, choice, {"prompt_token_ids": [1, 5]})

    async def text(self, request):
        choice = {"text": self.message["content"], "finish_reason": self.finish, "prompt_token_ids": [1, 5]}
        if self.logprobs is not None:
            choice["logprobs"] = {"tokens": ["x"], "token_logprobs": self.logprobs}
        return await self._answer(request, choice, {})

    async def _answer(self, request, choice, more):
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            body = json.loads(await request.body())
            self.bodies.append(body)
            self.headers.append(dict(request.headers))
            await asyncio.sleep(self.delay)
            if self.failures:
                return self.failures.popleft()
            unknown = sorted(self.refused & body.keys())
            if unknown:
                hint = " Use 'max_completion_tokens' instead." if unknown == ["max_tokens"] else ""
                return JSONResponse({"error": {"message": f"Unsupported parameter: {unknown[0]}.{hint}"}}, 400)
            if body.get("return_token_ids") and self.token_ids is not None:
                choice, more = {**choice, "token_ids": self.token_ids}, more
            else:
                more = {}
            return JSONResponse({"choices": [choice], **more})
        finally:
            self.at_once -= 1


def failure(status, message="busy", **headers):
    """A response that says what went wrong."""
    return JSONResponse({"error": {"message": message}}, status, headers=headers)


def garbage(text, status=200):
    """A response that is not what it should be."""
    return Response(text, status, media_type="application/json")


@contextlib.contextmanager
def model_endpoint():
    """Runs the server; gives the endpoint and its base URL."""
    endpoint = Endpoint()
    routes = [
        Route("/v1/chat/completions", endpoint.chat, methods=["POST"]),
        Route("/v1/completions", endpoint.text, methods=["POST"]),
    ]
    with serving(Starlette(routes=routes)) as url:
        yield endpoint, f"{url}/v1"
