"""Holding a text to a JSON Schema while it is decoded, with llguidance."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from envace_sdk.errors import ModelError
from envace_sdk.json import Json
from envace_sdk.jsonschema import dialect
from envace_sdk.jsonschema.dialect import subschemas

__all__ = ["Constraints", "SchemaMatcher"]

_WRITTEN: Final = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": ", "lenient": True}
"""JSON as `json.dumps` writes it: models need no freedom in white space. Lenient: keywords that no grammar can express
(such as uniqueItems) are passed over."""
_KNOWN: Final = 64
_LENGTHS: Final = frozenset({"minLength", "maxLength"})
_SPARED: Final = (frozenset[str](), _LENGTHS, _LENGTHS | {"pattern", "format"})
"""What is left out if it must be: lengths beside a pattern are what grammars trip over most."""


class SchemaMatcher:
    """Which tokens keep the text within a schema; one for each completion."""

    def __init__(self, matcher: Any) -> None:
        self._matcher = matcher

    def allowed(self) -> bytes:
        """One byte for each token: 0 where it may not come. Raises: ModelError if the grammar has become too large."""
        bias: bytes = self._matcher.compute_logit_bias()
        self._check()
        return bias

    def take(self, token: int) -> bool:
        """Note the token that came; True when nothing may come after it."""
        self._matcher.consume_token(token)
        self._check()
        return bool(self._matcher.is_stopped())

    def _check(self) -> None:
        if self._matcher.is_error():
            raise ModelError(f"the schema cannot be decoded under: {_first_line(self._matcher.get_error())}")


class Constraints:
    """The matchers of one tokenizer; each schema is compiled once.

    Args:
        tokenizer: a fast tokenizer of transformers.
        end_ids: tokens that end a completion.

    Raises:
        ModelError: llguidance is not installed, or cannot read the tokenizer.
    """

    def __init__(self, tokenizer: Any, end_ids: Sequence[int]) -> None:
        try:
            import llguidance
            import llguidance.hf
        except ImportError as error:
            raise ModelError("a schema needs llguidance; install it: pip install 'envace-sdk[train]'") from error
        try:
            self._tokenizer = llguidance.hf.from_tokenizer(tokenizer, eos_token=list(end_ids))
        except (ValueError, RuntimeError) as error:
            raise ModelError(f"the tokenizer cannot be held to a schema: {error}") from error
        self._library = llguidance.LLMatcher
        self._compiled: dict[str, Any] = {}

    def matcher(self, schema: Json, wrap: tuple[str, str] = ("", "")) -> SchemaMatcher:
        """A matcher at its start.

        What no grammar can express of a schema is left out of the constraint, least first: so a text that is held to it
        must still be validated.

        Args:
            schema: what the JSON must satisfy.
            wrap: texts that must stand before and after the JSON.

        Raises:
            ModelError: the schema cannot be compiled at all; the message says why.
        """
        key = json.dumps([schema, wrap])
        compiled: Any = self._compiled.get(key)
        if compiled is None:
            for without in _SPARED:
                compiled = self._compile(_grammar(_relaxed(schema, without), wrap))
                if not compiled.is_error():
                    break
            problem = _first_line(compiled.get_error())
            if problem:
                raise ModelError(f"the schema cannot be decoded under: {problem}")
            if len(self._compiled) >= _KNOWN:
                self._compiled.pop(next(iter(self._compiled)))
            self._compiled[key] = compiled
        return SchemaMatcher(compiled.deep_copy())

    def _compile(self, grammar: str) -> Any:
        return self._library(self._tokenizer, self._library.grammar_from_lark(grammar), log_level=0)


def _grammar(schema: Json, wrap: tuple[str, str]) -> str:
    if not isinstance(schema, dict) and schema is not True:
        raise ModelError(f"the schema cannot be decoded under: {schema!r} is no schema that anything satisfies")
    root = schema if isinstance(schema, dict) else {}
    body = json.dumps({**root, "x-guidance": _WRITTEN})
    before, after = (f"{json.dumps(text)} " if text else "" for text in wrap)
    return f"start: {before}body {after}\nbody: %json {body}\n"


def _relaxed(schema: Json, without: frozenset[str]) -> Json:
    """The schema less some keywords; lengths go only where a pattern stands beside them."""
    if not isinstance(schema, dict) or not without:
        return schema
    gone = without if "pattern" in schema else without - _LENGTHS
    out = {keyword: value for keyword, value in schema.items() if keyword not in gone}
    for (keyword, *at), inner in subschemas(schema, dialect(schema)):
        if not at:
            out[str(keyword)] = _relaxed(inner, without)
            continue
        if out[str(keyword)] is schema[keyword]:
            out[str(keyword)] = schema[keyword].copy()
        out[str(keyword)][at[0]] = _relaxed(inner, without)
    return out


def _first_line(text: str) -> str:
    return text.partition("\n")[0][:300]
