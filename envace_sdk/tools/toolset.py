"""A toolset: a named, ordered set of tools, the bad ones among them set aside with the reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

from envace_sdk.errors import UnknownToolError
from envace_sdk.json import Json

from .finding import Finding
from .formats import Entry
from .lint import catalogue_findings, has_error, lint_catalogue
from .model import Tool

if TYPE_CHECKING:
    from .loading import Loaded
    from .upstream import Catalogue

__all__ = ["Toolset"]


@dataclass(frozen=True, slots=True, eq=False)
class Toolset:
    """Tools that can be served, in the order of their source, and what was found about them.

    Definitions are kept verbatim: nothing is added, reordered or taken away. `Toolset.load` reads one from anywhere.
    """

    name: str
    tools: tuple[Tool, ...]
    findings: tuple[Finding, ...] = ()
    quarantined: tuple[Json, ...] = ()
    """The definitions that cannot be served; `findings` says why."""
    definitions: tuple[Json, ...] = ()
    """All definitions as loaded, in order, quarantined ones included."""
    folder: Path | None = None
    """The folder it was loaded from, where dynamics, recordings, tasks and start data may lie."""
    raw: bytes | None = None
    """The JSON array of all definitions in its source's own words: number and escape spellings, order and doubled
    keys are what they were. One line; None where the source was not a list of MCP tools in JSON."""
    recording: Path | None = None
    """The recording it was loaded from, if it was: what was observed is in the same file."""
    _by_name: Mapping[str, Tool] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_name", {tool.name: tool for tool in self.tools})

    def __getitem__(self, name: str) -> Tool:
        """The tool of that name.

        Raises:
            UnknownToolError: there is none.
        """
        try:
            return self._by_name[name]
        except KeyError:
            raise UnknownToolError(name) from None

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __iter__(self) -> Iterator[Tool]:
        return iter(self.tools)

    def __len__(self) -> int:
        return len(self.tools)

    @classmethod
    def load(
        cls,
        source: str | Path,
        *,
        name: str | None = None,
        headers: Mapping[str, str] | None = None,
        env: Mapping[str, str] | None = None,
        token: str | None = None,
    ) -> Self:
        """Read a toolset from wherever it is.

        `source` is a file, a folder with a `tools.json` in it, `-` for standard input, the URL of a live MCP server
        or of a `.json` or `.yaml` document, a server of a client's configuration as `mcp.json#name`, or the name of a
        toolset that comes with the package. A file holds MCP, OpenAI or Anthropic tools, an OpenAPI 3 description, or a
        recording with its catalogue.

        Args:
            source: where to read from; a path wins over a shipped name.
            name: the toolset's name; by default after its source.
            headers: sent to a URL.
            env: added to the environment of a command from `mcp.json`.
            token: a bearer token, sent to a URL.

        Raises:
            ToolsetError: nothing can be read there. One bad tool among good ones does not raise: see `findings`.
            UpstreamError: a live server cannot be reached, or refuses.
        """
        from .loading import Access, load

        return cls._from_loaded(load(source, Access(headers or {}, env or {}, token)), name)

    @classmethod
    def from_definitions(cls, definitions: Sequence[Json], *, name: str) -> Self:
        """A toolset of MCP tool definitions, as in the list of a `tools/list` result. Raises nothing."""
        return cls.from_entries([Entry(definition) for definition in definitions], name=name)

    @classmethod
    def from_document(cls, document: Json, *, name: str) -> Self:
        """A toolset from the parsed content of a file: MCP, OpenAI or Anthropic tools, or an OpenAPI description.

        Raises:
            ToolsetError: it is none of these.
        """
        from .loading import read_document

        return cls._from_loaded(read_document(document, name, name), name)

    @classmethod
    def from_catalogue(cls, catalogue: Catalogue, *, name: str) -> Self:
        """A toolset of what a live server listed, for code that holds the connection itself. Raises nothing."""
        from .loading import read_catalogue

        return cls._from_loaded(read_catalogue(catalogue, name), name)

    @classmethod
    def _from_loaded(cls, loaded: Loaded, name: str | None) -> Self:
        return cls.from_entries(
            loaded.entries,
            name=name or loaded.name,
            folder=loaded.folder,
            raw=loaded.raw,
            findings=loaded.findings,
            recording=loaded.recording,
        )

    @classmethod
    def from_entries(
        cls,
        entries: Sequence[Entry],
        *,
        name: str,
        folder: Path | None = None,
        raw: bytes | None = None,
        findings: Sequence[Finding] = (),
        recording: Path | None = None,
    ) -> Self:
        """A toolset of definitions that reading has already found something about; for loaders."""
        definitions = tuple(entry.definition for entry in entries)
        groups = lint_catalogue(definitions, [entry.findings for entry in entries])
        tools, quarantined = [], []
        for definition, group in zip(definitions, groups, strict=True):
            if has_error(group):
                quarantined.append(definition)
            else:
                tools.append(Tool(definition))
        found = [*findings, *(finding for group in groups for finding in group)]
        found.extend(catalogue_findings(tool.definition for tool in tools))
        return cls(name, tuple(tools), tuple(found), tuple(quarantined), definitions, folder, raw, recording)
