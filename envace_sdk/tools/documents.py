"""Reading JSON and YAML that strangers wrote: bounded, strict where readers differ, and never more than data."""

from __future__ import annotations

import json
import re
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Final

import yaml

from envace_sdk.errors import ToolsetError
from envace_sdk.json import Json
from envace_sdk.yaml import SafeLoader, YAMLError, load_yaml

__all__ = ["MAX_BYTES", "decode", "parse", "parse_json", "parse_yaml", "without_comments"]

MAX_BYTES: Final = 64 * 1024 * 1024
"""The largest document that is read."""

_MAX_DEPTH: Final = 400
_SPARE_NODES: Final = 100_000
_GROWTH: Final = 20
"""How many values a byte of YAML may stand for: aliases are in use, and are the means to blow a small file up."""


def decode(data: bytes, where: str) -> str:
    """The text of a UTF-8 document, less a byte-order mark.

    Raises:
        ToolsetError: it is too large, or not UTF-8.
    """
    if len(data) > MAX_BYTES:
        raise ToolsetError(f"{where}: more than {MAX_BYTES // 2**20} MiB, which no catalogue needs")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ToolsetError(f"{where}: not UTF-8 text: {error}") from error


def parse(text: str, where: str) -> Json:
    """A document that is JSON, or else YAML.

    Raises:
        ToolsetError: it is neither, or too deep or too large; the message names the place.
    """
    if not text.strip():
        raise ToolsetError(f"{where}: empty")
    if where.endswith((".yaml", ".yml")):
        return parse_yaml(text, where)
    try:
        return parse_json(text, where)
    except ToolsetError as not_json:
        # Text that sets out to be JSON gets JSON's own message: YAML's would mislead.
        if where.endswith(".json") or text.lstrip()[0] in '{["':
            raise
        try:
            return parse_yaml(text, where)
        except ToolsetError:
            raise not_json from None


def parse_json(text: str, where: str) -> Json:
    """A JSON document; NaN and infinities, which JSON does not know, are refused.

    Raises:
        ToolsetError: it is not JSON, or nested too deeply.
    """
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError as error:
        raise ToolsetError(f"{where}: nested too deeply") from error
    except ValueError as error:
        raise ToolsetError(f"{where}: not JSON: {error}") from error


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is no JSON number")


def parse_yaml(text: str, where: str) -> Json:
    """A YAML document as JSON values, read by YAML 1.2's rules: `no` is text, and so is `2026-01-01`.

    Raises:
        ToolsetError: it is not YAML, not JSON-like, or its aliases make it too deep or too large.
    """
    try:
        loaded = load_yaml(text, _Loader)
    except YAMLError as error:
        raise ToolsetError(f"{where}: not YAML: {error}") from error
    return _Plain(where, _SPARE_NODES + _GROWTH * len(text)).copy(loaded, 0)


if TYPE_CHECKING:
    from yaml import SafeLoader as _SafeLoader
else:
    _SafeLoader = SafeLoader


class _Loader(_SafeLoader):
    """YAML 1.2's core types only."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012  PyYAML's own name

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        # Keys are names whatever they look like: `200:` among responses is "200".
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                key.tag = "tag:yaml.org,2002:str"
        return super().construct_mapping(node, deep=deep)


for _tag, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?[0-9]+", list("-+0123456789")),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", list("-+.0123456789")),
    ("merge", r"<<", ["<"]),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"^(?:{_pattern})$"), _first)
_Loader.add_constructor("tag:yaml.org,2002:int", lambda _, node: int(node.value))
_Loader.add_constructor("tag:yaml.org,2002:float", lambda _, node: float(node.value))


class _Plain:
    """A copy without aliases: what looks like a tree becomes one, or is refused."""

    def __init__(self, where: str, most: int) -> None:
        self._where = where
        self._left = most

    def copy(self, value: Any, depth: int) -> Json:
        self._left -= 1
        if depth > _MAX_DEPTH or self._left < 0:
            raise ToolsetError(f"{self._where}: its aliases make it too deep or too large")
        if isinstance(value, dict):
            return {self._key(key): self.copy(child, depth + 1) for key, child in value.items()}
        if isinstance(value, list):
            return [self.copy(child, depth + 1) for child in value]
        if value is None or isinstance(value, bool | int | float | str):
            return value
        raise ToolsetError(f"{self._where}: {type(value).__name__} is not a JSON type")

    def _key(self, key: Any) -> str:
        if not isinstance(key, str):
            raise ToolsetError(f"{self._where}: the key {key!r} is not text")
        return key


# Texts and comments that never end are taken to the end of the file, once: else each quote in it would be tried anew.
_COMMENT: Final = re.compile(r'("(?:[^"\\]|\\.)*+"?)|//[^\n]*|/\*.*?\*/|(/\*.*)', re.DOTALL)
_TRAILING: Final = re.compile(r'("(?:[^"\\]|\\.)*+"?)|,(?=\s*[}\]])', re.DOTALL)


def without_comments(text: str) -> str:
    """JSON from JSON with comments and trailing commas, as editors keep their settings."""
    text = _COMMENT.sub(lambda found: found[1] or found[2] or "", text)
    return _TRAILING.sub(lambda found: found[1] or "", text)
