"""These tests need torch; without it they are not collected."""

import importlib.util

collect_ignore_glob = ["*"] if importlib.util.find_spec("torch") is None else []
