"""Tools and toolsets: reading catalogues, setting bad tools aside, and what each protocol era can carry."""

from __future__ import annotations

from .eras import ERAS, project
from .export import export
from .finding import Finding
from .fixture import Fixture
from .lint import lint
from .model import Tool, ToolCall, ToolResult
from .recordings import load_fixtures
from .shipped import shipped
from .toolset import Toolset
from .upstream import Catalogue, OAuth, Target, Upstream, connect, pull

__all__ = [
    "ERAS",
    "Catalogue",
    "Finding",
    "Fixture",
    "OAuth",
    "Target",
    "Tool",
    "ToolCall",
    "ToolResult",
    "Toolset",
    "Upstream",
    "connect",
    "export",
    "lint",
    "load_fixtures",
    "project",
    "pull",
    "shipped",
]
