"""Rehearsed MCP servers: a toolset served so that any MCP client can be pointed at it.

`server` answers the protocol, `stdio` and `http` carry it, `control` stands beside it.
Nothing here is imported by the core; the command line finds these modules by their names.
"""
