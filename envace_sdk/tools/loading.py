"""From a word that says where tools are, to the entries of a toolset."""

from __future__ import annotations

import http.client
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, urlsplit

from envace_sdk.errors import FixtureError, ToolsetError, UpstreamError
from envace_sdk.json import Json
from envace_sdk.recordings import is_recording, read_recording

from . import documents, exact
from .client_files import choose_server, read_servers
from .finding import Finding, warning
from .folders import CATALOGUES, toolsets_in
from .formats import Entry, format_of, is_client_config, is_openapi, read_entry, tool_list
from .shipped import shipped
from .upstream import Catalogue, Target, pull_now

__all__ = ["Access", "Loaded", "is_url", "load", "read_catalogue", "read_config", "read_document", "url_parts"]

_SUFFIXES: Final = (".json", ".yaml", ".yml")
_BESIDE: Final = frozenset({"dynamics.yaml", "package.json", "world.json"})
_TOLD: Final = 10
"""Toolsets of a folder that a message names."""
_NONE: Final = "none, so this is the bare source folder: install the clone with `pip install -e .`"
_DULL: Final = frozenset({"index", "mcp", "openapi", "tools"})
_FETCH_TIMEOUT: Final = 30.0


@dataclass(frozen=True, slots=True)
class Access:
    """What a caller gives along to reach a live server."""

    headers: Mapping[str, str]
    env: Mapping[str, str]
    token: str | None = None

    def extend(self, target: Target) -> Target:
        """The target with these headers, environment and token; they win over its own."""
        return replace(
            target,
            headers={**target.headers, **self.headers},
            env={**target.env, **self.env},
            token=self.token or target.token,
        )


@dataclass(frozen=True, slots=True)
class Loaded:
    """What was read, ready to become a toolset."""

    name: str
    entries: tuple[Entry, ...]
    folder: Path | None = None
    raw: bytes | None = None
    findings: tuple[Finding, ...] = ()
    recording: Path | None = None
    """The recording that the catalogue was taken from."""


def load(source: str | Path, access: Access) -> Loaded:
    """Read `source`, as `Toolset.load` says.

    Raises:
        ToolsetError: nothing can be read there.
        UpstreamError: a live server cannot be reached, or refuses.
    """
    text = str(source)
    if text == "-":
        return _from_text(sys.stdin.buffer.read(documents.MAX_BYTES + 1), "standard input", "stdin", access)
    if is_url(text):
        return _from_url(text, access)
    path = Path(source).expanduser()
    if _exists(path):
        return _from_path(path, access, None)
    if "#" in text:
        before, _, server = text.rpartition("#")
        if _exists(config := Path(before).expanduser()):
            return _from_path(config, access, server)
    known = shipped()
    if (folder := known.get(text)) is not None:
        return _from_path(folder, access, None)
    close = get_close_matches(text, known, n=1)
    meant = f"; did you mean {close[0]}?" if close else ""
    raise ToolsetError(f"{text}: no such file, folder or shipped toolset{meant} (shipped: {', '.join(known) or _NONE})")


def is_url(source: str) -> bool:
    """Whether a source is an http or https URL."""
    return source.lower().startswith(("http://", "https://"))


def read_document(document: Json, where: str, name: str) -> Loaded:
    """The tools in the parsed content of a file.

    Raises:
        ToolsetError: it holds none that are known.
    """
    if is_openapi(document):
        from .openapi import read_openapi

        entries, found = read_openapi(document, where)
        return Loaded(name, tuple(entries), findings=found)
    listed, keys = tool_list(document, where)
    holder = document
    for key in keys[:-1]:
        holder = holder[key]
    findings = _partial() if isinstance(holder, dict) and holder.get("nextCursor") else ()
    return Loaded(name, tuple(map(read_entry, listed)), findings=findings)


def read_catalogue(catalogue: Catalogue, name: str) -> Loaded:
    """What a live server listed."""
    entries = tuple(map(Entry, catalogue.definitions))
    return Loaded(name, entries, raw=exact.join(catalogue.texts).encode(), findings=catalogue.findings)


def read_config(file: Path, server: str | None) -> tuple[str, Target]:
    """A server of a client's configuration, and where it is.

    Raises:
        ToolsetError: the file cannot be read, is no configuration, or has no such server.
    """
    where = str(file)
    document = _parse(documents.decode(_read(file), where), where)
    return choose_server(read_servers(document, where), server, where, file)


def _partial() -> tuple[Finding, ...]:
    found = warning(
        (),
        "partial",
        "the list ends with a nextCursor: this is not the last page",
        "pull the catalogue instead: envace-sdk tools pull",
    )
    return (replace(found, tool="*"),)


def _from_path(path: Path, access: Access, server: str | None) -> Loaded:
    folder = path if path.is_dir() else None
    file = _in_folder(path) if folder else path
    name = folder.resolve().name if folder else _stem(file)
    if server is None and is_recording(file):
        return _from_recording(file, name)
    loaded = _from_text(_read(file), str(file), name, access, server, file)
    return replace(loaded, folder=folder)


