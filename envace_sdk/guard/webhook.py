"""Telling another system that an action waits for a person."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import hmac
import json
import logging
import queue
import threading
import time
from collections.abc import Mapping
from typing import Any, Final

from envace_sdk.errors import GuardError
from envace_sdk.json import Json

__all__ = ["Webhook", "signature"]

logger = logging.getLogger(__name__)

_WAITING: Final = 1000
"""Messages that are kept while the other side does not answer; newer ones are dropped, and logged."""
_STOP: Final = object()


def signature(secret: bytes, identifier: str, timestamp: int, body: bytes) -> str:
    """The signature of a message: HMAC-SHA256 over `id.timestamp.body`, base64, after `v1,`.

    It is that of the Standard Webhooks specification, so that its libraries verify it.
    """
    mac = hmac.new(secret, f"{identifier}.{timestamp}.".encode() + body, hashlib.sha256)
    return "v1," + base64.b64encode(mac.digest()).decode()


class Webhook:
    """Posts a message for each approval that is requested. Delivery never holds up a decision, and never fails one.

    A message is sent by a thread of its own, and again, later each time, while the other side cannot be reached or
    answers with 429 or a 5xx; any other answer settles it. It says what waits and not what to do: an answer only ever
    comes through the ledger.

    Args:
        url: where to post to.
        secret: what the messages are signed with; `whsec_…` is taken as base64, as in Standard Webhooks.
        attempts: how often one message is sent at the most.
        pause: seconds before the second attempt; it doubles each time, up to a minute.
        timeout: seconds for one attempt, from its beginning to its answer.

    Raises:
        GuardError: httpx is not installed.
    """

    def __init__(self, url: str, secret: str, *, attempts: int = 6, pause: float = 1.0, timeout: float = 10.0) -> None:
        self.url = url
        self._secret = _key(secret)
        self._attempts = attempts
        self._pause = pause
        self._httpx = _httpx()
        self._timeout = timeout
        self._queue: queue.Queue[Any] = queue.Queue(_WAITING)
        self._ending = threading.Event()
        """Nothing more is taken; what waits is still delivered."""
        self._closing = threading.Event()
        """Nothing more is delivered."""
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def send(self, kind: str, identifier: str, data: Mapping[str, Json]) -> None:
        """Have a message delivered; returns at once.

        Args:
            kind: such as `approval.requested`.
            identifier: the same for the same message, however often it is sent.
            data: what it says.
        """
        message = (kind, identifier, dict(data))
        with self._lock:
            if self._ending.is_set():
                return
            try:
                self._queue.put_nowait(message)
            except queue.Full:
                logger.error("webhook %s: %s is dropped, %d messages wait already", self.url, identifier, _WAITING)
                return
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="envace-webhook", daemon=True)
                self._thread.start()

    def close(self, timeout: float = 5.0) -> None:
        """Deliver what can be delivered within some seconds, and stop."""
        with self._lock:
            self._ending.set()
            thread, self._thread = self._thread, None
        if thread is not None:
            with contextlib.suppress(queue.Full):  # the thread sees by itself that nothing more comes
                self._queue.put_nowait(_STOP)
            thread.join(timeout)
        self._closing.set()
        if thread is not None:
            thread.join(timeout)

    def _work(self) -> None:
        while not self._closing.is_set() and not (self._ending.is_set() and self._queue.empty()):
            message = self._queue.get()
            if message is _STOP:
                return
            self._deliver(*message)

    async def _post(self, body: bytes, headers: Mapping[str, str]) -> int:
        """The status of one attempt. The body of the answer is not waited for."""
        async with (
            asyncio.timeout(self._timeout),
            self._httpx.AsyncClient(timeout=self._timeout) as client,
            client.stream("POST", self.url, content=body, headers=headers) as response,
        ):
            status: int = response.status_code
            return status

    def _deliver(self, kind: str, identifier: str, data: Mapping[str, Json]) -> None:
        body = json.dumps({"type": kind, "id": identifier, "data": data}, ensure_ascii=False, default=str).encode()
        pause, found = self._pause, "not sent"
        for attempt in range(self._attempts):
            if attempt and self._closing.wait(pause):
                break
            pause = min(60.0, pause * 2) if attempt else pause
            now = int(time.time())
            headers = {
                "content-type": "application/json",
                "webhook-id": identifier,
                "webhook-timestamp": str(now),
                "webhook-signature": signature(self._secret, identifier, now, body),
            }
            try:
                # An event loop of its own bounds the attempt as a whole: one read after the other may each be in time.
                status = asyncio.run(self._post(body, headers))
            except (self._httpx.HTTPError, TimeoutError) as error:
                found = repr(error)
                continue
            if status < 400:
                return
            found = f"status {status}"
            if status != 429 and status < 500:
                break
        logger.error("webhook %s: %s was not delivered: %s", self.url, identifier, found)


def _key(secret: str) -> bytes:
    if not secret:
        raise GuardError("a webhook needs a secret: its messages are signed")
    if secret.startswith("whsec_"):
        try:
            return base64.b64decode(secret.removeprefix("whsec_"), validate=True)
        except ValueError:
            raise GuardError("the webhook's secret starts with whsec_, and the rest is not base64") from None
    return secret.encode()


def _httpx() -> Any:
    try:
        import httpx
    except ImportError:
        raise GuardError("webhooks need httpx: pip install httpx") from None
    return httpx
