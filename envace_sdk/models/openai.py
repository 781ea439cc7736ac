"""Models behind any OpenAI-compatible endpoint: vLLM, SGLang, llama.cpp, Ollama, hosted ones."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import random
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import urlsplit

from envace_sdk.errors import ModelError
from envace_sdk.json import Json

from .model import Closing, Completion, Request
from .openai_wire import WireError, body_of, path_of, read_completion, said_by

if TYPE_CHECKING:
    import httpx2

__all__ = ["OpenAIModel"]

KEY: Final = "ENVACE_MODEL_KEY"
_OPENAI: Final = ("api.openai.com", "OPENAI_API_KEY")
_PASSING: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_REFUSED: Final = frozenset({400, 413, 422})
_OPTIONAL: Final = ("return_token_ids", "logprobs", "seed")
_LARGEST: Final = 64 * 1024 * 1024
_SLOWEST: Final = 60.0
_LOG: Final = logging.getLogger(__name__)


class OpenAIModel(Closing):
    """A model that a server runs.

    Messages go to `/chat/completions`; prompt ids go to `/completions` as they are, so that nothing is tokenized again.
    Token ids and log-probabilities are asked for, and are there where the server gives both (vLLM does). A field that
    the server refuses (`return_token_ids`, `logprobs`, `seed`) is left out from then on, with a warning in the log.

    What may pass (429, 5xx, a lost connection, a timeout) is tried again, with exponential backoff or after the time
    the server names.

    Args:
        model: the name the server knows it by.
        base_url: such as `http://127.0.0.1:8000/v1`.
        api_key: sent as a bearer token; default: the variable ENVACE_MODEL_KEY, and for api.openai.com also
            OPENAI_API_KEY, which no other host is sent.
        timeout: seconds for one answer.
        concurrency: the most requests under way at once.
        retries: how often one request is tried again.
        backoff: seconds before the first retry; each further wait is twice as long, up to a minute.
        headers: sent with each request.
        extra_body: further fields of each body, such as `{"skip_special_tokens": false}` for vLLM.
        tempered: the server's log-probabilities are at the sampling temperature (vLLM:
            `--logprobs-mode processed_logprobs`). Otherwise they are taken to be at temperature 1, and are given only
            for temperatures 0 and 1.
        name: what labels and reports call it; default: `openai:` and the model.
    """

    def __init__(
        self,
        model: str,
        base_url: str,
        *,
        api_key: str | None = None,
        timeout: float = 120.0,
        concurrency: int = 32,
        retries: int = 4,
        backoff: float = 0.5,
        headers: Mapping[str, str] | None = None,
        extra_body: Mapping[str, Json] | None = None,
        tempered: bool = False,
        name: str | None = None,
    ) -> None:
        try:
            parts = urlsplit(base_url)
            parts.port  # noqa: B018  read only now
        except ValueError as error:
            raise ModelError(f"{base_url!r} is not a URL: {error}; one is http://127.0.0.1:8000/v1") from None
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ModelError(f"{base_url!r} is not the URL of an endpoint; one is http://127.0.0.1:8000/v1")
        if concurrency < 1 or retries < 0 or timeout <= 0:
            raise ModelError("concurrency must be at least 1, retries at least 0, timeout above 0")
        self.name = name or f"openai:{model}"
        self.model = model
        self.base_url = base_url.rstrip("/")
        key = api_key or os.environ.get(KEY) or (os.environ.get(_OPENAI[1]) if parts.hostname == _OPENAI[0] else None)
        self._headers = {**({"authorization": f"Bearer {key}"} if key else {}), **(headers or {})}
        self._timeout = timeout
        self._concurrency = concurrency
        self._retries = retries
        self._backoff = backoff
        self._extra = dict(extra_body or {})
        self._tempered = tempered
        self._refused: set[str] = set()
        self._open: _Connection | None = None

    @classmethod
    def parse(cls, rest: str, **options: object) -> Self:
        """A model from `MODEL@URL`. Raises: ModelError where there is no URL."""
        model, at, url = rest.partition("@http")
        if not model or not at:
            raise ModelError(f"openai:{rest} names no endpoint; write openai:MODEL@http://host:port/v1")
        return cls(model, f"http{url}", **options)  # type: ignore[arg-type]

    async def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Answer a batch, each request on its own. One that the server refuses has finish reason `error`.

        Raises:
            ModelError: the server cannot be reached, refuses the key or the model, or answers what is no completion.
        """
        connection = self._connection()
        tasks = [asyncio.ensure_future(self._answer(connection, request)) for request in requests]
        try:
            return await asyncio.gather(*tasks)
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise

    async def close(self) -> None:
        """Close the connections."""
        opened, self._open = self._open, None
        if opened is not None and opened.loop is asyncio.get_running_loop():
            await opened.client.aclose()

    def _connection(self) -> _Connection:
        """The connections of the running event loop; those of an earlier loop have gone with it."""
        loop = asyncio.get_running_loop()
        if self._open is None or self._open.loop is not loop:
            self._open = _Connection(loop, self._headers, self._timeout, self._concurrency)
        return self._open

    async def _answer(self, connection: _Connection, request: Request) -> Completion:
        body = {**body_of(request, self.model), **self._extra}
        path = path_of(request)
        async with connection.room:
            while True:
                sent = self._taken(body)
                status, text = await self._send(connection, path, sent)
                if status in _REFUSED and self._learn(text, sent):
                    continue
                break
        if status in _REFUSED:
            return Completion("", finish_reason="error", error=f"the server refuses it: {status} {said_by(text)}")
        if status != 200:
            raise ModelError(f"{self.base_url}{path} answers {status}: {said_by(text)}")
        try:
            return read_completion(json.loads(text), request, tempered=self._tempered)
        except (ValueError, RecursionError, WireError) as error:
            raise ModelError(f"{self.base_url}{path} answers no completion: {error}") from error

    def _taken(self, body: Mapping[str, Json]) -> dict[str, Json]:
        """The body without what the server refuses."""
        out = {field: value for field, value in body.items() if field not in self._refused}
        if "max_tokens" in self._refused:
            out["max_completion_tokens"] = body["max_tokens"]
        return out

    def _learn(self, text: str, sent: Mapping[str, Json]) -> bool:
        """Whether the server refuses what was sent for a field that can be left out, or has another name there."""
        if "max_completion_tokens" in text and "max_tokens" in sent:
            self._refused.add("max_tokens")
            return True
        for field in _OPTIONAL:
            if field in text and field in sent:
                if field not in self._refused:
                    _LOG.warning("%s does not take %s; going on without", self.name, field)
                self._refused.add(field)
                return True
        return False

    async def _send(self, connection: _Connection, path: str, body: Json) -> tuple[int, str]:
        """Status and text of the answer, after as many tries as it takes. Raises: ModelError."""
        import httpx2

        reason = ""
        for attempt in range(self._retries + 1):
            wait: float | None = None
            try:
                async with asyncio.timeout(self._timeout):
                    status, text, wait = await connection.post(self.base_url + path, body)
                if status not in _PASSING:
                    return status, text
                reason = f"{status} {said_by(text)}"
            except (httpx2.TimeoutException, TimeoutError):
                reason = f"no answer within {self._timeout:g} seconds"
            except httpx2.HTTPError as error:
                reason = str(error) or type(error).__name__
            if attempt < self._retries:
                patience = self._backoff * 2**attempt * random.uniform(0.75, 1.25)
                await asyncio.sleep(min(wait if wait is not None else patience, _SLOWEST))
        raise ModelError(f"{self.base_url}{path}: {reason} (tried {self._retries + 1} times)")


class _Connection:
    """What belongs to one event loop."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, headers: Mapping[str, str], seconds: float, concurrency: int
    ) -> None:
        try:
            import httpx2
        except ImportError as error:
            raise ModelError("an endpoint needs httpx2; run: pip install 'envace-sdk[mcp]'") from error
        self.loop = loop
        self.room = asyncio.Semaphore(concurrency)
        limits = httpx2.Limits(max_connections=concurrency)
        self.client = httpx2.AsyncClient(headers=dict(headers), timeout=httpx2.Timeout(seconds), limits=limits)

    async def post(self, url: str, body: Json) -> tuple[int, str, float | None]:
        """Status, text, and the seconds that the server asks to wait."""
        async with self.client.stream("POST", url, json=body) as response:
            data = bytearray()
            async for block in response.aiter_bytes():
                data += block
                if len(data) > _LARGEST:
                    raise ModelError(f"{url} answers more than {_LARGEST:,} bytes")
            return response.status_code, data.decode(errors="replace"), _seconds(response)


def _seconds(response: httpx2.Response) -> float | None:
    try:
        return max(0.0, float(response.headers["retry-after"]))
    except (KeyError, ValueError):
        return None
