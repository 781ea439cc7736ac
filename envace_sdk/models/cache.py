"""Where fetched models are kept."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import platformdirs

__all__ = ["CACHE", "cache_folder"]

CACHE: Final = "ENVACE_CACHE"
"""The environment variable that names another folder."""


def cache_folder() -> Path:
    """The folder for what can be fetched or computed again; it need not exist yet."""
    named = os.environ.get(CACHE)
    return Path(named).expanduser() if named else platformdirs.user_cache_path("envace-sdk", appauthor=False)
