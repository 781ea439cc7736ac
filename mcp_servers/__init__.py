"""Rehearsed MCP servers."""
