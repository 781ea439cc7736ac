"""The answer to `tools/list`: the definitions as loaded, less what an era cannot carry."""

from __future__ import annotations

import copy
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mcp import MCPError
from mcp.types import INVALID_PARAMS

from envace_sdk.evidence.label import strip
from envace_sdk.json import Json
from envace_sdk.tools.eras import project
from envace_sdk.tools.exact import element_texts, one_line
from envace_sdk.tools.toolset import Toolset

from .eras import Era, refusal
from .exact import Splice

__all__ = ["Catalogue"]

logger = logging.getLogger(__name__)


class Catalogue:
    """The tools of one toolset, page by page.

    Clients that read only the first page are many: everything is on one page unless `page_size` says otherwise.
    With `exact` every definition is served, quarantined ones too, for whatever the client makes of them.
    """

    def __init__(self, toolset: Toolset, *, exact: bool = False, page_size: int | None = None) -> None:
        self._toolset = toolset
        self._exact = exact
        self._page_size = page_size
        self._shown: dict[Era, Sequence[Json]] = {}
        self._texts: list[bytes] | None = None
        self.splice: Splice | None = None
        """Set by a transport that writes frames through it; without one, definitions go out as Python values."""
        self._marks: dict[int, list[str]] = {}

    def page(self, era: Era, cursor: str | None) -> dict[str, Any]:
        """One page in wire form.

        Raises:
            MCPError: invalid params, for a cursor that was never given out.
        """
        definitions = self._definitions(era)
        size = self._page_size or max(len(definitions), 1)
        start = self._start(cursor, size, len(definitions))
        page: dict[str, Any] = {"tools": self._tools(definitions, start, size), **era.listing}
        if start + size < len(definitions):
            page["nextCursor"] = str(start + size)
        return page

    def _start(self, cursor: str | None, size: int, count: int) -> int:
        if cursor is None:
            return 0
        if cursor.isascii() and cursor.isdecimal() and len(cursor) < 10:
            start = int(cursor)
            if 0 < start < count and not start % size:
                return start
        raise MCPError(INVALID_PARAMS, f"Invalid cursor: {cursor[:100]!r}")

    def _tools(self, definitions: Sequence[Json], start: int, size: int) -> list[Any]:
        if self._exact and self.splice is not None:
            if start not in self._marks:
                self._marks[start] = self.splice.mark(self._exact_texts()[start : start + size])
            return self._marks[start]
        # Copied: a client in the same process gets these very objects.
        return [copy.deepcopy(definition) for definition in definitions[start : start + size]]

    def _definitions(self, era: Era) -> Sequence[Json]:
        if self._exact:
            return self._toolset.definitions
        if era not in self._shown:
            self._shown[era] = tuple(self._projected(era))
        return self._shown[era]

    def _projected(self, era: Era) -> Iterator[Mapping[str, Json]]:
        for tool in self._toolset:
            definition = _unlabelled(project(tool.definition, era.version))
            fault = refusal(definition, era)
            if fault is None:
                yield definition
            else:
                logger.warning("tool %r is not listed to clients of %s: %s", tool.name, era.version, fault)

    def _exact_texts(self) -> list[bytes]:
        if self._texts is None:
            raw = self._toolset.raw
            if raw is None:
                texts = [json.dumps(definition, ensure_ascii=False) for definition in self._toolset.definitions]
            else:
                texts = [one_line(text) for text in element_texts(raw.decode())]
            self._texts = [text.encode("utf-8", "backslashreplace") for text in texts]
        return self._texts


def _unlabelled(definition: Mapping[str, Json]) -> Mapping[str, Json]:
    """Without keys of ours, which nothing that comes from outside may carry."""
    meta = definition.get("_meta")
    if not isinstance(meta, Mapping) or len(kept := strip(meta)) == len(meta):
        return definition
    return {**definition, "_meta": kept}
