"""Why a live server could not be used, in one sentence that says what to do."""

from __future__ import annotations

from typing import Final

import httpx2
import mcp.types as types
from mcp import MCPError
from mcp.client.auth import OAuthFlowError, OAuthRegistrationError, OAuthTokenError

from envace_sdk.errors import UpstreamError
from envace_sdk.tools.finding import printable
from envace_sdk.tools.upstream import Target

__all__ = ["failure", "first_cause", "is_closed"]

_CLOSED: Final = "Connection closed"


def first_cause(error: BaseException) -> Exception | None:
    """The first real failure within a group of exceptions; None for a cancellation."""
    while isinstance(error, BaseExceptionGroup):
        inner = [first_cause(one) for one in error.exceptions]
        return next((one for one in inner if one is not None), None)
    return error if isinstance(error, Exception) else None


def is_closed(error: BaseException | None) -> bool:
    """Whether it says that the connection ended. Servers use the SDK's code for this for errors of their own."""
    return isinstance(error, MCPError) and error.code == types.CONNECTION_CLOSED and error.message == _CLOSED


def failure(target: Target, error: Exception | None, method: str, words: str, status: int | None) -> UpstreamError:
    """The error to raise.

    Args:
        target: the server.
        error: what was caught.
        method: the request that failed; "" for the handshake.
        words: what the transport knows: how a process ended, what it printed.
        status: the HTTP status of the last request, if it was a failure.
    """
    if isinstance(error, UpstreamError):
        return error
    said = printable(_said(error, method, target.timeout, status))
    return UpstreamError(f"{target}: {said}" + (f"; {words}" if words else ""))


def _said(error: Exception | None, method: str, timeout: float, status: int | None) -> str:
    if isinstance(error, OAuthFlowError | OAuthTokenError | OAuthRegistrationError):
        return f"OAuth failed: {error}"
    if status in (401, 403):
        denied = "it wants authorization" if status == 401 else "it denies access"
        return f"{denied} (HTTP {status}): give a token, a header or OAuth credentials that it accepts"
    if isinstance(error, httpx2.TimeoutException):
        return f"no answer within {timeout:g} s"
    if isinstance(error, httpx2.HTTPError | httpx2.InvalidURL):
        return f"cannot be reached: {error or type(error).__name__}"
    if isinstance(error, MCPError):
        return _refused(error, method, timeout, status)
    return f"{method or 'the handshake'} failed: {error or 'the connection ended'}"


def _refused(error: MCPError, method: str, timeout: float, status: int | None) -> str:
    if error.code == types.REQUEST_TIMEOUT and error.message.endswith("timed out"):
        return f"no answer to {method or 'the handshake'} within {timeout:g} s"
    if is_closed(error):
        return f"the connection ended during {method or 'the handshake'}"
    if status is not None:
        return f"{method or 'the handshake'} was answered with HTTP {status}: is this the address of an MCP server?"
    if not method:
        return f"does not speak MCP there: {error.message} ({error.code})"
    return f"{method} was refused: {error.message} ({error.code})"
