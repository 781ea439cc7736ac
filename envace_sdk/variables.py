"""The environment variables that commands read: what must not be written into command lines, settings or logs."""

from __future__ import annotations

from typing import Final

__all__ = ["AUTH_TOKEN", "CONTROL_TOKEN", "STORE_URL"]

AUTH_TOKEN: Final = "ENVACE_AUTH_TOKEN"  # noqa: S105  the name of a variable
CONTROL_TOKEN: Final = "ENVACE_CONTROL_TOKEN"  # noqa: S105
STORE_URL: Final = "ENVACE_STORE_URL"
