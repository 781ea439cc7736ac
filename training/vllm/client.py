"""What a vLLM server is asked beside completions: which model it has, and to take other weights."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from envace_sdk.errors import ModelError, TrainingError
from envace_sdk.json import Json
from envace_sdk.models.openai import KEY
from envace_sdk.models.openai_wire import said_by

__all__ = ["Served", "VLLMClient"]

T = TypeVar("T")

_LARGEST: Final = 4 * 1024 * 1024
_QUOTED: Final = 200
"""Characters of an odd answer that a message of an error has."""
_QUICK: Final = 30.0


@dataclass(frozen=True, slots=True)
class Served:
    """The model that a server was started with."""

    name: str
    """What requests call it."""
    place: str
    """The folder or hub id, as the server was given it."""
    longest: int
    """The most tokens of prompt and completion together."""


class VLLMClient:
    """Asks one server.

    Args:
        url: such as `http://127.0.0.1:8000`; `/v1` at the end may be there.
        command: what starts a server that fits, for messages of errors.
        seconds: how long it may take to read weights.

    Raises:
        TrainingError: the URL is none.
    """

    def __init__(self, url: str, command: str, *, seconds: float) -> None:
        if not _is_url(url):
            raise _no_url(url)
        self.url = url.rstrip("/").removesuffix("/v1")
        self._command = command
        self._seconds = seconds

    async def model(self) -> Served:
        """What it serves.

        Raises:
            TrainingError: it cannot be reached, or is no vLLM server.
        """
        status, text = await self._ask("GET", "/v1/models", None, _QUICK)
        if status == 401:
            raise TrainingError(f"rollout.server.url: {self.url} wants a key: set {KEY} to the one it was started with")
        return self._read(f"/v1/models answers {status} and no model of vLLM", text, _served)

    async def load_adapter(self, name: str, folder: Path) -> None:
        """Have it read an adapter of peft.

        Raises:
            TrainingError: it takes none, or cannot read the folder.
        """
        body = {"lora_name": name, "lora_path": str(folder)}
        status, text = await self._ask("POST", "/v1/load_lora_adapter", body, self._seconds)
        if status == 200:
            return
        said = said_by(text)
        if status in {404, 405} and "adapter" not in said.lower():
            raise self._unsuited("takes no adapters while it runs (VLLM_ALLOW_RUNTIME_LORA_UPDATING is not set)")
        if ("lora" in said.lower() and "enabled" in said.lower()) or "max_lora_rank" in said:
            raise self._unsuited(f"takes no such adapter ({said})")
        raise self._unread(folder, said)

    async def unload_adapter(self, name: str) -> None:
        """Have it forget an adapter; one that it has forgotten already is none of anybody's business."""
        await self._ask("POST", "/v1/unload_lora_adapter", {"lora_name": name}, self._seconds)

    async def reload(self, folder: Path) -> None:
        """Have it read all weights anew, and forget what it computed with the old ones.

        Raises:
            TrainingError: it refuses, or cannot read the folder.
        """
        body = {"method": "reload_weights", "kwargs": {"weights_path": str(folder)}}
        status, text = await self._ask("POST", "/collective_rpc", body, self._seconds)
        if status in {404, 405}:
            raise self._closed()
        if status != 200:
            # vLLM throws the old weights away before it looks at the new ones.
            raise self._unread(folder, f"{said_by(text)}. It has no weights now, so start it again")
        await self.forget()

    async def is_on_cpu(self) -> bool:
        """Whether it computes on a CPU. Raises: TrainingError where it does not say."""
        status, text = await self._ask("GET", "/server_info?config_format=json", None, self._seconds)
        if status != 200:
            raise self._closed()
        odd = "/server_info does not say as vLLM does what it computes on"
        return self._read(odd, text, lambda found: bool(found["vllm_config"]["device_config"]["device"] == "cpu"))

    async def forget(self) -> None:
        """Have it drop the prefixes that it computed with the weights before.

        Raises:
            TrainingError: it does not.
        """
        status, text = await self._ask("POST", "/reset_prefix_cache", None, self._seconds)
        odd = f"/reset_prefix_cache answers {status} and not what vLLM does"
        if status == 200 and self._read(odd, text or "{}", lambda found: found.get("success", True) is True):
            return
        raise TrainingError(
            f"{self.url}/reset_prefix_cache answers {status}: {said_by(text)}; is it sampling elsewhere?"
        )

    async def workers(self) -> int:
        """How many GPUs it computes with. Raises: TrainingError where it does not say."""
        status, text = await self._ask("GET", "/get_world_size", None, _QUICK)
        if status != 200:
            raise self._closed()
        odd = "/get_world_size does not say as vLLM does how many GPUs there are"
        return self._read(odd, text, lambda found: _count(found["world_size"]))

    def unreachable(self, reason: str) -> TrainingError:
        """Nobody answers."""
        return TrainingError(
            f"rollout.server.url: the vLLM server at {self.url} cannot be reached ({reason}). Start it with\n"
            f"  {self._command}\nor have one started: --rollout-server start"
        )

    def _read(self, odd: str, text: str, read: Callable[[Any], T]) -> T:
        """What is read from an answer, which may be anything.

        Args:
            odd: the path, and what is wrong with an answer that cannot be read.
            text: the answer.
            read: takes what the JSON holds apart.

        Raises:
            TrainingError: it is no JSON, or nothing that can be taken apart like this.
        """
        try:
            return read(json.loads(text))
        except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
            said = " ".join(text[:_QUOTED].split()) or "nothing"
            raise TrainingError(
                f"rollout.server.url: {self.url}{odd} (it says: {said}); start one with\n  {self._command}"
            ) from error

    def _closed(self) -> TrainingError:
        return self._unsuited("takes no weights while it runs (VLLM_SERVER_DEV_MODE is not set)")

    def _unsuited(self, why: str) -> TrainingError:
        return TrainingError(f"rollout.server.url: the server at {self.url} {why}; start it with\n  {self._command}")

    def _unread(self, folder: Path, said: str) -> TrainingError:
        return TrainingError(
            f"the server at {self.url} cannot take the weights in {folder}: {said or 'it does not say why'}. If it "
            "runs on another machine or in a container, set rollout.server.folder to one that both see under one path"
        )

    async def _ask(self, method: str, path: str, body: Mapping[str, Json] | None, seconds: float) -> tuple[int, str]:
        """Status and text. Raises: TrainingError where nobody answers in time."""
        try:
            import httpx2
        except ImportError as error:
            raise ModelError("a server needs httpx2; run: pip install 'envace-sdk[train,mcp]'") from error
        key = os.environ.get(KEY)
        headers = {"authorization": f"Bearer {key}"} if key else {}
        data = bytearray()
        try:
            async with asyncio.timeout(seconds), httpx2.AsyncClient(headers=headers, timeout=seconds) as client:
                asked: Any = client.stream(method, self.url + path, json=body)
                async with asked as response:
                    async for block in response.aiter_bytes():
                        data += block
                        if len(data) > _LARGEST:
                            raise TrainingError(f"{self.url}{path} answers more than {_LARGEST:,} bytes; is it vLLM?")
                    return response.status_code, data.decode(errors="replace")
        except (httpx2.TimeoutException, TimeoutError):
            raise self.unreachable(f"{path}: no answer within {seconds:g} seconds") from None
        except httpx2.InvalidURL as error:
            raise _no_url(self.url) from error
        except httpx2.HTTPError as error:
            raise self.unreachable(str(error) or type(error).__name__) from error


def _served(found: Any) -> Served:
    """The one model that is no adapter, of a list. Raises: ValueError, LookupError, TypeError, AttributeError."""
    (own,) = [model for model in found["data"] if model.get("parent") is None]
    return Served(_text(own["id"]), _text(own["root"]), _count(own["max_model_len"]))


def _count(found: Any) -> int:
    """Raises: ValueError where it is no whole number above 0."""
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        raise ValueError("no whole number above 0")
    return found


def _text(found: Any) -> str:
    """Raises: ValueError where it is no text."""
    if not isinstance(found, str):
        raise ValueError("no text")
    return found


def _is_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port  # reading it is what checks it
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)


def _no_url(url: str) -> TrainingError:
    return TrainingError(f"rollout.server.url: {url!r} is not the URL of a server; one is http://127.0.0.1:8000")