def _from_recording(file: Path, name: str) -> Loaded:
    """The catalogue as the latest recorded session saw it. Without tools, a server may still have resources."""
    try:
        recording = read_recording(file)
    except FixtureError as error:
        raise ToolsetError(str(error)) from error
    tools = recording.listing("tools/list", "tools")
    called = {str(e.params.get("name")) for e in recording.exchanges if e.method == "tools/call"}
    if tools is None and called:
        raise ToolsetError(
            f"{file}: calls are recorded but no catalogue: record a session in which the client lists the tools, or "
            "give the catalogue as --tools and this file as --fixtures"
        )
    return Loaded(name, tuple(map(Entry, tools or ())), recording=file)


def _read(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(documents.MAX_BYTES + 1)
    except OSError as error:
        raise ToolsetError(f"{file}: cannot be read: {error.strerror or error}") from error


def _in_folder(folder: Path) -> Path:
    for name in CATALOGUES:
        if (folder / name).is_file():
            return folder / name
    try:
        others = [file for file in sorted(folder.iterdir()) if file.suffix in _SUFFIXES and file.name not in _BESIDE]
    except OSError as error:
        raise ToolsetError(f"{folder}: cannot be read: {error.strerror or error}") from error
    if len(others) == 1:
        return others[0]
    if not others and (inside := toolsets_in(folder)):
        names = ", ".join(each.name for each in inside[:_TOLD]) + (" …" if len(inside) > _TOLD else "")
        raise ToolsetError(
            f"{folder}: a folder of {len(inside)} toolsets ({names}), where one is wanted: name one of them, such as "
            f"{inside[0]}; `envace-sdk serve --http` takes several --tools"
        )
    found = f"{len(others)} files that might be it" if others else "nothing like it"
    raise ToolsetError(f"{folder}: expected a tools.json, found {found}")


def _stem(file: Path) -> str:
    parent = file.resolve().parent.name
    return parent if file.stem in _DULL and parent else file.stem


def _from_text(
    data: bytes, where: str, name: str, access: Access, server: str | None = None, file: Path | None = None
) -> Loaded:
    text = documents.decode(data, where)
    document = _parse(text, where)
    if is_client_config(document):
        chosen, target = choose_server(read_servers(document, where), server, where, file)
        return read_catalogue(pull_now(access.extend(target)), chosen)
    if server is not None:
        raise ToolsetError(f"{where}#{server}: only a client's configuration (mcpServers, servers) has named servers")
    loaded = read_document(document, where, name)
    return replace(loaded, raw=_raw(text, document, loaded))


def _parse(text: str, where: str) -> Json:
    try:
        return documents.parse(text, where)
    except ToolsetError as error:
        # Editors keep their configuration in JSON with comments; a catalogue with comments is refused.
        try:
            document = documents.parse_json(documents.without_comments(text), where)
        except ToolsetError:
            raise error from None
        if not is_client_config(document):
            raise
        return document


def _raw(text: str, document: Json, loaded: Loaded) -> bytes | None:
    if is_openapi(document) or not text.lstrip().startswith(("{", "[")):
        return None
    listed, keys = tool_list(document, loaded.name)
    if any(format_of(tool) not in ("mcp", None) for tool in listed):
        return None
    array = exact.find_array(text, *keys)
    if array is None:
        return None
    return (array if exact.is_one_line(array) else exact.join(exact.element_texts(array))).encode()


def _from_url(url: str, access: Access) -> Loaded:
    parts = url_parts(url)
    if parts.path.endswith(_SUFFIXES):
        where = f"{parts.scheme}://{parts.hostname}{parts.path}"
        return _from_text(_fetch(url, where, access), where, _stem(Path(parts.path)), access)
    target = access.extend(Target(url=url))
    return read_catalogue(pull_now(target), parts.hostname or "server")


def url_parts(url: str) -> SplitResult:
    """The parts of a URL. Raises: ToolsetError where it is none."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018  read only now
    except ValueError as error:
        raise ToolsetError(f"{url.partition('?')[0]}: not a URL: {error}") from None
    return parts


def _fetch(url: str, where: str, access: Access) -> bytes:
    headers = {**({"Authorization": f"Bearer {access.token}"} if access.token else {}), **access.headers}
    try:
        request = urllib.request.Request(url)  # noqa: S310  `is_url` let only http and https through
        for name, value in headers.items():
            # Not sent on to wherever a redirect leads.
            request.add_unredirected_header(name, value)
        with urllib.request.urlopen(request, timeout=_FETCH_TIMEOUT) as response:  # noqa: S310
            data: bytes = response.read(documents.MAX_BYTES + 1)
            return data
    except urllib.error.HTTPError as error:
        error.close()
        raise UpstreamError(f"{where}: HTTP {error.code} {error.reason}") from error
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise UpstreamError(f"{where}: cannot be fetched: {getattr(error, 'reason', None) or error}") from error


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        # Too long, or holding a NUL: no path of anything.
        return False
