"""Taking secrets out of what is recorded, or goes into the ledger, before it is hashed or written.

By the name of a field, and by the shape of a value: both also within JSON that stands in a text. What a redactor takes
out of an answer it also takes out of a request, and again out of the request that is looked up later, so that a call
with another secret in the same place is still the call that was recorded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from envace_sdk.errors import FixtureError
from envace_sdk.json import Json

__all__ = ["REDACTED", "Redact", "SecretRedactor", "erased", "no_redaction"]

REDACTED: Final = "[redacted]"
_DONE: Final = re.compile(r"\[redacted(?::[0-9a-f]{16})?\]")

_SECRET: Final = re.compile(
    r"(?:password|passwd|passphrase|passcode|secret|secretkey|signingkey|apikey|accesskey|accesskeyid|privatekey"
    r"|authorization|cookie|credential|credentials|bearer|token|jwt|connectionstring)$"
)
_HARMLESS: Final = re.compile(
    r"(?:page|next|sync|continuation|continue|pagination|progress|start|cursor|resume|change)token$"
)
_SHAPES: Final = (
    r"\bsk-(?:ant-|proj-|live-|test-)?[A-Za-z0-9_-]{20,}",
    r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}",
    r"\bgh[pousr]_[A-Za-z0-9]{30,}",
    r"\bgithub_pat_[A-Za-z0-9_]{30,}",
    r"\bglpat-[A-Za-z0-9_-]{20,}",
    r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
    r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    r"\bAIza[A-Za-z0-9_-]{35}",
    r"\bya29\.[A-Za-z0-9_-]{20,}",
    r"\bnpm_[A-Za-z0-9]{36}\b",
    r"\bpypi-[A-Za-z0-9_-]{40,}",
    r"\bhf_[A-Za-z0-9]{30,}",
    r"\beyJ[A-Za-z0-9_-]{8,1000}\.eyJ[A-Za-z0-9_-]{8,16000}\.[A-Za-z0-9_-]*",
    r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----[\s\S]*?(?:-----END (?:[A-Z]+ )*PRIVATE KEY-----|\Z)",
    r"(?<=[Bb]earer )[A-Za-z0-9._~+/=-]{8,}",
    r"(?<=://)[^\s/:@\"']{1,100}:[^\s/@\"']{1,200}(?=@)",
)
_IN_TEXT: Final = re.compile(r'("([A-Za-z0-9_.\- ]{1,60})"\s*:\s*")((?:[^"\\]|\\.)+)(?=")')
_IN_ESCAPED_TEXT: Final = re.compile(r'((?<!\\)\\++"([A-Za-z0-9_.\- ]{1,60})\\++"\s*:\s*\\++")([^"\\]+)')
_MARKS: Final = (
    *("sk-", "k_live_", "k_test_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox"),
    *("AKIA", "ASIA", "AIza", "ya29.", "npm_", "pypi-", "hf_", "eyJ", "PRIVATE KEY", "earer ", "://"),
)
"""One of them is in whatever has one of the shapes. Looking for them costs next to nothing."""
_MOST_NAMES: Final = 10_000
_DEEPEST: Final = 200
_SHORTEST: Final = 8
"""No text with fewer characters has one of the shapes."""


class Redact(Protocol):
    """Anything that can take secrets out of a JSON value."""

    def __call__(self, value: Json) -> Json:
        """The value without secrets; the one given is not changed."""
        ...


def erased(_secret: str) -> str:
    """The same text for every secret."""
    return REDACTED


def no_redaction(value: Json) -> Json:
    """Keep everything."""
    return value


class SecretRedactor:
    """Takes out values of fields that are named like secrets, and texts that look like tokens.

    Args:
        keys: further names of fields, compared without case, `_`, `-` and `.`.
        patterns: further regular expressions; what they match is taken out.
        replace: what stands in a secret's place.
        whole: also take out whatever else than text is in a field named like a secret: numbers, lists, objects.
            A recording leaves them, since its answers must stay valid against their schemas.

    Raises:
        FixtureError: a pattern is not a regular expression.
    """

    def __init__(
        self,
        keys: Sequence[str] = (),
        patterns: Sequence[str] = (),
        *,
        replace: Callable[[str], str] = erased,
        whole: bool = False,
    ) -> None:
        self._replace = replace
        self._whole = whole
        self.keys = tuple(keys)
        self.patterns = tuple(patterns)
        self._names = frozenset(map(_normalised, keys))
        self._known: dict[str, bool] = {}
        try:
            self._own = [re.compile(pattern) for pattern in patterns]
            self._shapes = re.compile("|".join(_SHAPES))
        except re.error as error:
            raise FixtureError(f"a pattern to redact is no regular expression: {error}") from error

    def __call__(self, value: Json) -> Json:
        """The value without secrets; parts that hold none are shared with the one given."""
        return self._value(value, depth=0)

    def is_secret_name(self, name: str) -> bool:
        """Whether a field of that name holds a secret."""
        known = self._known.get(name)
        if known is None:
            plain = _normalised(name)
            known = plain in self._names or (_SECRET.search(plain) is not None and _HARMLESS.search(plain) is None)
            if len(self._known) < _MOST_NAMES:
                self._known[name] = known
        return known

    def _value(self, value: Json, depth: int) -> Json:
        if depth > _DEEPEST:
            return REDACTED
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, dict):
            # No helper in between: each level takes as little of the stack as it can.
            members = {}
            for name, member in value.items():
                members[name] = self._member(name, member, depth)
            return members if any(members[name] is not member for name, member in value.items()) else value
        if isinstance(value, list):
            changed = [self._value(item, depth + 1) for item in value]
            return changed if any(new is not old for new, old in zip(changed, value, strict=True)) else value
        return value

    def _member(self, name: str, value: Json, depth: int) -> Json:
        if isinstance(value, str) and value and self.is_secret_name(name):
            return self._replaced(value)
        if self._whole and value not in (None, "") and not isinstance(value, bool) and self.is_secret_name(name):
            return self._replaced(_written(value))
        return self._value(value, depth + 1)

    def _replaced(self, secret: str) -> str:
        # What was redacted before stays, so that redacting twice is redacting once.
        return secret if _DONE.fullmatch(secret) else self._replace(secret)

    def _match(self, match: re.Match[str]) -> str:
        return self._replaced(match[0])

    def _text(self, text: str) -> Json:
        before = text
        if len(text) >= _SHORTEST:
            if any(mark in text for mark in _MARKS):
                text = self._shapes.sub(self._match, text)
            if '":' in text or '" :' in text:
                text = _IN_ESCAPED_TEXT.sub(self._pair, _IN_TEXT.sub(self._pair, text))
        for pattern in self._own:
            text = pattern.sub(self._match, text)
        return before if text == before else text

    def _pair(self, match: re.Match[str]) -> str:
        before, name, secret = match.groups()
        return before + self._replaced(secret) if self.is_secret_name(name) else match.group()


def _written(value: Json) -> str:
    try:
        return json.dumps(value, sort_keys=True, default=str)
    except (RecursionError, TypeError, ValueError):
        return ""


def _normalised(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
