"""YAML that strangers wrote, read as data: whatever is wrong with it is one kind of error."""

from __future__ import annotations

from typing import Any

import yaml

__all__ = ["SafeLoader", "YAMLError", "load_yaml"]

YAMLError = yaml.YAMLError

SafeLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's, where PyYAML was built with it: ten times as fast."""


def load_yaml(text: str, loader: Any = SafeLoader) -> Any:
    """The one document of a YAML text; `loader` must be a safe one.

    Raises:
        YAMLError: it is not YAML, or a value in it is not what it says it is ("2026-02-31"; `!!int nope`), or it is
            nested too deeply.
    """
    try:
        return yaml.load(text, Loader=loader)  # noqa: S506  it is a safe one
    except yaml.YAMLError:
        raise
    except RecursionError:
        raise yaml.YAMLError("nested too deeply") from None
    except (ValueError, LookupError, AttributeError, TypeError, ArithmeticError) as error:
        # PyYAML makes a value of a scalar as its tag or its looks say, and lets what goes wrong there escape as it is.
        raise yaml.YAMLError(f"a value is not what it says it is: {error!r:.200}") from error
