"""These tests need torch; those of the plugin need verl too, which has an environment of its own (`make test-verl`)."""

import importlib.util


def _is_missing(package):
    return importlib.util.find_spec(package) is None


collect_ignore_glob = ["*"] if _is_missing("torch") else ["test_verl_plugin.py"] if _is_missing("verl") else []
