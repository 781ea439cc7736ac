"""Rollouts through a vLLM server that is kept at the weights under training."""

from .command import ServeCommand, serve_command
from .link import Link
from .started import rollout_server

__all__ = ["Link", "ServeCommand", "rollout_server", "serve_command"]
