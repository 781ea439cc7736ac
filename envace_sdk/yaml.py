"""YAML that strangers wrote, read as data: whatever is wrong with it is one kind of error."""

from __future__ import annotations

from typing import Any

import yaml

__all__ = ["SafeLoader", "YAMLError", "load_yaml"]

YAMLError = yaml.YAMLError

_Fastest: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's, where PyYAML was built with it: ten times as fast."""


class SafeLoader(_Fastest):  # type: ignore[misc]
    """Refuses a key that stands twice in one mapping, of which YAML readers silently keep the last."""

    def __init__(self, stream: Any) -> None:
        super().__init__(stream)
        self._looked_at: set[int] = set()

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """PyYAML's way to take in what `<<` merges; what stood there itself is known only before."""
        if id(node) not in self._looked_at:
            self._looked_at.add(id(node))
            seen: set[tuple[str, str]] = set()
            for key, _ in node.value:
                if not isinstance(key, yaml.ScalarNode):
                    continue
                if (key.tag, key.value) in seen:
                    where = f"line {key.start_mark.line + 1}, column {key.start_mark.column + 1}"
                    raise yaml.YAMLError(f"{str(key.value)[:100]!r} stands twice in one mapping, {where}")
                seen.add((key.tag, key.value))
        super().flatten_mapping(node)


def load_yaml(text: str, loader: Any = SafeLoader) -> Any:
    """The one document of a YAML text; `loader` must be a safe one.

    Raises:
        YAMLError: it is not YAML, or has a key twice, or a value in it is not what it says it is ("2026-02-31";
            `!!int nope`), or it is nested too deeply.
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
